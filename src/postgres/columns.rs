//! The columns of a result: the wrapper around the statement that cuts long cells at the database.
//!
//! ```text
//! SELECT <cells> FROM (SELECT r.*, <text forms> FROM (⏎ canonical ⏎) AS r(c1, …, cn) OFFSET 0) AS q LIMIT rows
//! ```
//!
//! The brackets confine the statement: PostgreSQL takes nothing but a plain query inside them. The list of names keeps columns that have
//! the same name apart. `OFFSET 0` keeps the planner from merging the levels, which would write an expression of the query
//! into every place that looks at its value, and compute it each time.
//!
//! A column arrives as its own type in binary form, as JSON, or as text. Where a value can be long, it arrives as NULL when
//! it is too long, and one more column, an array of text, shows it: `'<characters cut>:<first characters>'` for the values
//! that were cut, NULL for the others. So a cut value cannot be mistaken for one that looks like it.

use postgres::Column;
use postgres::types::{Kind, Type};

use super::cells::{self, Intervals};
use super::config::SqlConfig;
use super::server_info::ServerInfo;

/// The most columns a level of a query may have (PostgreSQL's `MaxTupleAttributeNumber`).
pub(crate) const MAX_WIDTH: usize = 1_664;

/// One column of the statement.
#[derive(Debug)]
pub(crate) struct ColumnPlan {
    /// Its name, which need not be unique.
    pub(crate) name: String,
    /// `pg_type.typname`; an array is its element's name and `[]`.
    pub(crate) type_name: String,
    /// The form in which its values arrive.
    pub(crate) form: Form,
    /// Its place in the array of cut values.
    pub(crate) cut_index: Option<usize>,
}

/// The form in which values arrive.
#[derive(Debug)]
pub(crate) enum Form {
    /// In the binary form of a type that [`cells`] knows.
    Binary(Type),
    /// As PostgreSQL's `to_json` writes it: records, and arrays and composites of types that we do not know.
    Json,
    /// As the type's own text.
    Text,
}

/// The most rows that can fit: a row of `columns` cells takes two brackets, and a cell at least a digit and a comma.
fn most_rows(columns: usize, budget: usize) -> usize {
    budget / (2 * columns).max(3)
}

/// The text that is sent, and the columns by which its rows are read.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The columns of the statement.
    pub(crate) columns: Vec<ColumnPlan>,
    /// The text that runs.
    pub(crate) sql: String,
    /// The columns of its widest level: every column, and the text forms that the inner level computes or the cuts.
    pub(crate) width: usize,
    /// The characters that stand before the canonical text.
    pub(crate) prefix_chars: usize,
    /// The most rows that are fetched: one more than are wanted and can fit shows whether there are more.
    pub(crate) limit: usize,
    /// The intervals in its rows.
    pub(crate) intervals: Intervals,
}

impl Plan {
    /// Plans `canonical`, whose columns the server of `info` described, with cells that are cut.
    pub(crate) fn new(
        canonical: &str,
        columns: &[Column],
        config: &SqlConfig,
        info: &ServerInfo,
        wanted: usize,
    ) -> Self {
        let limit = wanted.min(most_rows(columns.len(), config.max_response_bytes)).saturating_add(1);
        let mut plans = Vec::with_capacity(columns.len());
        let mut names = Vec::with_capacity(columns.len());
        let mut inner = vec!["r.*".to_owned()];
        let mut outer = Vec::with_capacity(columns.len() + 1);
        let mut cuts = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let number = index + 1;
            let form = Form::of(column.type_());
            let length = Length::of(column, &form, config.max_cell_chars);
            inner.extend(length.text_form(number));
            let cut = length.cut(number, config.max_cell_chars, info);
            outer.push(form.value(number, cut.as_ref()));
            names.push(format!("c{number}"));
            let cut_index = cut.as_ref().map(|_| cuts.len());
            cuts.extend(cut);
            let (name, type_name) = (column.name().to_owned(), type_name(column.type_()));
            plans.push(ColumnPlan { name, type_name, form, cut_index });
        }
        outer.extend(cut_column(&cuts));
        // `r.*` stands for every column.
        let width = outer.len().max(columns.len() + inner.len() - 1);
        // Without columns there is nothing to name, and `r()` is a syntax error.
        let alias = if columns.is_empty() { "r".to_owned() } else { format!("r({})", names.join(",")) };
        let prefix = format!("SELECT {} FROM (SELECT {} FROM (\n", outer.join(", "), inner.join(", "));
        let sql = format!("{prefix}{canonical}\n) AS {alias} OFFSET 0) AS q LIMIT {limit}");
        let prefix_chars = prefix.chars().count();
        Self { columns: plans, sql, width, prefix_chars, limit, intervals: info.intervals }
    }
}

