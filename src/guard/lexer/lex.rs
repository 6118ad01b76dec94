//! The pass over a text, and its limits.

use super::cut::{Placeholders, next_token};
use super::placeholders::number;
use super::scanner::Scanner;
use super::token::Token;
use crate::guard::refusal::Refusal;

/// The longest text, in characters.
const MAX_CHARS: usize = 65_536;
/// The most tokens in a statement.
const MAX_TOKENS: usize = 32_768;

/// Cuts `source` into tokens, without comments and trailing semicolons.
pub(in crate::guard) fn lex(source: &str) -> Result<Vec<Token<'_>>, Refusal> {
    lex_as(source, Placeholders::Refused)
}

/// Cuts a catalog's statement, in which `:name` is a placeholder.
pub(in crate::guard) fn lex_with_placeholders(source: &str) -> Result<Vec<Token<'_>>, Refusal> {
    let mut tokens = lex_as(source, Placeholders::Named)?;
    number(&mut tokens)?;
    Ok(tokens)
}

fn lex_as(source: &str, placeholders: Placeholders) -> Result<Vec<Token<'_>>, Refusal> {
    let too_much = |at, excess: String| {
        Err(Refusal::invalid(at, format!("The query {excess}; ask for less in one statement.")))
    };
    if source.chars().nth(MAX_CHARS).is_some() {
        return too_much(0, format!("is longer than {MAX_CHARS} characters"));
    }
    let mut scanner = Scanner::new(source);
    let mut tokens = Vec::new();
    while let Some(token) = next_token(&mut scanner, placeholders)? {
        if tokens.len() >= MAX_TOKENS {
            return too_much(token.at, format!("has more than {MAX_TOKENS} tokens"));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::lexer::TokenKind;
    use crate::problem::Code;

    #[track_caller]
    fn check(sql: &str, expected: &[(TokenKind, &str)]) {
        let tokens = lex(sql).unwrap();
        let found: Vec<(TokenKind, &str)> =
            tokens.iter().map(|token| (token.kind, token.text.as_ref())).collect();
        assert_eq!(found, expected, "{sql}");
    }

    #[track_caller]
    fn check_refused(sql: &str, code: Code, at: usize, part: &str) {
        let refusal = lex(sql).unwrap_err();
        assert_eq!((refusal.code, refusal.at), (code, at), "{sql}: {}", refusal.detail);
        assert!(refusal.detail.contains(part), "{sql}: {}", refusal.detail);
    }

    #[test]
    fn operators_are_cut_where_postgresql_cuts_them() {
        use TokenKind::{Number, Operator, Punctuation, Word};
        check("a<-1", &[(Word, "a"), (Operator, "<"), (Operator, "-"), (Number, "1")]);
        check("a*-1", &[(Word, "a"), (Operator, "*"), (Operator, "-"), (Number, "1")]);
        check("a->-1", &[(Word, "a"), (Operator, "->"), (Operator, "-"), (Number, "1")]);
        check("a-|-b", &[(Word, "a"), (Operator, "-|-"), (Word, "b")]);
        check("a&&/* */b", &[(Word, "a"), (Operator, "&&"), (Word, "b")]);
        check("a ||--x\nb", &[(Word, "a"), (Operator, "||"), (Word, "b")]);
        check("a=>1", &[(Word, "a"), (Punctuation, "=>"), (Number, "1")]);
        check(
            "a::b:=c:d",
            &[
                (Word, "a"),
                (Punctuation, "::"),
                (Word, "b"),
                (Punctuation, ":="),
                (Word, "c"),
                (Punctuation, ":"),
                (Word, "d"),
            ],
        );
        check_refused("a ||- 1", Code::QueryViolation, 2, "'||-'");
        check_refused("a @- 1", Code::QueryViolation, 2, "'@-'");
        check_refused("a `b`", Code::QueryViolation, 2, "'`'");
        check_refused("a */ b", Code::QueryViolation, 2, "'*/'");
    }

    #[test]
    fn strings_end_where_postgresql_ends_them() {
        use TokenKind::{DollarString, PrefixedString, String, Word};
        check("'a''b'", &[(String, "'a''b'")]);
        check("'\\' 'x'", &[(String, "'\\'"), (String, "'x'")]);
        check("E'\\'' x", &[(PrefixedString, "E'\\''"), (Word, "x")]);
        check("e'a\\\\'", &[(PrefixedString, "e'a\\\\'")]);
        check("b'01'X'1F'", &[(PrefixedString, "b'01'"), (PrefixedString, "X'1F'")]);
        check("'a' -- b\n  'c'", &[(String, "'a'\n'c'")]);
        check("'a' /* b\n */ 'c'", &[(String, "'a'"), (String, "'c'")]);
        check("'a'\n-- b\n\n'c'\r'd'", &[(String, "'a'\n'c'\n'd'")]);
        check("$$a'$x$b$$", &[(DollarString, "$$a'$x$b$$")]);
        check("$x$a$$b$x$", &[(DollarString, "$x$a$$b$x$")]);
        check("a$x$b", &[(Word, "a$x$b")]);
        check_refused("'a", Code::Validation, 0, "never closed");
        check_refused("E'a\\'", Code::Validation, 1, "never closed");
        check_refused("$a$ b", Code::Validation, 0, "never closed");
        check_refused("'a\0'", Code::Validation, 2, "U+0000");
        check_refused("$$\0$$", Code::Validation, 2, "U+0000");
        check_refused("$1", Code::Validation, 0, "$1");
    }

    #[test]
    fn names_are_folded_unless_quoted() {
        let tokens = lex("Ab \"Ab\" \"a\"\"b\" ÄB a$1").unwrap();
        let names: Vec<&str> = tokens.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names, ["ab", "Ab", "a\"b", "Äb", "a$1"]);
        check_refused("\"\"", Code::Validation, 0, "empty");
        check_refused(&"a".repeat(64), Code::Validation, 0, "63 bytes");
        check_refused(&format!("\"{}\"", "é".repeat(32)), Code::Validation, 0, "63 bytes");
        check_refused("a\u{a0}b", Code::Validation, 0, "U+00A0");
        check_refused("pg_stat_actİvity", Code::Validation, 0, "U+0130");
    }

    #[test]
    fn unicode_literals_are_the_plain_ones_they_stand_for() {
        use TokenKind::{Number, Operator, QuotedName, String, Word};
        check(r"U&'d\0061t\+000061'", &[(String, "'data'")]);
        check(r"u&'\0027''' 1", &[(String, "''''''"), (Number, "1")]);
        check(r#"U&"\0022""\0050""#, &[(QuotedName, r#""""""P""#)]);
        check("U&'a!00' -- x\n '61b' /* y */ uEscape /* z */ '!' x", &[(String, "'aab'"), (Word, "x")]);
        check("u & 'a'", &[(Word, "u"), (Operator, "&"), (String, "'a'")]);
        check("U&'a' uescaped", &[(String, "'a'"), (Word, "uescaped")]);
        assert_eq!(lex(r#"U&"pg\005Fsleep""#).unwrap().first().unwrap().name, "pg_sleep");
        check_refused(r"U&'\006'", Code::Validation, 0, "four hexadecimal digits");
        check_refused(r"1, U&'\0000'", Code::Validation, 3, "U+0000");
        check_refused("U&\"\"", Code::Validation, 2, "empty");
        check_refused("U&'a' UESCAPE E'!'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE '!!'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE 'a'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE", Code::Validation, 13, "one character");
        check_refused("U&\"a\" UESCAPE '!'\n'b'", Code::Validation, 6, "one piece");
        check_refused("U&'a", Code::Validation, 2, "never closed");
        check_refused(&format!("U&\"{}\"", r"\00e9".repeat(32)), Code::Validation, 0, "63 bytes");
    }

    #[test]
    fn numbers_are_decimal_and_stand_alone() {
        for number in ["1", "1.", ".5", "1.5", "1e3", "1.5E-3", "1e+3"] {
            check(number, &[(TokenKind::Number, number)]);
        }
        for number in ["1a", "0x1F", "1_000", "1e", "1.e", "1..2", "1.2.3", "1$$", "1é"] {
            check_refused(number, Code::Validation, 0, "glued");
        }
    }

    #[track_caller]
    fn check_placeholders(sql: &str, expected: &str) {
        let found = match lex_with_placeholders(sql) {
            Ok(tokens) => tokens.iter().map(|token| token.text.as_ref()).collect::<Vec<_>>().join(" "),
            Err(refusal) => format!("{}: {}", refusal.at, refusal.detail.split([' ', ',']).next().unwrap()),
        };
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn a_catalogs_placeholders_are_numbered_by_their_names() {
        check_placeholders(":a :b :a", "$1 $2 $1");
        check_placeholders("a=:b_1", "a = $1");
        check_placeholders("(:a,:b)::int[]", "( $1 , $2 ) :: int [ ]");
        check_placeholders("x::a, x :: a, f(y:=:a)", "x :: a , x :: a , f ( y := $1 )");
        check_placeholders("':a' $$:a$$ \":a\" -- :a", "':a' $$:a$$ \":a\"");
        check_placeholders("ARRAY[:a, -:b, [:c]]", "ARRAY [ $1 , - $2 , [ $3 ] ]");
        check_placeholders("x[(:a)] x[1:(:b)] x[1 : b]", "x [ ( $1 ) ] x [ 1 : ( $2 ) ] x [ 1 : b ]");
        check_placeholders("ARRAY[x[1]][:a]", "12: Within");
    }

    #[test]
    fn ambiguous_and_misspelt_placeholders_are_refused() {
        check_placeholders("x[:a]", "2: Within");
        check_placeholders("x[1:a]", "3: Within");
        check_placeholders("x[y.z:a]", "5: Within");
        check_placeholders("ARRAY[x:a]", "7: Within");
        check_placeholders("\"array\"[:a]", "8: Within");
        check_placeholders("p.:a", "2: A");
        check_placeholders(":A", "1: The");
        check_placeholders("x[1:2] x[:2] :1", "x [ 1 : 2 ] x [ : 2 ] : 1");
        check_placeholders(":aB", "1: The");
        check_placeholders(":a$", "1: The");
        check_placeholders(":é", "1: The");
        check_placeholders(&format!(":{}", "a".repeat(64)), "0: The");
        check_placeholders("$1", "0: Parameters");
        // A client's text has none: this is a colon and a name.
        check(":a", &[(TokenKind::Punctuation, ":"), (TokenKind::Word, "a")]);
    }

    #[test]
    fn comments_vanish_and_a_second_statement_is_refused() {
        check("/* a /* b */ c */ -- d\n ; -- e\n;", &[]);
        check("a--b\rc", &[(TokenKind::Word, "a"), (TokenKind::Word, "c")]);
        check_refused("/* /* */", Code::Validation, 0, "never closed");
        check_refused("a; b", Code::QueryViolation, 3, "second statement");
        check_refused(";b", Code::QueryViolation, 1, "second statement");
        check_refused(&" ".repeat(MAX_CHARS + 1), Code::Validation, 0, "65536");
        assert!(lex(&" ".repeat(MAX_CHARS)).is_ok());
        check_refused(&"(".repeat(MAX_TOKENS + 1), Code::Validation, MAX_TOKENS, "tokens");
    }
}
