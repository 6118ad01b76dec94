//! Scalars: the closed list of types whose binary form is known exactly.
//!
//! The forms are those of each type's `…_send` function in PostgreSQL's `src/backend/utils/adt`.

use bytes::Buf as _;
use postgres::types::Type;

use super::reader::{Undecodable, end};
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
    mut bytes: &[u8],
    intervals: Intervals,
) -> Result<(), Undecodable> {
    match *kind {
        Type::BOOL => out.value(&(bytes.try_get_u8()? != 0)),
        Type::INT2 => out.value(&bytes.try_get_i16()?),
        Type::INT4 => out.value(&bytes.try_get_i32()?),
        Type::INT8 => match bytes.try_get_i64()? {
            number if number.unsigned_abs() <= MAX_EXACT_INTEGER => out.value(&number),
            number => out.string(&number.to_string()),
        },
        Type::FLOAT4 => write_float(out, bytes.try_get_f32()?),
        Type::FLOAT8 => write_float(out, bytes.try_get_f64()?),
        Type::NUMERIC => out.string(&numeric::decimal(&mut bytes)?),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => write_text(out, std::mem::take(&mut bytes)),
        Type::BYTEA => out.string(&format!("\\x{}", hexadecimal(std::mem::take(&mut bytes)))),
        Type::JSON => json::write(out, &String::from_utf8_lossy(std::mem::take(&mut bytes))),
        Type::JSONB if bytes.try_get_u8()? == 1 => {
            json::write(out, &String::from_utf8_lossy(std::mem::take(&mut bytes)))
        }
        Type::DATE => out.string(&time::date(bytes.try_get_i32()?)),
        Type::TIME => out.string(&time::time(bytes.try_get_i64()?)),
        Type::TIMETZ => out.string(&time::time_with_zone(bytes.try_get_i64()?, bytes.try_get_i32()?)),
        Type::TIMESTAMP => out.string(&time::timestamp(bytes.try_get_i64()?, time::LOCAL)),
        Type::TIMESTAMPTZ => out.string(&time::timestamp(bytes.try_get_i64()?, time::UTC)),
        Type::INTERVAL => {
            let (micros, days, months) = (bytes.try_get_i64()?, bytes.try_get_i32()?, bytes.try_get_i32()?);
            out.string(&time::interval(months, days, micros, intervals))
        }
        Type::UUID => {
            let bits = bytes.try_get_u128()?;
            let group = |shift: u32| (bits >> shift) & 0xffff;
            let (start, end) = (bits >> 96, bits & 0xffff_ffff_ffff);
            out.string(&format!(
                "{start:08x}-{:04x}-{:04x}-{:04x}-{end:012x}",
                group(80),
                group(64),
                group(48)
            ))
        }
        _ => return Err(Undecodable),
    };
    end(bytes)
}

/// Writes a number, or the name of one that JSON does not have.
fn write_float<F: Copy + Into<f64> + serde::Serialize>(out: &mut AsciiWriter, number: F) -> &mut AsciiWriter {
    match number.into() {
        f64::INFINITY => out.string("Infinity"),
        f64::NEG_INFINITY => out.string("-Infinity"),
        wide if wide.is_nan() => out.string("NaN"),
        _ => out.value(&number),
    }
}

/// Text. PostgreSQL checks that what it sends is UTF-8; bytes of a server that does not become U+FFFD.
pub(crate) fn write_text<'o>(out: &'o mut AsciiWriter, bytes: &[u8]) -> &'o mut AsciiWriter {
    out.string(&String::from_utf8_lossy(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}
