//! The attacks against the whole guard, and against each of its judges when it stands alone.

mod attacks;
pub(crate) mod statements;
mod mutations;

use attacks::{Alone, Attack, attacks};

use super::config::GuardConfig;
use super::judge::roles::NameRole;
use super::judge::{kind, limits, tokens, tree};
use super::parser::parse;
use super::statement::ReadOnlyStatement;
use super::{amplifiers, lexer};
use crate::problem::{Code, Problem};

/// The verdict without a server: a type that only a server could judge is refused.
pub(super) fn verdict_alone(sql: &str, config: &GuardConfig) -> Result<ReadOnlyStatement, Problem> {
    let statement = ReadOnlyStatement::parse(sql, config)?;
    match statement.open_types().keys().next() {
        Some(path) => Err(statement.refuse_type(path)),
        None => Ok(statement),
    }
}

/// The judges that let an attack pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    Neither,
    Tree,
    Tokens,
    /// The judge of the tokens, while only the rule of amplifiers refuses.
    TokensAndShape,
    Both,
}

/// Shows an attack to each judge alone, behind the steps that both need: the lexer, and the limits on tokens.
///
/// The judge of the tokens is given a tree that accounts for every name. It sees even statements that the parser cannot
/// read.
fn passed(sql: &str) -> Passed {
    let config = GuardConfig::default();
    let Ok(lexed) = lexer::lex(sql) else { return Passed::Neither };
    if kind::check(&lexed).and_then(|()| limits::check(&lexed)).is_err() {
        return Passed::Neither;
    }
    let everything: Vec<NameRole> = (0..lexed.len()).map(|index| most_believable(&lexed, index)).collect();
    let tokens_pass = tokens::judge(&lexed, &everything, &config).is_ok();
    let query = parse(&lexed);
    let too_large = query.as_ref().is_ok_and(|query| amplifiers::check(query, &lexed).is_err());
    let tree_passes = !too_large
        && query.is_ok_and(|query| {
            // A type that is left to the server is not accepted by the judge.
            tree::judge(&query, &lexed, &config).is_ok_and(|roles| !roles.contains(&NameRole::OpenType))
        });
    match (tree_passes, tokens_pass) {
        (false, false) => Passed::Neither,
        (true, false) => Passed::Tree,
        (false, true) if too_large => Passed::TokensAndShape,
        (false, true) => Passed::Tokens,
        (true, true) => Passed::Both,
    }
}

/// Returns the most permissive role of a name: a call, unless it can only be the name of columns.
fn most_believable(lexed: &[lexer::Token<'_>], index: usize) -> NameRole {
    match index.checked_sub(1).and_then(|before| lexed.get(before)) {
        Some(before) if before.is_word("as") || before.is_mark(")") => NameRole::Columns,
        Some(_) | None => NameRole::Call,
    }
}

#[test]
fn every_attack_is_refused_with_its_code() {
    let wrong: Vec<String> = attacks()
        .into_iter()
        .filter_map(|Attack { understood, idea, sql, .. }| {
            let expected = if understood { Code::QueryViolation } else { Code::Validation };
            match verdict_alone(&sql, &GuardConfig::default()) {
                Ok(_) => Some(format!("accepted: {idea}: {sql}")),
                Err(problem) if problem.code() == expected => None,
                Err(problem) => Some(format!("{:?}: {idea}: {sql}: {}", problem.code(), problem.detail())),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An attack that one judge alone lets pass is refused by PostgreSQL: shown on a server, in `tests/it/sql/attacks.rs`.
#[test]
fn every_attack_is_refused_by_each_judge_alone_or_by_the_database() {
    let wrong: Vec<String> = attacks()
        .into_iter()
        .filter_map(|Attack { alone, idea, sql, .. }| {
            let expected = match alone {
                Alone::Both => Passed::Neither,
                Alone::Tree(_) => Passed::Tokens,
                Alone::Tokens(_) => Passed::Tree,
                Alone::Sizes => Passed::TokensAndShape,
            };
            let passed = passed(&sql);
            (passed != expected).then(|| format!("{passed:?}, not {expected:?}: {idea}: {sql}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn attacks_are_many_and_each_is_another_idea() {
    let attacks = attacks();
    let mut ideas = std::collections::BTreeSet::new();
    let mut statements = std::collections::BTreeSet::new();
    for Attack { idea, sql, .. } in &attacks {
        assert!(ideas.insert(idea) && statements.insert(sql), "twice: {idea}: {sql}");
    }
    assert!(attacks.len() >= 400, "{}", attacks.len());
}

#[test]
fn a_statement_of_too_many_queries_is_refused_before_it_is_parsed() {
    for (queries, accepted) in [(2_000, true), (2_001, false)] {
        let sql = format!("SELECT 1{}", ",(SELECT 1)".repeat(queries - 1));
        let judged = ReadOnlyStatement::parse(&sql, &GuardConfig::default());
        assert_eq!(judged.is_ok(), accepted, "{queries}: {judged:?}");
    }
}