/// The column that shows which values were cut; none when none can be.
fn cut_column(cuts: &[Cut]) -> Option<String> {
    if cuts.is_empty() {
        return None;
    }
    let any: Vec<&str> = cuts.iter().map(|cut| cut.too_long.as_str()).collect();
    let each: Vec<String> =
        cuts.iter().map(|cut| format!("CASE WHEN {} THEN {} END", cut.too_long, cut.text)).collect();
    Some(format!("CASE WHEN {} THEN ARRAY[{}]::pg_catalog.text[] END", any.join(" OR "), each.join(", ")))
}

impl Form {
    fn of(kind: &Type) -> Self {
        if cells::knows(kind) {
            return Self::Binary(kind.clone());
        }
        let kind = base(kind);
        let is_compound = [Type::RECORD, Type::RECORD_ARRAY, Type::ANYARRAY].contains(kind)
            || matches!(kind.kind(), Kind::Composite(_))
            || (matches!(kind.kind(), Kind::Array(_)) && kind.name().starts_with('_'));
        if is_compound { Self::Json } else { Self::Text }
    }

    /// Returns whether a value has parts with names.
    pub(super) fn is_compound(&self) -> bool {
        match self {
            Self::Json => true,
            Self::Text => false,
            Self::Binary(kind) => {
                let base = base(kind);
                *base == Type::JSON || *base == Type::JSONB || has_parts(base)
            }
        }
    }

    /// The expression that fetches column `number`: NULL when the value is cut.
    fn value(&self, number: usize, cut: Option<&Cut>) -> String {
        let value = match self {
            Self::Binary(_) => format!("q.c{number}"),
            // The text form of NULL is an empty text.
            Self::Json | Self::Text => {
                format!("CASE WHEN q.c{number} IS DISTINCT FROM NULL THEN q.t{number} END")
            }
        };
        match cut {
            None => value,
            Some(cut) => format!("CASE WHEN {} THEN NULL ELSE {value} END", cut.too_long),
        }
    }
}

/// The base type of a domain; any other type itself.
pub(crate) fn base(kind: &Type) -> &Type {
    if let Kind::Domain(inner) = kind.kind() { base(inner) } else { kind }
}

/// Returns whether values of the type are arrays or composites.
pub(super) fn has_parts(kind: &Type) -> bool {
    matches!(kind.kind(), Kind::Array(_) | Kind::Composite(_))
}

/// The beginning of a UTF-8 character at the end of a text, as PostgreSQL's regular expressions see bytes: two, three or four
/// bytes belong together. PostgreSQL does not send it.
const TORN: &str = r"(?:[\xC0-\xDF]|[\xE0-\xEF][\x80-\xBF]?|[\xF0-\xF7][\x80-\xBF]{0,2})$";

/// The cut of a column's long values.
struct Cut {
    /// True if a value is too long.
    too_long: String,
    /// `'<characters cut>:<first characters>'`.
    text: String,
}

/// The way to find the length of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    /// No value is longer than the least limit there is, 100 characters.
    Short,
    /// Text: its length in bytes is known without reading it.
    Text,
    /// Bytes: their text form is `\x` and two digits each.
    Bytes,
    /// Anything else: by its text form, which the inner level computes once.
    Form,
    /// The same, by the JSON that stands for it.
    Json,
}

