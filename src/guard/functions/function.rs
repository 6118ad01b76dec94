//! One function: where it belongs and what it does to its arguments.

/// A line of the table of functions.
#[derive(Debug)]
pub struct Function {
    /// As `pg_proc` has it.
    pub name: &'static str,
    /// Its group, which decides how it is allowed.
    pub(crate) group: Group,
    /// The size of its result.
    pub(crate) size: Size,
    /// The time it runs without looking at cancels.
    pub(crate) time: Time,
    /// The number it returns.
    pub(crate) number: Number,
    /// The first release of PostgreSQL that has it.
    pub since: u8,
    /// The reason why a volatile function may be called.
    pub volatile: Option<&'static str>,
    /// Its use of rows.
    pub(crate) rows: Rows,
    /// The first argument that is a LIKE pattern, a regular expression, a path or a query of a text search.
    pub(crate) pattern: Option<usize>,
    /// The arguments that name members of JSON and hstore values.
    pub(crate) keys: Keys,
    /// Its use of the members of its first argument.
    pub(crate) members: Members,
    /// Its rows in `FROM` are single values in one column.
    pub(crate) is_column: bool,
    /// It takes a whole row, so that `p.to_json` may be `to_json(p)`.
    pub(crate) takes_rows: bool,
}

impl Function {
    /// The rare columns of most functions.
    pub(super) const PLAIN: Self = Self {
        name: "",
        group: Group::Grammar,
        size: Size::Flat,
        time: Time::Linear,
        number: Number::Large,
        since: 13,
        volatile: None,
        rows: Rows::One,
        pattern: None,
        keys: Keys::None,
        members: Members::Exposes,
        is_column: false,
        takes_rows: false,
    };

    /// Returns whether it is PostgreSQL's own, of which `pg_proc` always has it.
    pub fn is_of_server(&self) -> bool {
        self.group.is_built_in() || self.group == Group::Catalog
    }
}

/// The group of a function. Built-in groups are allowed by default, with the reason given here; each of the others is
/// a set that an operator allows.
///
/// INVARIANT: the built-in groups stand together, from `Aggregates` to `Texts`, and no other group between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Group {
    /// Grammar that looks like a call: allowed by the judge of the tree, unless it is quoted.
    Grammar,
    /// Aggregates and window functions: they see only the rows of the query.
    Aggregates,
    /// Dates and times: the clock, the calendar, arithmetic. They read no setting but the time zone.
    Times,
    /// JSON. `*_populate_*` and `*_to_record*` cast to types that are judged where they are written.
    Json,
    /// Arrays, and set-returning functions over them.
    Arrays,
    /// Ranges and multiranges.
    Ranges,
    /// Text search. `ts_stat` and `ts_rewrite` run SQL given as text and are absent.
    Search,
    /// Geometry.
    Geometry,
    /// Network addresses.
    Network,
    /// Mathematics. `setseed` is absent.
    Math,
    /// Hashes and UUIDs: pure functions of their arguments, or random.
    Hashes,
    /// Casts spelled as calls, to the types that may be cast to.
    Casts,
    /// Enums, rows and sizes.
    Values,
    /// Strings, patterns and bytes. `format` and `quote_*` only build text.
    Texts,
    /// The database's own objects: names, definitions, comments, sizes. The catalog, which every role may read, shows as much.
    Objects,
    /// Functions that psql's own commands call. It describes every object of the database, also those that the role may
    /// not read, and sizes on disk.
    Catalog,
    /// The state of the server: uptime, write-ahead log, lag, locks, statistics, control file. By name, never by prefix:
    /// `pg_stat_reset` begins like `pg_stat_get_…`.
    Monitoring,
    /// The extension citext, as the groups below are of extensions.
    Citext,
    Cube,
    EarthDistance,
    FuzzyStrMatch,
    Hstore,
    IntArray,
    Ltree,
    PgTrgm,
    PgCrypto,
    PgVector,
    PostGis,
    Seg,
    Unaccent,
    UuidOssp,
}

impl Group {
    /// Returns true for a group that is allowed by default.
    pub(super) fn is_built_in(self) -> bool {
        (Self::Aggregates..=Self::Objects).contains(&self)
    }
}

/// The size of a result. Arguments are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// A constant, or no longer than the arguments together.
    Flat,
    /// A small factor longer: escapes, encodings, JSON.
    Grows,
    /// This argument is a length or a number of repetitions.
    Count(usize),
    /// This argument holds the lengths of an array.
    Lengths(usize),
    /// This argument is a template with widths.
    Template(usize),
    /// Matches of this pattern, with a position for each of its parentheses.
    Matches(usize),
    /// The arguments from this one to that one, replacements or separators, times the others.
    Product(usize, usize),
    /// A number of as many digits as this argument asks for, which PostgreSQL bounds.
    Digits(usize),
}

/// The time that a call runs without looking at cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// As long as its arguments.
    Linear,
    /// As long as the product of its arguments.
    Quadratic,
}

/// The number that a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// A count, a position or a length of what it is given.
    Counts,
    /// A number no larger than its largest argument.
    Keeps,
    /// A part of a date: small up to the year.
    Part,
    /// Any number, or none at all.
    Large,
}

/// The use of rows by a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// One value of one row.
    One,
    /// Any number of rows of one.
    Set,
    /// One value of many rows.
    Aggregate,
    /// One value that holds all of many rows.
    Collects,
    /// One value a row, of many.
    Window,
}

/// The arguments that name members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// None.
    None,
    /// Those behind the first, of members that are read.
    Read,
    /// The second is a path of a JSON value.
    Path,
    /// The first, third, fifth and so on, of members that are made.
    Pairs,
    /// The first, of members that are made.
    First,
    /// The second, of members that are made.
    Second,
}

/// The use of the members of its first argument by a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// Their number or kind, or one that is named.
    Inspects,
    /// A value that still holds them by their names.
    Keeps,
    /// Every one of them, whatever its name.
    Spreads,
    /// Anything.
    Exposes,
}
