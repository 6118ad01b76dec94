//! Our tokens to sqlparser's tree.
//!
//! sqlparser never sees text, only tokens that our lexer cut: the two cannot disagree about where a string or a comment
//! ends. Two more things are decided here, so that the parser has nothing to guess:
//!
//! - **Keywords.** Only words that are keywords to PostgreSQL, at that place, are keywords to the parser; every other
//!   dialect's are plain names.
//! - **Forms it does not know.** Some of PostgreSQL's are shown to it as an equal form, or without the part that holds no
//!   expression. The text that runs is untouched; only the tokens that the parser sees are shaped.
//!
//! | file | holds |
//! |---|---|
//! | `parse` | the entry: tokens to a tree, a syntax error to a refusal |
//! | `translate` | our tokens to sqlparser's, one by one |
//! | `shapes` | forms that are shown as an equal form |
//! | `keywords`, `words` | keywords by their place; PostgreSQL's lists of words |
//! | `view` | the tokens shown so far; a token's index as a span |
//! | `symbols` | operators and marks |
//! | `constructs` | constructs that are not supported, each with what to write instead |

mod parse;
mod translate;
mod shapes;
mod keywords;
mod view;
mod symbols;
pub(super) mod words;
pub(super) mod constructs;

pub(super) use parse::parse;
pub(crate) use view::token_of;
