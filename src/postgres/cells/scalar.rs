//! Scalars: the closed list of types whose binary form is known exactly.
//!
//! The forms are those of each type's `…_send` function in PostgreSQL's `src/backend/utils/adt`.

use postgres::types::Type;

use super::reader::{Reader, Undecodable};
use super::time::{self, Intervals};
use super::{json, numeric};
use crate::wire::ascii::AsciiWriter;

/// Whole numbers up to this size are exact in a double, so in every JSON reader.
const MAX_EXACT_INTEGER: u64 = (1 << 53) - 1;

/// The scalars that are known exactly: the types that [`write`] matches.
#[rustfmt::skip]
static KNOWN: [Type; 21] = [
    Type::BOOL, Type::INT2, Type::INT4, Type::INT8, Type::FLOAT4, Type::FLOAT8, Type::NUMERIC,
    Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::NAME, Type::BYTEA, Type::JSON, Type::JSONB, Type::UUID,
    Type::DATE, Type::TIME, Type::TIMETZ, Type::TIMESTAMP, Type::TIMESTAMPTZ, Type::INTERVAL,
];

/// Returns whether [`write`] knows values of this type.
pub(super) fn knows(kind: &Type) -> bool {
    KNOWN.contains(kind)
}

/// The types that are known.
#[cfg(test)]
pub(super) fn known() -> impl Iterator<Item = &'static Type> {
    KNOWN.iter()
}

/// Writes a value of a type that is known.
pub(super) fn write(
    out: &mut AsciiWriter,
    kind: &Type,
    bytes: &[u8],
    intervals: Intervals,
) -> Result<(), Undecodable> {
    let mut reader = Reader::new(bytes);
    let reader = &mut reader;
    match *kind {
        Type::BOOL => out.value(&(reader.u8()? != 0)),
        Type::INT2 => out.value(&reader.i16()?),
        Type::INT4 => out.value(&reader.i32()?),
        Type::INT8 => write_int8(out, reader.i64()?),
        Type::FLOAT4 => match f32::from_bits(reader.u32()?) {
            number if number.is_finite() => out.value(&number),
            number => not_finite(out, number.into()),
        },
        Type::FLOAT8 => match f64::from_bits(reader.u64()?) {
            number if number.is_finite() => out.value(&number),
            number => not_finite(out, number),
        },
        Type::NUMERIC => out.string(&numeric::decimal(reader)?),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => write_text(out, reader.rest()),
        Type::BYTEA => out.string(&format!("\\x{}", hexadecimal(reader.rest()))),
        Type::JSON => json::write(out, &String::from_utf8_lossy(reader.rest())),
        Type::JSONB if reader.u8()? == 1 => json::write(out, &String::from_utf8_lossy(reader.rest())),
        Type::DATE => out.string(&time::date(reader.i32()?)),
        Type::TIME => out.string(&time::time(reader.i64()?)),
        Type::TIMETZ => out.string(&time::time_with_zone(reader.i64()?, reader.i32()?)),
        Type::TIMESTAMP => out.string(&time::timestamp(reader.i64()?, time::Zone::None)),
        Type::TIMESTAMPTZ => out.string(&time::timestamp(reader.i64()?, time::Zone::Utc)),
        Type::INTERVAL => {
            let (micros, days, months) = (reader.i64()?, reader.i32()?, reader.i32()?);
            out.string(&time::interval(months, days, micros, intervals))
        }
        Type::UUID => out.string(&uuid(reader.u128()?)),
        _ => return Err(Undecodable),
    };
    reader.end()
}

fn write_int8(out: &mut AsciiWriter, number: i64) -> &mut AsciiWriter {
    if number.unsigned_abs() <= MAX_EXACT_INTEGER {
        out.value(&number)
    } else {
        out.string(&number.to_string())
    }
}

/// JSON has no such numbers.
fn not_finite(out: &mut AsciiWriter, number: f64) -> &mut AsciiWriter {
    let name = match (number.is_nan(), number > 0.0) {
        (true, _) => "NaN",
        (false, true) => "Infinity",
        (false, false) => "-Infinity",
    };
    out.string(name)
}

/// Text. PostgreSQL checks that what it sends is UTF-8; bytes of a server that does not become U+FFFD.
pub(crate) fn write_text<'o>(out: &'o mut AsciiWriter, bytes: &[u8]) -> &'o mut AsciiWriter {
    out.string(&String::from_utf8_lossy(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

fn uuid(bits: u128) -> String {
    let text = format!("{bits:032x}");
    let mut uuid = String::with_capacity(36);
    for (index, digit) in text.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            uuid.push('-');
        }
        uuid.push(digit);
    }
    uuid
}
