//! Limits on nesting and chains, counted on tokens before any recursive code sees them.
//!
//! sqlparser recurses while it parses and a tree is dropped recursively, so that a statement's worst nesting decides
//! how much stack it takes. An upper bound of it is computed here, linearly: within one pair of brackets every
//! operator may nest the next one; a comma or a set operation ends that; brackets add up. `CASE … END` is a bracket.

use crate::guard::lexer::{Place, Token, TokenKind};
use crate::guard::refusal::Refusal;

/// The deepest nesting of brackets and `CASE`.
const MAX_DEPTH: usize = 50;
/// The deepest nesting of queries: each takes the parser as much stack as a dozen brackets.
const MAX_QUERY_DEPTH: usize = 16;
/// The most queries in a statement: each takes the parser as long as a dozen other tokens.
const MAX_QUERIES: usize = 2_000;
/// The most joins between one pair of brackets.
const MAX_JOINS: usize = 64;
/// The most set operations between one pair of brackets.
const MAX_SET_OPERATIONS: usize = 256;
/// The deepest tree, in nodes: operators in a chain, plus those of every bracket around it.
const MAX_NESTING: usize = 1_000;
/// The operators that take as much stack as a join.
const JOIN_NODES: usize = 8;

/// Checks that brackets pair up and that nothing nests deeper than the recursive code can take.
pub(crate) fn check(tokens: &[Token<'_>]) -> Result<(), Refusal> {
    if let Some(query) = tokens.iter().filter(|token| token.is_word("select")).nth(MAX_QUERIES) {
        return Err(Refusal::invalid(
            query.at,
            format!("The statement holds more than {MAX_QUERIES} queries; ask for less in one statement."),
        ));
    }
    let mut counter = Counter::default();
    Place::all(tokens).try_for_each(|place| counter.count(place))?;
    counter.finish()
}

/// A pair of brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parenthesis,
    Square,
    Case,
}

/// The counts of one pair of brackets so far.
#[derive(Default)]
struct Group {
    /// It holds a SELECT.
    query: bool,
    /// Operators since the last comma.
    operators: usize,
    /// The deepest bracket since the last comma.
    inner: usize,
    /// The deepest of the items that commas divide.
    deepest: usize,
    joins: usize,
    set_operations: usize,
}

impl Group {
    fn end_item(&mut self) {
        self.deepest = self.deepest.max(self.operators + self.inner);
        self.operators = 0;
        self.inner = 0;
    }

    fn nesting(&mut self) -> usize {
        self.end_item();
        self.deepest + self.set_operations + self.joins * JOIN_NODES + 1
    }
}

/// The counts of the brackets that are open.
#[derive(Default)]
struct Counter {
    inside: Group,
    /// The groups around, each with the bracket that opened the next one, and its place.
    outside: Vec<(Group, Bracket, usize)>,
}

impl Counter {
    fn count(&mut self, place: Place<'_, '_>) -> Result<(), Refusal> {
        let Place { token, .. } = place;
        let in_case = self.outside.last().is_some_and(|(_, bracket, _)| *bracket == Bracket::Case);
        match (token.kind, token.text.as_ref(), token.name.as_str()) {
            (TokenKind::Punctuation, "(", _) => self.open(Bracket::Parenthesis, token),
            (TokenKind::Punctuation, "[", _) => self.open(Bracket::Square, token),
            (TokenKind::Punctuation, ")", _) => self.close(Bracket::Parenthesis, token),
            (TokenKind::Punctuation, "]", _) => self.close(Bracket::Square, token),
            (TokenKind::Punctuation, ",", _) => {
                self.inside.end_item();
                Ok(())
            }
            (TokenKind::Punctuation, "::", _) | (TokenKind::Operator, _, _) => self.bump(token),
            (TokenKind::Word, _, _) if place.is_label() => Ok(()),
            (TokenKind::Word, _, "case") => self.open(Bracket::Case, token),
            // Without a CASE to close it is a name: `SELECT 1 end`.
            (TokenKind::Word, _, "end") if in_case => self.close(Bracket::Case, token),
            (TokenKind::Word, _, _) => self.count_word(place),
            _ => Ok(()),
        }
    }

    fn open(&mut self, bracket: Bracket, token: &Token<'_>) -> Result<(), Refusal> {
        let deep = self.outside.len() >= MAX_DEPTH;
        forbid(deep, token.at, || {
            format!("Brackets and CASE nest deeper than {MAX_DEPTH} levels; use WITH to flatten the query.")
        })?;
        // A subscript and an array type's brackets are a level of the tree themselves.
        if bracket == Bracket::Square {
            self.bump(token)?;
        }
        self.outside.push((std::mem::take(&mut self.inside), bracket, token.at));
        Ok(())
    }

    fn close(&mut self, bracket: Bracket, token: &Token<'_>) -> Result<(), Refusal> {
        let opened = self.outside.pop().filter(|(_, opened, _)| *opened == bracket);
        let Some((outside, _, at)) = opened else {
            return Err(Refusal::invalid(token.at, format!("This {} closes nothing.", token.text)));
        };
        let nesting = self.inside.nesting();
        self.inside = outside;
        self.inside.inner = self.inside.inner.max(nesting);
        check_nesting(nesting, at)
    }

