//! Judges types: a closed list, because a cast runs the type's input function, and a domain's check.

use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, ObjectName, TimezoneInfo, TypeModifier,
};

use super::identifiers;
use super::roles::NameRole;
use super::walk::Walk;
use crate::guard::config::GuardConfig;
use crate::guard::functions::{foreign, matches_any};
use crate::guard::functions_sets;
use crate::guard::parser::constructs;
use crate::guard::refusal::Refusal;
use crate::problem::echo;

/// Types, as `pg_type` names them, whose input functions only look at their argument, and those of relations, types and
/// text search configurations, whose names the catalog shows to every role.
#[rustfmt::skip]
const TYPES: &[&str] = &[
    "bit", "bool", "box", "bpchar", "bytea", "char", "cid", "cidr", "circle", "date", "datemultirange",
    "daterange", "float4", "float8", "inet", "int2", "int2vector", "int4", "int4multirange", "int4range",
    "int8", "int8multirange", "int8range", "interval", "json", "jsonb", "jsonpath", "line", "lseg",
    "macaddr", "macaddr8", "money", "name", "numeric", "nummultirange", "numrange", "oid", "oidvector",
    "path", "pg_lsn", "pg_snapshot", "point", "polygon", "record", "regclass", "regconfig", "regtype", "text", "tid", "time", "timestamp",
    "timestamptz", "timetz", "tsmultirange", "tsquery", "tsrange", "tstzmultirange", "tstzrange",
    "tsvector", "txid_snapshot", "uuid", "varbit", "varchar", "xid", "xid8",
];

/// Types by the names that only the grammar has. Quoted, qualified or behind a `_` they mean user-defined types.
const WORDS: &[&str] =
    &["bigint", "boolean", "character", "dec", "decimal", "float", "int", "integer", "real", "smallint"];

/// The largest number in a type's parentheses: a value that is padded to it must stay small.
const MAX_MODIFIER: u64 = 1_048_576;

/// Judges a type: its name, and the length or precision in its parentheses.
pub(super) fn judge_type<'t>(walk: &mut Walk<'t, '_>, mut data_type: &'t DataType) -> Result<(), Refusal> {
    while let DataType::Array(
        ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _),
    ) = data_type
    {
        data_type = element;
    }
    match data_type {
        DataType::Custom(name, modifiers) => judge_custom(walk, name, modifiers),
        DataType::CharacterVarying(length) | DataType::CharVarying(length) => match length {
            Some(CharacterLength::IntegerLength { length, unit: None }) => judge_modifier(walk, *length),
            None => Ok(()),
            Some(_) => unsupported(walk),
        },
        DataType::BitVarying(length) => judge_modifier(walk, length.unwrap_or_default()),
        DataType::Time(_, zone) | DataType::Timestamp(_, zone) => match zone {
            TimezoneInfo::None | TimezoneInfo::WithTimeZone | TimezoneInfo::WithoutTimeZone => Ok(()),
            TimezoneInfo::Tz => unsupported(walk),
        },
        DataType::DoublePrecision
        | DataType::Double(ExactNumberInfo::None)
        | DataType::Interval { fields: _, precision: _ } => Ok(()),
        // Other dialects' types, and keywords that the parser is never shown.
        #[rustfmt::skip]
        DataType::Table(..) | DataType::NamedTable { .. } | DataType::Character(..) | DataType::Char(..)
        | DataType::Varchar(..) | DataType::Nvarchar(..) | DataType::Uuid
        | DataType::CharacterLargeObject(..) | DataType::CharLargeObject(..) | DataType::Clob(..)
        | DataType::Binary(..) | DataType::Varbinary(..) | DataType::Blob(..) | DataType::TinyBlob
        | DataType::MediumBlob | DataType::LongBlob | DataType::Bytes(..) | DataType::Numeric(..)
        | DataType::Decimal(..) | DataType::DecimalUnsigned(..) | DataType::BigNumeric(..)
        | DataType::BigDecimal(..) | DataType::Dec(..) | DataType::DecUnsigned(..) | DataType::Float(..)
        | DataType::FloatUnsigned(..) | DataType::TinyInt(..) | DataType::TinyIntUnsigned(..)
        | DataType::UTinyInt | DataType::Int2(..) | DataType::Int2Unsigned(..) | DataType::SmallInt(..)
        | DataType::SmallIntUnsigned(..) | DataType::USmallInt | DataType::MediumInt(..)
        | DataType::MediumIntUnsigned(..) | DataType::Int(..) | DataType::Int4(..) | DataType::Int8(..)
        | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Int128 | DataType::Int256
        | DataType::Integer(..) | DataType::IntUnsigned(..) | DataType::Int4Unsigned(..)
        | DataType::IntegerUnsigned(..) | DataType::HugeInt | DataType::UHugeInt | DataType::UInt8
        | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 | DataType::UInt128 | DataType::UInt256
        | DataType::BigInt(..) | DataType::BigIntUnsigned(..) | DataType::UBigInt
        | DataType::Int8Unsigned(..) | DataType::Signed | DataType::SignedInteger | DataType::Unsigned
        | DataType::UnsignedInteger | DataType::Float4 | DataType::Float32 | DataType::Float64
        | DataType::Real | DataType::RealUnsigned | DataType::Float8 | DataType::Double(..)
        | DataType::DoubleUnsigned(..) | DataType::DoublePrecisionUnsigned | DataType::Zerofill(..)
        | DataType::Bool | DataType::Boolean | DataType::Date | DataType::Date32 | DataType::Datetime(..)
        | DataType::Datetime64(..) | DataType::TimestampNtz(..) | DataType::JSON | DataType::JSONB
        | DataType::Regclass | DataType::Text | DataType::TinyText | DataType::MediumText
        | DataType::LongText | DataType::String(..) | DataType::Collate(..) | DataType::FixedString(..)
        | DataType::Bytea | DataType::Bit(..) | DataType::VarBit(..) | DataType::Array(..)
        | DataType::Map(..) | DataType::Tuple(..) | DataType::Nested(..) | DataType::Object(..)
        | DataType::Enum(..) | DataType::Set(..) | DataType::Struct(..) | DataType::Union(..)
        | DataType::Nullable(..) | DataType::LowCardinality(..) | DataType::Unspecified | DataType::Trigger
        | DataType::AnyType | DataType::GeometricType(..) | DataType::TsVector | DataType::TsQuery => unsupported(walk),
    }
}

