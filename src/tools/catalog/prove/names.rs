//! Rules on the tokens alone: names of secrets, and forms that the tree does not show as they are written.

use super::super::claim::Claim;
use super::super::rule::Rule;
use super::faults::Faults;
use super::literals::BY_KEY;
use crate::guard::lexer::{Token, TokenKind};
use crate::problem::echo;

/// Refuses names of secrets: in declared columns, then in the statement.
pub(super) fn secrets(claim: &Claim<'_>, tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for column in claim.columns {
        if is_secret(claim, column) {
            faults.add(
                Rule::SensitiveColumn,
                None,
                format!("The declared column {} says by its name that it holds a secret.", echo(column)),
                WAIVE,
            );
        }
    }
    for token in tokens.iter().filter(|token| token.is_name()) {
        let reported = claim.columns.contains(&token.name) && is_secret(claim, &token.name);
        // As PostgreSQL folds it, and as it is written: changes of case divide words.
        let written = token.kind == TokenKind::Word && claim.words.is_sensitive(&token.text);
        if !reported && !waived(claim, &token.name) && (written || claim.words.is_sensitive(&token.name)) {
            secret_name(&token.name, Some(token.at), faults);
        }
    }
}

const WAIVE: &str =
    "Leave it out; if it holds no secret, waive this name in the entry with a written reason.";

/// Returns whether a name is a secret's and not waived.
pub(super) fn is_secret(claim: &Claim<'_>, name: &str) -> bool {
    claim.words.is_sensitive(name) && !waived(claim, name)
}

fn waived(claim: &Claim<'_>, name: &str) -> bool {
    claim.waived.get(name).is_some_and(|reason| !reason.trim().is_empty())
}

pub(super) fn secret_name(name: &str, at: Option<usize>, faults: &mut Faults<'_>) {
    faults.add(
        Rule::SensitiveIdentifier,
        at,
        format!("The name {} says that it holds a secret.", echo(name)),
        WAIVE,
    );
}

/// `ANY`, `ALL` and `SOME`.
pub(super) fn is_quantifier(token: &Token<'_>) -> bool {
    ["any", "all", "some"].iter().any(|word| token.is_word(word))
}

/// Refuses forms that the parser is shown as others.
pub(super) fn forms(tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|i| tokens.get(i));
        let after = |by: usize| tokens.get(index + by);
        let qualified = before(1).is_some_and(|t| t.is_mark("."));
        if token.kind == TokenKind::Operator && token.text == "*" && qualified {
            faults.add(
                Rule::WildcardSelect,
                Some(token.at),
                "This * takes every column, also those that the table will have some day.",
                "List the columns.",
            );
        }
        if token.is_word("operator")
            && after(1).is_some_and(|t| t.is_mark("("))
            && !is_plain([2, 3, 4, 5, 6].map(after))
        {
            faults.add(
                Rule::ForbiddenConstruct,
                Some(token.at),
                "This OPERATOR(...) hides which operator is meant.",
                "Write the operator itself, or OPERATOR(pg_catalog.=) for PostgreSQL's own.",
            );
        }
        let quantified = after(1).is_some_and(is_quantifier) && after(2).is_some_and(|t| t.is_mark("("));
        if token.kind == TokenKind::Operator && quantified && BY_KEY.contains(&token.text.as_ref()) {
            faults.add(
                Rule::SensitiveIdentifier,
                Some(token.at),
                "Which members these are cannot be seen.",
                "Write one condition for each member.",
            );
        }
        let rows_from =
            after(1).is_some_and(|t| t.is_word("from")) && after(2).is_some_and(|t| t.is_mark("("));
        if token.is_word("rows") && rows_from && !qualified {
            faults.add(
                Rule::UnsupportedTableRef,
                Some(token.at),
                "The columns of ROWS FROM (...) cannot be verified.",
                "Read from one function at a time.",
            );
        }
    }
}

/// `pg_catalog.=)`, which the tree shows as the operator; before `ANY (…)` it shows any operator as `=`, so that it has to be one
/// that compares.
fn is_plain([schema, dot, operator, close, behind]: [Option<&Token<'_>>; 5]) -> bool {
    let compares =
        |operator: &Token<'_>| ["=", "<>", "!=", "<", "<=", ">", ">="].contains(&operator.text.as_ref());
    schema.is_some_and(|t| t.is_name() && t.name == "pg_catalog")
        && dot.is_some_and(|t| t.is_mark("."))
        && operator.is_some_and(|t| {
            t.kind == TokenKind::Operator && (compares(t) || !behind.is_some_and(is_quantifier))
        })
        && close.is_some_and(|t| t.is_mark(")"))
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
