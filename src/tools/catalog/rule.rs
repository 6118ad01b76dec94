//! The rules of a catalog, a line a rule.

use std::fmt;

use crate::document::finding::{self, DocumentRule, Severity};

/// One fault of a catalog.
pub type Finding = finding::Finding<Rule>;

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A rule of a catalog. The names are stable: operators and reviewers search for them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

rules! {
    /// The file cannot be read, is not TOML, or is of another version.
    Syntax = "syntax",
    /// An unknown key.
    UnknownKey = "unknown-key",
    /// A missing key, or a value of the wrong kind.
    InvalidValue = "invalid-value",
    /// A table that the catalog does not list.
    TableNotAllowed = "table-not-allowed",
    /// A table that the statement reads and the entry does not declare.
    TableUndeclared = "table-undeclared",
    /// A table that the entry declares and the statement does not read.
    TableUnreferenced = "table-unreferenced",
    /// Something in FROM whose columns cannot be verified.
    UnsupportedTableRef = "unsupported-table-ref",
    /// A declared column whose name is a secret's.
    SensitiveColumn = "sensitive-column",
    /// Any other name in the statement that is a secret's.
    SensitiveIdentifier = "sensitive-identifier",
    /// A statement that is not a SELECT.
    NotSelect = "not-select",
    /// More than one statement.
    MultiStatement = "multi-statement",
    /// A statement that changes something.
    WriteKeyword = "write-keyword",
    /// A function that ad-hoc queries may not call either.
    ForbiddenFunction = "forbidden-function",
    /// A construct that the guard of ad-hoc queries refuses.
    ForbiddenConstruct = "forbidden-construct",
    /// `*`, `t.*`, `TABLE t`, or a whole row as a value.
    WildcardSelect = "wildcard-select",
    /// A value that holds members, in a form in which redaction would not see their names. Found on the database.
    MembersExposed = "members-exposed",
    /// The outermost query has no LIMIT.
    MissingLimit = "missing-limit",
    /// `:limit` anywhere but alone behind the outermost LIMIT: it is bound to one row more than was asked for.
    LimitLookahead = "limit-lookahead",
    /// LIMIT without ORDER BY (a warning): the rows are arbitrary.
    OrderRequired = "order-required",
    /// A placeholder that is no parameter.
    PlaceholderUnknown = "placeholder-unknown",
    /// A parameter that the statement does not use.
    ParamUnused = "param-unused",
    /// A pattern that is no regular expression of the shared syntax.
    ParamPattern = "param-pattern",
    /// A parameter as the pattern of LIKE and its kind without `match` and `ESCAPE '\'`.
    LikeUnescaped = "like-unescaped",
    /// `match` on a parameter that is no pattern of LIKE.
    MatchUnused = "match-unused",
    /// A parameter without the bounds of its type.
    ParamUnbounded = "param-unbounded",
    /// A parameter without a type, or of an unknown one.
    ParamUntyped = "param-untyped",
    /// A parameter whose name promises SQL or an identity.
    ForbiddenParamName = "forbidden-param-name",
    /// An example that the entry's own parameters refuse.
    InvalidExample = "invalid-example",
    /// A name that another entry or a built-in tool has.
    DuplicateName = "duplicate-name",
    /// A name that no tool, parameter, column or table can have.
    InvalidName = "invalid-name",
    /// A name that is too long once a client has put its own before it.
    LongName = "long-name",
    /// The entry declares no columns.
    NoColumns = "no-columns",
    /// Declared columns that are not the statement's.
    ColumnMismatch = "column-mismatch",
}

impl DocumentRule for Rule {
    const SYNTAX: Self = Self::Syntax;
    const UNKNOWN_KEY: Self = Self::UnknownKey;
    const INVALID_VALUE: Self = Self::InvalidValue;

    fn severity(self) -> Severity {
        if matches!(self, Self::OrderRequired | Self::LongName) { Severity::Warning } else { Severity::Error }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