/// A type as it is written.
pub(super) struct Written<'n> {
    pub(super) schema: Option<&'n str>,
    pub(super) name: &'n str,
    /// The name stands without quotes.
    pub(super) plain: bool,
}

impl Written<'_> {
    /// Returns whether the type may be written.
    pub(super) fn is_allowed(&self, config: &GuardConfig) -> bool {
        let Self { schema, name, plain } = *self;
        if plain && schema.is_none() && WORDS.contains(&name) {
            return true;
        }
        match schema {
            None | Some("pg_catalog") => {
                // PostgreSQL's own name for an array of `x` is `_x`.
                is_built_in(name.strip_prefix('_').unwrap_or(name)) || config.allows_type(None, name)
            }
            Some(_) => config.allows_type(schema, name),
        }
    }
}

/// Returns whether a type of this name is PostgreSQL's own and casts to it are allowed.
pub(crate) fn is_built_in(name: &str) -> bool {
    TYPES.binary_search(&name).is_ok()
}

/// Returns true for a type that is known and not on the list, whatever the database has: of an extension, or one of
/// PostgreSQL's own whose input does more than look at its argument. Another database's type may be a domain here.
fn is_known(name: &str) -> bool {
    /// The last are pseudo-types.
    #[rustfmt::skip]
    const OWN: &[&str] = &[
        "aclitem", "any*", "cstring", "fdw_handler", "gtsvector", "index_am_handler", "internal", "language_handler",
        "pg_*", "refcursor", "reg*", "table_am_handler", "trigger", "tsm_handler", "unknown", "void", "xml",
    ];
    let plain = name.strip_prefix('_').unwrap_or(name);
    matches_any(OWN, plain) || functions_sets::SETS.iter().any(|set| set.types.contains(&plain))
}

/// Returns the sentence for a type that is not on a list.
pub(crate) fn unknown_type(name: &str) -> String {
    let plain = name.strip_prefix("pg_catalog.").unwrap_or(name);
    if plain == "xml" {
        return constructs::XML.to_owned();
    }
    if let Some(own) = foreign::data_type(name) {
        return format!("PostgreSQL has no type {}; write {own}.", echo(name));
    }
    let set = functions_sets::SETS.iter().find(|set| set.types.contains(&plain));
    let allowed_by = set.map(|set| format!("={}", set.name)).unwrap_or_default();
    format!(
        "The type {} is not on the list of types that may be cast to; compare as text, or ask the operator to allow \
         it with MCP_SQL_ALLOW_FUNCTIONS{allowed_by}.",
        echo(name)
    )
}

fn judge_custom<'t>(
    walk: &mut Walk<'t, '_>,
    name: &'t ObjectName,
    modifiers: &[TypeModifier],
) -> Result<(), Refusal> {
    let (schema, last) = identifiers::qualified(walk, name)?;
    let schema = schema.as_deref();
    let is_allowed =
        Written { schema, name: &last.value, plain: last.quote_style.is_none() }.is_allowed(walk.config);
    if !is_allowed && (schema == Some("pg_catalog") || is_known(&last.value)) {
        return walk.refuse(unknown_type(&identifiers::written(schema, last)));
    }
    walk.account(last, if is_allowed { NameRole::Type } else { NameRole::OpenType })?;
    for given in modifiers {
        match given {
            TypeModifier::Number(number, _) => {
                judge_modifier(walk, number.parse().unwrap_or(u64::MAX))?;
            }
            TypeModifier::Identifier(_) => {}
            TypeModifier::String(_) => return unsupported(walk),
        }
    }
    Ok(())
}

fn judge_modifier(walk: &Walk<'_, '_>, number: u64) -> Result<(), Refusal> {
    if number <= MAX_MODIFIER {
        return Ok(());
    }
    walk.refuse(format!("A type's length is at most {MAX_MODIFIER} here; cast to the type without a length."))
}

fn unsupported<T>(walk: &Walk<'_, '_>) -> Result<T, Refusal> {
    walk.refuse("This way to write a type is not PostgreSQL's; write its plain name.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sorted_and_none_runs_code() {
        assert!(TYPES.is_sorted());
        assert!(!TYPES.contains(&"xml") && !TYPES.contains(&"refcursor") && !TYPES.contains(&"regproc"));
    }
}
