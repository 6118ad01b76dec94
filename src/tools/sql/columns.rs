//! How each column of a result is fetched: the wrapper around the statement that cuts long cells at the database.
//!
//! `SELECT <columns> FROM (⏎ canonical ⏎) AS q(c1, …, cn) LIMIT rows` keeps the columns' order and duplicate names, and is
//! itself a wall: PostgreSQL takes nothing but a plain query inside such brackets.
//!
//! A column arrives as its own type in binary form, as JSON, or as text. Where a value can be long, it arrives as NULL when
//! it is too long, and one more column, an array of text, says so: `'<characters cut>:<first characters>'` for the values
//! that were cut, NULL for the others. So a cut value cannot be mistaken for one that looks like it.

use postgres::{
    Column,
    types::{Kind, Type},
};

use super::cells;

/// One column of the statement.
#[derive(Debug)]
pub(super) struct ColumnPlan {
    /// Its name, which need not be unique.
    pub(super) name: String,
    /// `pg_type.typname`; an array is its element's name and `[]`.
    pub(super) type_name: String,
    /// How its values arrive.
    pub(super) form: Form,
    /// Its place in the array of cut values.
    pub(super) cut_index: Option<usize>,
}

/// How values arrive.
#[derive(Debug)]
pub(super) enum Form {
    /// In the binary form of a type that [`cells`] knows.
    Binary(Type),
    /// As PostgreSQL's `to_json` writes it: records, and arrays and composites of types that we do not know.
    Json,
    /// As the type's own text.
    Text,
}

/// What is sent, and how its rows are read.
#[derive(Debug)]
pub(super) struct Plan {
    /// The columns of the statement.
    pub(super) columns: Vec<ColumnPlan>,
    /// The text that runs.
    pub(super) sql: String,
    /// How many characters of it stand before the canonical text.
    pub(super) prefix_chars: usize,
}

impl Plan {
    /// Plans `canonical`, whose columns PostgreSQL described, with cells of at most `max_chars` characters.
    pub(super) fn new(canonical: &str, columns: &[Column], max_chars: u32, limit: usize) -> Self {
        let mut cuts = Vec::new();
        let mut plans = Vec::with_capacity(columns.len());
        let mut selected = Vec::with_capacity(columns.len() + 1);
        let mut names = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let name = format!("c{}", index + 1);
            let form = Form::of(column.type_());
            let cut = Cut::of(column, &form, max_chars).map(|cut| cut.sql(&name, max_chars));
            let value = form.sql(&name);
            selected.push(match &cut {
                None => value,
                Some((too_long, _)) => format!("CASE WHEN {too_long} THEN NULL ELSE {value} END"),
            });
            names.push(name);
            let cut_index = cut.as_ref().map(|_| cuts.len());
            cuts.extend(cut);
            plans.push(ColumnPlan {
                name: column.name().to_owned(),
                type_name: type_name(column.type_()),
                form,
                cut_index,
            });
        }
        selected.extend(cut_column(&cuts));
        // Without columns there is nothing to rename, and `q()` is a syntax error.
        let alias = if columns.is_empty() { "q".to_owned() } else { format!("q({})", names.join(",")) };
        let prefix = format!("SELECT {} FROM (\n", selected.join(", "));
        let prefix_chars = prefix.chars().count();
        let sql = format!("{prefix}{canonical}\n) AS {alias} LIMIT {limit}");
        Self { columns: plans, sql, prefix_chars }
    }
}

/// The column that tells which values were cut; none when none can be.
fn cut_column(cuts: &[(String, String)]) -> Option<String> {
    if cuts.is_empty() {
        return None;
    }
    let any: Vec<&str> = cuts.iter().map(|(too_long, _)| too_long.as_str()).collect();
    let each: Vec<String> =
        cuts.iter().map(|(too_long, start)| format!("CASE WHEN {too_long} THEN {start} END")).collect();
    Some(format!("CASE WHEN {} THEN ARRAY[{}]::pg_catalog.text[] END", any.join(" OR "), each.join(", ")))
}

