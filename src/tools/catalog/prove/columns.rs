//! The statement's columns against the declared ones.

use sqlparser::ast::Query;

use super::super::claim::Claim;
use super::super::diagnoses;
use super::super::rule::Rule;
use super::faults::Faults;
use crate::guard::lexer::Token;
use crate::guard::output_columns;
use crate::guard::parser::token_of;
use crate::problem::echo;

pub(super) fn check(claim: &Claim<'_>, query: &Query, tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    if claim.columns.is_empty() {
        return faults.add(&diagnoses::NO_COLUMNS, None, &[]);
    }
    // A wildcard has a rule of its own.
    let Some(outputs) = output_columns::columns(query) else { return };
    let mut names = Vec::with_capacity(outputs.len());
    for (index, (name, span)) in outputs.iter().enumerate() {
        let at = token_of(*span).and_then(|index| tokens.get(index)).map(|token| token.at);
        match name.as_deref() {
            None => faults.add(&diagnoses::OUTPUT_UNNAMED, at, &[&(index + 1)]),
            Some(name) if names.contains(&name) => {
                faults.add(&diagnoses::OUTPUT_TWICE, at, &[&echo(name)]);
            }
            Some(name) => names.push(name),
        }
    }
    let declared: Vec<&str> = claim.columns.iter().map(String::as_str).collect();
    let known = names.len() == outputs.len() && !faults.has(Rule::WildcardSelect);
    if known && names != declared {
        let [names, declared] = [names, declared].map(|names| echo(&names.join(", ")));
        faults.add(&diagnoses::OUTPUT_DIFFERS, None, &[&names, &declared]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, proven, refused},
    };

    #[test]
    fn column_mismatch() {
        refused(
            Rule::ColumnMismatch,
            &[
                case("SELECT full_name, email FROM people"),
                case("SELECT full_name FROM people").columns("full_name email"),
                case("SELECT email, full_name FROM people").columns("full_name email"),
                case("SELECT email AS Full_Names FROM people"),
                case("SELECT \"Full_Name\" FROM people"),
                case("SELECT 'x' FROM people").columns("?column?"),
                case("SELECT a + b FROM people"),
                case("SELECT CASE WHEN a THEN full_name END FROM people"),
                case("SELECT full_name IS NULL FROM people"),
                case("SELECT (SELECT full_name) FROM people"),
                case("SELECT trim(full_name) FROM people").columns("btrim"),
                case("SELECT full_name, full_name FROM people").columns("full_name full_name"),
                case("SELECT email FROM people UNION SELECT full_name FROM people"),
            ],
        );
        refused(Rule::NoColumns, &[case("SELECT full_name FROM people").columns("")]);
        proven(&[
            case("SELECT p.full_name, s.code AS site FROM people p, sites s")
                .tables("people sites")
                .columns("full_name site"),
            case("SELECT (p.Full_Name)::text COLLATE \"C\" FROM people p"),
            case("SELECT count(*), pg_catalog.lower(a), coalesce(a, b) FROM people")
                .columns("count lower coalesce"),
            case("SELECT (p.address).city FROM people p").columns("city"),
            case("SELECT full_name FROM people UNION SELECT email FROM people"),
            case("VALUES (1, 2)").tables("").columns("column1 column2"),
            case("WITH q AS (SELECT 1 AS x FROM people) SELECT x FROM q").columns("x"),
            case("SELECT extract(day FROM born) AS day, a IS DISTINCT FROM b AS differs FROM people")
                .columns("day differs"),
            case("SELECT rank() OVER (PARTITION BY site ORDER BY born) FROM people").columns("rank"),
        ]);
    }
}
