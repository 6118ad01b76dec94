//! Two judges of one statement. Each is a pure function that refuses what it does not know.
//!
//! The judge of the tree walks what sqlparser made of the statement; the judge of the tokens looks only at what
//! stands there, whatever the parser made of it. A statement runs when both let it pass.

pub(super) mod kind;
pub(super) mod limits;
pub(super) mod view;
mod keywords;
mod shapes;
pub(super) mod constructs;
pub(super) mod tree;
pub(crate) mod uses;
mod from;
mod expressions;
mod calls;
pub(crate) mod types;
pub(super) mod sizes;
mod relations;
mod queries;
mod values;
mod series;
mod moments;
mod growth;
mod bounds;
mod steps;
mod paths;
mod conversions;
mod literals;
mod names;
pub(super) mod tokens;
