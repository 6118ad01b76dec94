//! Text to tokens, exactly as PostgreSQL's `scan.l` cuts it (with `standard_conforming_strings` on), in one linear pass.
//!
//! Unknown characters are refused, and so is text that PostgreSQL's own versions cut differently. The lexer never looks at
//! the meaning of a token.
//!
//! | file | holds |
//! |---|---|
//! | `lex` | the pass over a text, its limits |
//! | `cut` | the next token, and where it ends; the closed list of operators |
//! | `strings`, `unicode` | strings, quoted names and the escapes of `U&` |
//! | `placeholders` | `:name` in a catalog's statement |
//! | `values` | the value that a string literal stands for |
//! | `token`, `place` | a token; its neighbours |
//! | `scanner`, `names` | the text being read; the characters of names |

mod lex;
mod cut;
mod strings;
mod unicode;
mod placeholders;
mod values;
mod token;
mod place;
mod scanner;
mod names;

#[cfg(test)]
pub(super) use cut::OPERATORS;
pub(super) use lex::{lex, lex_with_placeholders};
pub(crate) use place::Place;
pub(crate) use token::{Token, TokenKind};
pub(super) use values::value_of;
