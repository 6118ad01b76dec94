//! The statements of `accepted.txt` and `refused.txt`, with the verdicts that they must get.

use super::attacks::unescaped;
use crate::guard::config::GuardConfig;
use crate::guard::fuzz::shape;
use crate::guard::statement::ReadOnlyStatement;
use crate::problem::Code;

const ACCEPTED: &str = include_str!("accepted.txt");
const REFUSED: &str = include_str!("refused.txt");
/// Attacks on size that a server survives, each with the reason.
const SURVIVABLE: &str = include_str!("survivable.txt");

/// Returns the statements of a corpus; lines that begin with `# ` are comments.
fn lines(corpus: &str) -> impl Iterator<Item = &str> {
    corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Returns the statements that must pass, each with the setting that it needs.
pub(crate) fn accepted() -> impl Iterator<Item = (String, GuardConfig)> {
    lines(ACCEPTED).map(|line| {
        let (sql, sets) =
            line.rsplit_once(" -- @").map_or((line, String::new()), |(sql, set)| (sql, format!("@{set}")));
        (unescaped(sql), GuardConfig::parse(&sets).unwrap())
    })
}

/// Returns the statements that must be refused, each with its code.
pub(crate) fn refused() -> impl Iterator<Item = (Code, String)> {
    lines(REFUSED).map(|line| {
        let code = if line.starts_with('V') { Code::Validation } else { Code::QueryViolation };
        (code, unescaped(line.get(2..).unwrap_or_default()))
    })
}

/// Returns statements with a `#` where an expression can stand.
pub(crate) fn places() -> impl Iterator<Item = &'static str> {
    include_str!("places.txt").lines()
}

#[test]
fn every_refused_statement_is_refused_with_its_code_and_a_place() {
    let mut wrong = Vec::new();
    for (code, sql) in refused() {
        match super::verdict_alone(&sql, &GuardConfig::default()) {
            Ok(_) => wrong.push(format!("accepted: {sql}")),
            Err(problem) => {
                let document = problem.to_value();
                if problem.code() != code {
                    wrong.push(format!("{:?}: {sql}: {}", problem.code(), problem.detail()));
                }
                assert!(document["metadata"]["line"].as_u64() >= Some(1), "{sql}");
                assert!(document["metadata"]["column"].as_u64() >= Some(1), "{sql}");
                assert_eq!(problem.invalid_params(), ["query"], "{sql}");
                assert!(
                    problem.detail().ends_with('.') && problem.detail().len() < 500,
                    "{}",
                    problem.detail()
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused().count() >= 300);
}

#[test]
fn every_accepted_statement_passes_and_so_does_its_canonical_text_unchanged() {
    for (sql, config) in accepted() {
        let statement =
            ReadOnlyStatement::parse(&sql, &config).unwrap_or_else(|p| panic!("{sql}: {}", p.detail()));
        let again = ReadOnlyStatement::parse(statement.canonical(), &config).unwrap();
        assert_eq!(statement.canonical(), again.canonical());
        assert_eq!(shape(&sql), shape(statement.canonical()), "{sql}");
    }
}

#[test]
fn extension_sets_are_needed() {
    let without = GuardConfig::default();
    for (sql, config) in accepted().filter(|(_, config)| *config != GuardConfig::default()) {
        assert!(ReadOnlyStatement::parse(&sql, &config).is_ok(), "{sql}");
        assert!(super::verdict_alone(&sql, &without).is_err(), "{sql}");
    }
}

#[test]
fn attacks_that_a_server_survives_pass() {
    for line in lines(SURVIVABLE) {
        let verdict = ReadOnlyStatement::parse(&unescaped(line), &GuardConfig::default());
        assert!(verdict.is_ok(), "{line}");
    }
}
