//! Rules on the tokens alone: names of secrets, and forms that the tree does not show as they are written.

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use super::literals::BY_KEY;
use crate::guard::lexer::{Token, TokenKind};
use crate::problem::echo;

/// Refuses names of secrets: in declared columns, then in the statement.
pub(super) fn secrets(claim: &Claim<'_>, tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for column in claim.columns.iter().filter(|column| is_secret(claim, column)) {
        faults.add(&diagnoses::SECRET_COLUMN, None, &[&echo(column)]);
    }
    for token in tokens.iter().filter(|token| token.is_name()) {
        let reported = claim.columns.contains(&token.name) && is_secret(claim, &token.name);
        // As PostgreSQL folds it, and as it is written: changes of case divide words.
        let written = token.kind == TokenKind::Word && claim.words.is_sensitive(&token.text);
        if !reported && !waived(claim, &token.name) && (written || claim.words.is_sensitive(&token.name)) {
            faults.add(&diagnoses::SECRET_NAME, Some(token.at), &[&echo(&token.name)]);
        }
    }
}

/// Returns whether a name is a secret's and not waived.
pub(super) fn is_secret(claim: &Claim<'_>, name: &str) -> bool {
    claim.words.is_sensitive(name) && !waived(claim, name)
}

fn waived(claim: &Claim<'_>, name: &str) -> bool {
    claim.waived.get(name).is_some_and(|reason| !reason.trim().is_empty())
}

/// `ANY`, `ALL` and `SOME`.
pub(super) fn is_quantifier(token: &Token<'_>) -> bool {
    ["any", "all", "some"].iter().any(|word| token.is_word(word))
}

/// Refuses forms that the parser is shown as others.
pub(super) fn forms(tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for (index, token) in tokens.iter().enumerate() {
        let behind = tokens.get(index + 1..).unwrap_or_default();
        let is_operator = token.kind == TokenKind::Operator;
        let is_qualified =
            index.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| t.is_mark("."));
        let diagnosis = match behind {
            _ if is_operator && token.text == "*" && is_qualified => diagnoses::WILDCARD,
            [open, operator @ ..]
                if token.is_word("operator") && open.is_mark("(") && !is_plain(operator) =>
            {
                diagnoses::OPERATOR_HIDDEN
            }
            [quantifier, open, ..]
                if is_operator
                    && is_quantifier(quantifier)
                    && open.is_mark("(")
                    && BY_KEY.contains(&token.text.as_ref()) =>
            {
                diagnoses::MEMBER_UNWRITTEN
            }
            [from, open, ..]
                if token.is_word("rows") && from.is_word("from") && open.is_mark("(") && !is_qualified =>
            {
                diagnoses::ROWS_FROM
            }
            _ => continue,
        };
        faults.add(&diagnosis, Some(token.at), &[]);
    }
}

/// `pg_catalog.=)`, which the tree shows as the operator; before `ANY (…)` it shows any operator as `=`, so that it has to be one
/// that compares.
fn is_plain(tokens: &[Token<'_>]) -> bool {
    let [schema, dot, operator, close, behind @ ..] = tokens else { return false };
    let compares = ["=", "<>", "!=", "<", "<=", ">", ">="].contains(&operator.text.as_ref());
    schema.is_name()
        && schema.name == "pg_catalog"
        && dot.is_mark(".")
        && operator.kind == TokenKind::Operator
        && close.is_mark(")")
        && (compares || !behind.first().is_some_and(is_quantifier))
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, filter, proven, refused},
    };

    #[test]
    fn sensitive_column() {
        refused(
            Rule::SensitiveColumn,
            &[
                case("SELECT password_hash FROM people").columns("password_hash"),
                case("SELECT p.full_name AS otp FROM people p").columns("otp"),
                case("SELECT iban_code FROM people").columns("iban_code"),
                case("SELECT pass FROM people").columns("pass").waive("pass", " "),
            ],
        );
        proven(&[
            case("SELECT passenger_name FROM people").columns("passenger_name"),
            case("SELECT pass FROM people").columns("pass").waive("pass", "a mountain pass"),
        ]);
    }

    #[test]
    fn sensitive_identifier() {
        refused(
            Rule::SensitiveIdentifier,
            &[
                case("SELECT password_hash AS full_name FROM people"),
                case("SELECT \"Password\" AS full_name FROM people"),
                case("SELECT UserPass AS full_name FROM people"),
                case("SELECT upper(p.\"apiKey\") AS full_name FROM people p"),
                case("SELECT (p.auth).secret AS full_name FROM people p"),
                case("SELECT full_name FROM people AS tokens"),
                case("WITH hashes AS (SELECT full_name FROM people) SELECT full_name FROM hashes"),
                case("SELECT full_name FROM people JOIN sites USING (otp)").tables("people sites"),
                case("SELECT full_name FROM people ORDER BY salt LIMIT 9"),
                case("SELECT md5(hashtext(full_name)::text) AS full_name FROM people"),
                filter("mfa_secret IS NOT NULL"),
                case("SELECT full_name FROM people, jsonb_to_record(data) AS r(password text)"),
                filter("data ->> 'password' = 'x'"),
                filter("(data -> 'auth') -> ('token') IS NULL"),
                filter("data #>> '{auth,pass}' = 'x'"),
                filter("data #> ARRAY['auth', 'otp'] IS NULL"),
                filter("data['salt'] IS NULL"),
                filter("data ? 'password'"),
                filter("data @> '{\"password\": 1}'"),
                filter("data @? '$.auth.password'"),
                filter("jsonb_path_exists(data, '$.a ? (@.token == 1)')"),
                filter("jsonb_path_query_first(data, '$.\"api-key\"') IS NULL"),
                filter("jsonb_extract_path_text(data, 'a', 'secret') = 'x'"),
                case("SELECT full_name FROM people, jsonb_path_query(data, '$.password') AS x"),
                case("SELECT json_build_object('password', full_name) AS full_name FROM people"),
                filter("data -> E'\\x70assword' IS NULL"),
                filter("data -> 'pass'\n'word' IS NULL"),
                filter("data -> $$token$$ IS NULL"),
                // Which member is read is not written.
                filter("data ->> name = 'x'"),
                filter("data ->> ('a' || 'b') = 'x'"),
                filter("data ->> :key = 'x'").params("key"),
                filter("jsonb_extract_path_text(data, :key) = 'x'").params("key"),
                filter("data[(:key)] IS NULL").params("key"),
                filter("data @> CAST(:key AS jsonb)").params("key"),
                filter("data ? ANY (tags)"),
            ],
        );
        proven(&[
            case("SELECT password_hash AS full_name FROM people")
                .waive("password_hash", "a pattern in knitting"),
            case("SELECT UserPass AS full_name FROM people").waive("userpass", "the name of a shop"),
            filter("data ->> 'token' = 'x'").waive("token", "a token of appreciation"),
            filter("data ->> 'passenger' = 'x' AND data -> 0 IS NULL AND data #>> '{a,b}' = 'y'"),
            filter("data -> (n)::int IS NULL AND tags[1] = 'x' AND tags[n::int] = 'y'"),
            filter("data @> '{\"kind\": 1}' AND data ? 'kind' AND data @? '$.a[*]'"),
            filter("kind = 'password reset' AND full_name || 'token' <> 'x'"),
            filter("to_tsvector(full_name) @@ plainto_tsquery(:key)").params("key"),
            filter("tags @> ARRAY[:key]").params("key"),
        ]);
    }
}