impl Form {
    fn of(kind: &Type) -> Self {
        if cells::knows(kind) {
            return Self::Binary(kind.clone());
        }
        let is_compound = |kind: &Type| {
            *kind == Type::RECORD
                || *kind == Type::RECORD_ARRAY
                || *kind == Type::ANYARRAY
                || matches!(kind.kind(), Kind::Composite(_))
                || (matches!(kind.kind(), Kind::Array(_)) && kind.name().starts_with('_'))
        };
        let mut base = kind;
        while let Kind::Domain(inner) = base.kind() {
            base = inner;
        }
        if is_compound(base) { Self::Json } else { Self::Text }
    }

    /// The expression that fetches the column `name`. `concat` writes any type by its own output function, which a cast to
    /// text does not (`inet`, `bool`, `char(n)`), but takes NULL for an empty text.
    fn sql(&self, name: &str) -> String {
        match self {
            Self::Binary(_) => format!("q.{name}"),
            Self::Json => format!("pg_catalog.to_json(q.{name})"),
            Self::Text => {
                format!("CASE WHEN q.{name} IS DISTINCT FROM NULL THEN pg_catalog.concat(q.{name}) END")
            }
        }
    }
}

/// How the length of a column's values is found.
#[derive(Clone, Copy)]
enum Cut {
    /// Text: its length in bytes is known without reading it.
    Text,
    /// The same with blanks at its end, which `length` and `left` do not see.
    Blanked,
    /// Bytes: their text form is `\x` and two digits each.
    Bytes,
    /// Anything else: by its text form.
    Form,
    /// The JSON that stands for it.
    Json,
}

impl Cut {
    /// `None`: values of this column cannot be too long.
    fn of(column: &Column, form: &Form, max_chars: u32) -> Option<Self> {
        let kind = match form {
            Form::Json => return Some(Self::Json),
            Form::Text => return Some(Self::Form),
            Form::Binary(kind) => kind,
        };
        // A length that the type itself bounds; the modifier is −1 when there is none, else 4 more than it says.
        let modifier = column.type_modifier();
        let fits =
            |length: i32| modifier >= 4 && u32::try_from(length).is_ok_and(|length| length <= max_chars);
        let declared = modifier.saturating_sub(4);
        match *kind {
            Type::TEXT => Some(Self::Text),
            Type::VARCHAR if fits(declared) => None,
            Type::VARCHAR => Some(Self::Text),
            Type::BPCHAR if fits(declared) => None,
            Type::BPCHAR => Some(Self::Blanked),
            Type::BYTEA => Some(Self::Bytes),
            Type::NUMERIC if fits(longest_numeric(declared)) => None,
            Type::NUMERIC | Type::JSON | Type::JSONB => Some(Self::Form),
            _ if matches!(kind.kind(), Kind::Array(_) | Kind::Composite(_) | Kind::Domain(_)) => {
                Some(Self::Form)
            }
            // Numbers, dates, uuid, names, labels: shorter than the least limit, 100 characters.
            _ => None,
        }
    }

    /// Whether the value of column `name` is too long, and the text that says how it was cut.
    fn sql(self, name: &str, max: u32) -> (String, String) {
        let whole = match self {
            Self::Text => format!("q.{name}"),
            Self::Blanked | Self::Form => format!("pg_catalog.concat(q.{name})"),
            Self::Json => format!("pg_catalog.to_json(q.{name})::pg_catalog.text"),
            Self::Bytes => {
                let digits = max.saturating_sub(2);
                let (bytes, total) =
                    (digits.div_ceil(2), format!("pg_catalog.octet_length(q.{name})::int8 * 2 + 2"));
                let start = format!(
                    "'\\x', pg_catalog.left(pg_catalog.encode(pg_catalog.substring(q.{name}, 1, {bytes}), 'hex'), \
                     {digits})"
                );
                return (
                    format!("{total} > {max}"),
                    format!("pg_catalog.concat({total} - {max}, ':', {start})"),
                );
            }
        };
        let length = format!("pg_catalog.length({whole})");
        let cut = format!("pg_catalog.concat({length} - {max}, ':', pg_catalog.left({whole}, {max}))");
        match self {
            Self::Text => (format!("(pg_catalog.octet_length({whole}) > {max} AND {length} > {max})"), cut),
            Self::Blanked | Self::Form | Self::Json | Self::Bytes => (format!("{length} > {max}"), cut),
        }
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