    fn count_word(&mut self, place: Place<'_, '_>) -> Result<(), Refusal> {
        let Place { token, .. } = place;
        match token.name.as_str() {
            "select" => {
                self.inside.query = true;
                let outside = self.outside.iter().filter(|(group, _, _)| group.query).count();
                forbid(outside >= MAX_QUERY_DEPTH, token.at, || {
                    format!(
                        "Queries nest deeper than {MAX_QUERY_DEPTH} levels; use WITH to flatten the query."
                    )
                })
            }
            "join" => {
                self.inside.joins += 1;
                forbid(self.inside.joins > MAX_JOINS, token.at, || {
                    format!(
                        "More than {MAX_JOINS} joins in one FROM; join some of them in a WITH query first."
                    )
                })
            }
            "union" | "intersect" | "except" => {
                // INVARIANT: a set operation ends an expression only behind an operand.
                let operand = place.before(1).is_some_and(|t| t.kind != TokenKind::Operator)
                    && !place.after_mark("(")
                    && !place.after_mark(",");
                forbid(!operand, token.at, || format!("{} needs a query before it.", token.text))?;
                self.inside.set_operations += 1;
                self.inside.end_item();
                forbid(self.inside.set_operations > MAX_SET_OPERATIONS, token.at, || {
                    format!(
                        "More than {MAX_SET_OPERATIONS} set operations in a row; use VALUES or IN instead."
                    )
                })
            }
            "and" | "or" | "not" | "is" | "isnull" | "notnull" | "in" | "like" | "ilike" | "similar"
            | "between" | "collate" | "at" | "overlaps" | "escape" | "operator" | "interval" => {
                self.bump(token)
            }
            _ => Ok(()),
        }
    }

    fn bump(&mut self, token: &Token<'_>) -> Result<(), Refusal> {
        self.inside.operators += 1;
        check_nesting(self.inside.operators, token.at)
    }

    fn finish(mut self) -> Result<(), Refusal> {
        let Some((_, bracket, at)) = self.outside.pop() else {
            return check_nesting(self.inside.nesting(), 0);
        };
        let sentence = match bracket {
            Bracket::Parenthesis => "This ( is never closed.",
            Bracket::Square => "This [ is never closed.",
            Bracket::Case => "This CASE has no END; to name a result so, write AS before it.",
        };
        Err(Refusal::invalid(at, sentence))
    }
}

fn check_nesting(nesting: usize, at: usize) -> Result<(), Refusal> {
    forbid(nesting > MAX_NESTING, at, || {
        format!(
            "More than {MAX_NESTING} operators are chained or nested here; use IN (...), = ANY (...) or a VALUES list."
        )
    })
}

/// Refuses the text when it is over a limit.
fn forbid(over: bool, at: usize, sentence: impl FnOnce() -> String) -> Result<(), Refusal> {
    if over { Err(Refusal::invalid(at, sentence())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::lexer::lex;

    /// Checks that a part is allowed `most` times and refused once more.
    #[track_caller]
    fn check(most: usize, sentence: &str, sql: impl Fn(usize) -> String) {
        assert_eq!(super::check(&lex(&sql(most)).unwrap()), Ok(()), "{most}");
        let refusal = super::check(&lex(&sql(most + 1)).unwrap()).unwrap_err();
        assert!(refusal.detail.contains(sentence), "{}", refusal.detail);
    }

    #[test]
    fn every_limit_is_reached_and_not_passed() {
        let around =
            |open: &str, close: &str, n: usize| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
        check(MAX_DEPTH, "deeper than 50 levels", |n| around("(", ")", n));
        check(MAX_DEPTH, "deeper than 50 levels", |n| around("CASE WHEN ", " THEN 1 END", n));
        check(MAX_QUERY_DEPTH - 1, "deeper than 16 levels", |n| around("(SELECT ", ")", n));
        check(MAX_JOINS, "More than 64 joins", |n| format!("SELECT 1 FROM t{}", " JOIN t ON true".repeat(n)));
        check(MAX_SET_OPERATIONS, "More than 256 set operations", |n| {
            format!("SELECT 1{}", " UNION SELECT 1".repeat(n))
        });
        let chain = |n: usize| format!("1{}", " + 1".repeat(n));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT {}", chain(n)));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT a{}", " AND a".repeat(n)));
        check(MAX_NESTING - 1, "More than 1000 operators", |n| format!("SELECT a{}", "::int".repeat(n)));
        // Brackets add up; items between commas and set operations do not.
        check(MAX_NESTING - 602, "More than 1000 operators", |n| {
            format!("SELECT ({}){}", chain(600), " + 1".repeat(n))
        });
        check(MAX_NESTING - 1, "More than 1000 operators", |n| {
            format!("SELECT {}, {}", chain(999), chain(n))
        });
        check(MAX_NESTING - 2, "More than 1000 operators", |n| {
            format!("SELECT {} UNION SELECT {}", chain(998), chain(n))
        });
    }

    #[test]
    fn an_end_without_a_case_is_a_name() {
        assert_eq!(
            super::check(&lex("SELECT 1 end, CASE WHEN (SELECT 1 end) THEN 1 END end").unwrap()),
            Ok(())
        );
        for (sql, sentence) in [
            ("SELECT CASE 1", "has no END"),
            ("SELECT CASE (1 END)", "has no END"),
            ("SELECT (1", "never closed"),
            ("SELECT 1)", "closes nothing"),
            ("SELECT (1]", "closes nothing"),
            ("SELECT (CASE 1) END", "closes nothing"),
        ] {
            let refusal = super::check(&lex(sql).unwrap()).unwrap_err();
            assert!(refusal.detail.contains(sentence), "{sql}: {}", refusal.detail);
        }
    }
}
