//! Any bytes for a value are refused, or become JSON in ASCII whose length they bound.

use std::sync::LazyLock;

use postgres::types::{Field, Kind, Type};
use serde_json::Value;

use super::super::cells::{self, Intervals};
use crate::wire::ascii::AsciiWriter;

/// The most by which a value may be longer than its bytes, in bytes: the zeros of a `numeric`, at most 32,767 groups of four before its
/// point and 16,383 digits behind it.
const MAX_GROWTH_BYTES: usize = 4 * 32_768 + 16_384 + 64;
/// The most that a byte may become: `\ufffd`, when it is not UTF-8.
const MAX_BYTES_PER_BYTE: usize = 6;

/// The types from which the first byte chooses.
static TYPES: LazyLock<Vec<Type>> = LazyLock::new(|| {
    let named = |name: &str, kind| Type::new(name.to_owned(), 99_999, kind, "public".to_owned());
    let field = |name: &str, kind| Field::new(name.to_owned(), kind);
    let pair = vec![field("é", Type::INT4), field("b", Type::TEXT_ARRAY)];
    let known = [
        Type::BOOL,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::FLOAT4,
        Type::FLOAT8,
        Type::NUMERIC,
        Type::TEXT,
        Type::BYTEA,
        Type::JSON,
        Type::JSONB,
        Type::DATE,
        Type::TIME,
        Type::TIMETZ,
        Type::TIMESTAMP,
        Type::TIMESTAMPTZ,
        Type::INTERVAL,
        Type::UUID,
        Type::INT4_ARRAY,
        Type::FLOAT8_ARRAY,
        Type::JSONB_ARRAY,
        named("domain", Kind::Domain(Type::INTERVAL)),
        named("mood", Kind::Enum(vec!["ok".to_owned()])),
        named("pair", Kind::Composite(pair)),
    ];
    known.into()
});

/// Runs the target.
pub fn run(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let Some(kind) = TYPES.get(usize::from(choice) % TYPES.len()) else { return };
    assert!(cells::knows(kind));
    // Either half of the choices reaches every type.
    let intervals = if choice < 128 { Intervals::Finite } else { Intervals::MayBeInfinite };
    let mut writer = AsciiWriter::default();
    let written = cells::Writer { out: &mut writer, intervals }.write(kind, bytes);
    let length = writer.len();
    assert!(
        length <= MAX_BYTES_PER_BYTE * bytes.len() + MAX_GROWTH_BYTES,
        "{length} bytes of {}",
        bytes.len()
    );
    if written.is_err() {
        return;
    }
    let json = writer.finish().to_vec();
    assert!(json.iter().all(|byte| matches!(byte, b' '..=b'~')), "{}", String::from_utf8_lossy(&json));
    let value = serde_json::from_slice::<Value>(&json).ok();
    assert!(value.is_some(), "{}", String::from_utf8_lossy(&json));
    let holds_json = matches!(*kind, Type::JSON | Type::JSONB);
    assert!(holds_json || value != Some(Value::Null), "a silent null");
}
