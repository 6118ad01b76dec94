//! Arguments to bind values: the only way of an argument to the database. An argument is never part of a statement.

use std::error::Error;

use bytes::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use serde_json::{Map, Value};

use super::entry::Entry;
use super::kinds::Scalar;
use super::params::Param;
use super::prove::Placeholder;
use crate::arguments::formats;
use crate::governance::identity::Identity;

/// A value in the type of its placeholder.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    Null,
    Text(String),
    /// Also a time, in microseconds since 2000.
    Integer(i64),
    Number(f64),
    Boolean(bool),
    /// Days since 2000.
    Date(i32),
    Uuid([u8; 16]),
    Array(Vec<Self>),
}

impl ToSql for Bound {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Number(number) => number.to_sql(kind, out),
            Self::Boolean(flag) => flag.to_sql(kind, out),
            Self::Date(days) => days.to_sql(kind, out),
            Self::Uuid(bytes) => bytes.as_slice().to_sql(kind, out),
            Self::Array(items) => items.to_sql(kind, out),
        }
    }

    /// The types are ours: each placeholder is prepared with its parameter's.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Returns the value of each placeholder. `arguments` were judged by the entry's schema; `None` if they were not.
pub(super) fn values(entry: &Entry, arguments: &Map<String, Value>, caller: &Identity) -> Option<Vec<Bound>> {
    let of = |index: usize| -> Option<Bound> {
        let param = entry.params.get(index)?;
        arguments.get(&param.name).map_or(Some(Bound::Null), |value| value_of(param, value))
    };
    let bound = entry.placeholders.iter().map(|placeholder| match placeholder {
        Placeholder::Param(index) => of(*index),
        Placeholder::Limit(index) => of(*index).map(one_more),
        Placeholder::Caller => Some(Bound::Text(caller.id().to_owned())),
        Placeholder::Tenant => Some(Bound::Text(caller.tenant().to_owned())),
    });
    bound.collect()
}

/// Adds the row that shows whether there are more.
fn one_more(limit: Bound) -> Bound {
    // It is absent only in a plan without a call: an entry's limit has a default or is required.
    if let Bound::Integer(limit) = limit { Bound::Integer(limit.saturating_add(1)) } else { limit }
}

fn value_of(param: &Param, value: &Value) -> Option<Bound> {
    let kind = param.kind.as_ref()?;
    match (kind.is_list, param.matching) {
        (true, _) => {
            let items = value.as_array()?.iter();
            items.map(|item| scalar_of(kind.scalar, item)).collect::<Option<_>>().map(Bound::Array)
        }
        (false, Some(matching)) => Some(Bound::Text(matching.pattern(value.as_str()?))),
        (false, None) => scalar_of(kind.scalar, value),
    }
}

fn scalar_of(scalar: Scalar, value: &Value) -> Option<Bound> {
    Some(match scalar {
        Scalar::String | Scalar::Enum => Bound::Text(value.as_str()?.to_owned()),
        Scalar::Integer => Bound::Integer(value.as_i64()?),
        Scalar::Number => Bound::Number(value.as_f64()?),
        Scalar::Boolean => Bound::Boolean(value.as_bool()?),
        Scalar::Date => Bound::Date(formats::date(value.as_str()?)?),
        Scalar::Timestamp => Bound::Integer(formats::timestamp(value.as_str()?)?),
        Scalar::Uuid => Bound::Uuid(formats::uuid(value.as_str()?)?),
    })
}