impl Length {
    fn of(column: &Column, form: &Form, max_chars: u32) -> Self {
        let kind = match form {
            Form::Json => return Self::Json,
            Form::Text => return Self::Form,
            Form::Binary(kind) => kind,
        };
        // A length that the type itself bounds; the modifier is −1 when there is none, else 4 more than the length.
        let modifier = column.type_modifier();
        let fits =
            |length: i32| modifier >= 4 && u32::try_from(length).is_ok_and(|length| length <= max_chars);
        let declared = modifier.saturating_sub(4);
        match *kind {
            Type::VARCHAR | Type::BPCHAR if fits(declared) => Self::Short,
            Type::NUMERIC if fits(longest_numeric(declared)) => Self::Short,
            Type::TEXT | Type::VARCHAR => Self::Text,
            Type::BYTEA => Self::Bytes,
            // `length` and `left` do not see the blanks at the end of a char(n).
            Type::BPCHAR | Type::NUMERIC | Type::JSON | Type::JSONB => Self::Form,
            _ if matches!(kind.kind(), Kind::Array(_) | Kind::Composite(_) | Kind::Domain(_)) => Self::Form,
            // Numbers, dates, uuid, names, labels.
            _ => Self::Short,
        }
    }

    /// The column of the inner level that holds the text form. `concat` writes any type by its own output function, which
    /// a cast to text does not (`inet`, `bool`, `char(n)`).
    fn text_form(self, number: usize) -> Option<String> {
        match self {
            Self::Short | Self::Text | Self::Bytes => None,
            Self::Form => Some(format!("pg_catalog.concat(r.c{number}) AS t{number}")),
            Self::Json => Some(format!("pg_catalog.to_json(r.c{number})::pg_catalog.text AS t{number}")),
        }
    }

    fn cut(self, number: usize, max: u32, info: &ServerInfo) -> Option<Cut> {
        let text = match self {
            Self::Short => return None,
            Self::Text => format!("q.c{number}"),
            Self::Form | Self::Json => format!("q.t{number}"),
            Self::Bytes => {
                let digits = max.saturating_sub(2);
                let total = format!("pg_catalog.octet_length(q.c{number})::pg_catalog.int8 * 2 + 2");
                let bytes = format!("pg_catalog.substring(q.c{number}, 1, {})", digits.div_ceil(2));
                let start = format!("'\\x', pg_catalog.left(pg_catalog.encode({bytes}, 'hex'), {digits})");
                let text = format!("pg_catalog.concat({total} - {max}, ':', {start})");
                return Some(Cut { too_long: format!("{total} > {max}"), text });
            }
        };
        // A character has at most four bytes in any server encoding: a much too long text is not read to find out.
        let too_long = format!(
            "(pg_catalog.octet_length({text}) > {max} AND (pg_catalog.octet_length({text}) > {} \
             OR pg_catalog.length({text}) > {max}))",
            u64::from(max) * 4
        );
        let mut cut = format!("pg_catalog.left({text}, {max})");
        let mut kept = max.to_string();
        if info.counts_bytes {
            cut = format!("pg_catalog.regexp_replace({cut}, '{TORN}', '')");
            kept = format!("pg_catalog.length({cut})");
        }
        let text = format!("pg_catalog.concat(pg_catalog.length({text}) - {kept}, ':', {cut})");
        Some(Cut { too_long, text })
    }
}

/// The longest text of a `numeric(precision, scale)`: the scale is an 11-bit signed number and may exceed the precision.
fn longest_numeric(modifier: i32) -> i32 {
    let precision = (modifier >> 16) & 0xffff;
    let scale = ((modifier & 0x7ff) ^ 0x400) - 0x400;
    // A sign, a point and a zero before it.
    precision.max(scale) + scale.min(0).abs() + 3
}

/// `pg_type.typname`, and `element[]` for the array types that PostgreSQL makes for every type.
fn type_name(kind: &Type) -> String {
    if *kind == Type::RECORD_ARRAY {
        return "record[]".to_owned();
    }
    if let Kind::Array(element) = kind.kind()
        && kind.name().starts_with('_')
    {
        return format!("{}[]", element.name());
    }
    kind.name().to_owned()
}
