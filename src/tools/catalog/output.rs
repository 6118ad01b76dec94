//! The output of an entry: its columns, and the JSON Schema of its answers.

use postgres::types::Type;
use serde_json::{Map, Value, json};

use super::rule::Rule;
use crate::document::section::{Located, Report, wrong};
use crate::postgres::prepared;

/// A column of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    /// Any scalar, if absent.
    pub(super) kind: Option<ColumnKind>,
}

/// The JSON type of a column's cells, apart from NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    String,
    Integer,
    Number,
    Boolean,
}

impl ColumnKind {
    const ALL: [Self; 4] = [Self::String, Self::Integer, Self::Number, Self::Boolean];

    /// The word for it, in a catalog and in JSON Schema.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    pub(super) fn read(word: &Located<String>, report: &mut Report<'_, Rule>) -> Option<Self> {
        let kind = Self::ALL.into_iter().find(|kind| kind.word() == word.value);
        if kind.is_none() {
            let words = "\"string\", \"integer\", \"number\" or \"boolean\" for each column";
            wrong(report, word.line, "types", words);
        }
        kind
    }

    /// Returns the kind of a type's cells.
    pub(super) fn of(kind: &Type) -> Self {
        match *prepared::base(kind) {
            Type::BOOL => Self::Boolean,
            Type::INT2 | Type::INT4 | Type::INT8 => Self::Integer,
            Type::FLOAT4 | Type::FLOAT8 => Self::Number,
            _ => Self::String,
        }
    }

    /// Returns whether cells of the other kind may stand in a column of this one.
    pub(super) fn takes(self, other: Self) -> bool {
        self == other || (self, other) == (Self::Number, Self::Integer)
    }

    /// A number that JSON cannot hold exactly is a string of its digits, whatever the column.
    fn alternatives(self) -> Vec<&'static str> {
        match self {
            Self::String | Self::Boolean => vec![self.word(), "null"],
            Self::Integer | Self::Number => vec![self.word(), "string", "null"],
        }
    }
}

/// The JSON Schema of `structuredContent`.
pub(super) fn schema(columns: &[Column]) -> Map<String, Value> {
    let any = || vec!["string", "number", "boolean", "null"];
    let cell = |column: &Column| {
        let types = column.kind.map_or_else(any, ColumnKind::alternatives);
        let types: Vec<Value> = types.iter().map(|kind| json!({"type": kind})).collect();
        (column.name.clone(), json!({"anyOf": types}))
    };
    let cells: Map<String, Value> = columns.iter().map(cell).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {"type": "object", "properties": cells, "required": names},
            },
            "row_count": {"type": "integer", "minimum": 0, "description": "The number of rows in `rows`."},
            "has_more": {"type": "boolean", "description": "Whether there are more rows than those in `rows`."},
            "truncated": {
                "type": "boolean",
                "description": "Whether a cell was cut or withheld, or rows were dropped because the answer would have \
                                been too long.",
            },
        },
        "required": ["rows", "row_count", "has_more", "truncated"],
    });
    if let Value::Object(schema) = schema { schema } else { Map::new() }
}
