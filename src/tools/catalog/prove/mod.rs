//! The proof that an entry's statement reads no more than the entry declares. It looks at the syntax tree and at tokens,
//! never at text by regular expressions; what cannot be verified is refused. It is pure: no database.
//!
//! ```text
//! :name ─ lexer ─▶ tokens ─ placeholders, names ─┐
//!                    └─ parser ─▶ tree ─ walk ───┼─▶ every Fault, or Proven
//!                                  └─ the guard ─┘
//! ```
//! The guard of ad-hoc queries holds here too; these rules come on top of it. The parser is shown some forms in another
//! shape than they are written (`judge::view`); those are judged on the tokens.
//!
//! | file | rules, or what they share |
//! |---|---|
//! | `proof` | the order of all rules |
//! | `placeholders`, `limit`, `columns`, `tables` | parameters, `LIMIT`, declared columns, declared tables |
//! | `names` | names of secrets, and forms that the tree does not show |
//! | `rows`, `keys`, `patterns`, `searches` | whole rows, names of members, parameters in patterns and in searches |
//! | `member_use` | uses of names for the rule `members-exposed`, which is judged once a database is at hand |
//! | `walk`, `from`, `found`, `scope` | the walk over the tree, and what it finds |
//! | `parts`, `literals` | the parts of expressions, literals |
//! | `faults` | what is wrong, in the order of the text |

mod parts;
mod literals;
mod scope;
mod faults;
mod tables;
mod found;
mod from;
mod walk;
mod placeholders;
mod names;
mod rows;
mod keys;
mod patterns;
mod searches;
mod limit;
mod columns;
mod member_use;
mod proof;

pub(super) use placeholders::Placeholder;
pub(super) use proof::{Proven, prove};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod against_postgresql;
