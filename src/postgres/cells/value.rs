//! A value of any type that is known: scalars, domains, labels, and arrays and composites of these.

use bytes::Buf as _;
use postgres::types::{Field, Kind, Type};

use super::reader::{Undecodable, end, take_sized};
use super::scalar::{self, write_text};
use super::time::Intervals;
use crate::wire::ascii::AsciiWriter;

/// Returns whether [`Writer`] knows values of this type, down to their elements and fields.
pub(crate) fn knows(kind: &Type) -> bool {
    match kind.kind() {
        Kind::Array(element) => kind.name().starts_with('_') && knows(element),
        Kind::Domain(base) => knows(base),
        Kind::Composite(fields) => fields.iter().all(|field| knows(field.type_())),
        Kind::Enum(_) => true,
        Kind::Simple | Kind::Pseudo | Kind::Range(_) | Kind::Multirange(_) => scalar::knows(kind),
        // `Kind` is non-exhaustive: the database writes what we do not know as text.
        _ => false,
    }
}

/// Returns whether values of this type have named fields, somewhere within them.
pub(crate) fn has_fields(kind: &Type) -> bool {
    if let Kind::Array(inner) | Kind::Domain(inner) = kind.kind() {
        return has_fields(inner);
    }
    // What we do not know arrives as text.
    matches!(kind.kind(), Kind::Composite(_))
}

/// Writes values of a server as JSON.
pub(crate) struct Writer<'o> {
    pub(crate) out: &'o mut AsciiWriter,
    /// The intervals that the server sends.
    pub(crate) intervals: Intervals,
}

impl Writer<'_> {
    /// Writes one value that is not NULL.
    pub(crate) fn write(&mut self, kind: &Type, bytes: &[u8]) -> Result<(), Undecodable> {
        match kind.kind() {
            Kind::Array(element) => self.write_array(element, bytes),
            Kind::Domain(base) => self.write(base, bytes),
            Kind::Composite(fields) => self.write_composite(fields, bytes),
            Kind::Enum(_) => {
                write_text(self.out, bytes);
                Ok(())
            }
            Kind::Simple | Kind::Pseudo | Kind::Range(_) | Kind::Multirange(_) => {
                scalar::write(self.out, kind, bytes, self.intervals)
            }
            _ => Err(Undecodable),
        }
    }

    /// `array_send`: dimensions, whether there are NULLs, the element type, each dimension's length and lower bound, elements.
    fn write_array(&mut self, element: &Type, mut bytes: &[u8]) -> Result<(), Undecodable> {
        /// PostgreSQL's `MAXDIM`.
        const MAX_DIMENSIONS: i32 = 6;
        let dimensions = bytes.try_get_i32()?;
        let (_has_nulls, element_oid) = (bytes.try_get_i32()?, bytes.try_get_u32()?);
        if !(0..=MAX_DIMENSIONS).contains(&dimensions) || element_oid != element.oid() {
            return Err(Undecodable);
        }
        let mut lengths = Vec::new();
        for _ in 0..dimensions {
            // An empty array has no dimension at all: a length of nothing would be written for ever.
            lengths.push(bytes.try_get_i32().ok().filter(|length| *length > 0).ok_or(Undecodable)?);
            let _lower_bound = bytes.try_get_i32()?;
        }
        // INVARIANT: every round of the loops reads an element, so that what came bounds what is written.
        if lengths.is_empty() {
            self.out.raw("[]");
        } else {
            self.write_dimension(element, &lengths, &mut bytes)?;
        }
        end(bytes)
    }

    fn write_dimension(
        &mut self,
        element: &Type,
        lengths: &[i32],
        bytes: &mut &[u8],
    ) -> Result<(), Undecodable> {
        let Some((length, inner)) = lengths.split_first() else { return self.write_member(element, bytes) };
        for index in 0..*length {
            self.out.raw(if index == 0 { "[" } else { "," });
            self.write_dimension(element, inner, bytes)?;
        }
        self.out.raw("]");
        Ok(())
    }

    /// `record_send`: the number of fields, then each field's type and value.
    fn write_composite(&mut self, fields: &[Field], mut bytes: &[u8]) -> Result<(), Undecodable> {
        if usize::try_from(bytes.try_get_i32()?) != Ok(fields.len()) {
            return Err(Undecodable);
        }
        self.out.raw("{");
        for (index, field) in fields.iter().enumerate() {
            if bytes.try_get_u32()? != field.type_().oid() {
                return Err(Undecodable);
            }
            self.out.raw(if index == 0 { "" } else { "," }).string(field.name()).raw(":");
            self.write_member(field.type_(), &mut bytes)?;
        }
        self.out.raw("}");
        end(bytes)
    }

    /// An element or a field: its length (−1 for NULL), then its value.
    fn write_member(&mut self, kind: &Type, bytes: &mut &[u8]) -> Result<(), Undecodable> {
        let Some(bytes) = take_sized(bytes)? else {
            self.out.raw("null");
            return Ok(());
        };
        self.write(kind, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &Type, bytes: &[u8], expected: &str) {
        let mut out = AsciiWriter::default();
        let written = Writer { out: &mut out, intervals: Intervals::Finite }.write(kind, bytes);
        let json = String::from_utf8(out.finish().to_vec()).unwrap();
        assert_eq!(written.map_or("undecodable".to_owned(), |()| json), expected, "{kind} {bytes:?}");
    }

    #[test]
    fn scalars_have_the_forms_of_the_contract() {
        check(&Type::BOOL, &[1], "true");
        check(&Type::INT2, &[0xff, 0xfe], "-2");
        check(&Type::INT8, &9_007_199_254_740_991_i64.to_be_bytes(), "9007199254740991");
        check(&Type::INT8, &9_007_199_254_740_992_i64.to_be_bytes(), "\"9007199254740992\"");
        check(&Type::INT8, &i64::MIN.to_be_bytes(), "\"-9223372036854775808\"");
        check(&Type::FLOAT4, &0.1_f32.to_be_bytes(), "0.1");
        check(&Type::FLOAT8, &0.1_f64.to_be_bytes(), "0.1");
        check(&Type::FLOAT8, &f64::NAN.to_be_bytes(), "\"NaN\"");
        check(&Type::FLOAT8, &f64::INFINITY.to_be_bytes(), "\"Infinity\"");
        check(&Type::FLOAT4, &f32::NEG_INFINITY.to_be_bytes(), "\"-Infinity\"");
        check(&Type::TEXT, "é\"".as_bytes(), r#""\u00e9\"""#);
        check(&Type::TEXT, &[0xff], r#""\ufffd""#);
        check(&Type::BYTEA, &[0, 0xaf], r#""\\x00af""#);
        check(&Type::JSONB, b"\x01{\"a\": 1}", r#"{"a":1}"#);
        check(
            &Type::UUID,
            &0xa0eebc99_9c0b4ef8_bb6d6bb9_bd380a11_u128.to_be_bytes(),
            r#""a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#,
        );
    }

    #[test]
    fn every_known_type_is_written() {
        for kind in scalar::known() {
            // `jsonb` begins with its version, 1; a `numeric` of nothing but zeros is 0.
            let mut samples = (0..=24).flat_map(|length| [vec![0; length], vec![1; length]]);
            let writes = |bytes: Vec<u8>| {
                let mut out = AsciiWriter::default();
                Writer { out: &mut out, intervals: Intervals::Finite }.write(kind, &bytes).is_ok()
            };
            assert!(samples.any(writes), "{kind}");
        }
    }

    #[test]
    fn bytes_that_do_not_fit_their_type_are_undecodable() {
        check(&Type::INT4, &[0, 0, 1], "undecodable");
        check(&Type::INT4, &[0, 0, 0, 1, 0], "undecodable");
        check(&Type::JSONB, b"\x02{}", "undecodable");
        check(&Type::BOOL, &[], "undecodable");
        check(&Type::POINT, &[0; 16], "undecodable");
        check(&Type::INT4_ARRAY, &[0, 0, 0, 7], "undecodable");
        check(&Type::INT4_ARRAY, &[0xff; 12], "undecodable");
        let endless: Vec<u8> =
            [2, 0, 23, i32::MAX, 1, 0, 1].iter().flat_map(|n: &i32| n.to_be_bytes()).collect();
        check(&Type::INT4_ARRAY, &endless, "undecodable");
        let one = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 5];
        check(&Type::INT4_ARRAY, &one, "undecodable");
        let negative: Vec<u8> = [1, 0, 23, -1, 1].iter().flat_map(|n: &i32| n.to_be_bytes()).collect();
        check(&Type::INT4_ARRAY, &negative, "undecodable");
    }

    #[test]
    fn arrays_of_any_shape_are_arrays() {
        check(&Type::INT4_ARRAY, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23], "[]");
        let mut bytes: Vec<u8> = [2, 1, 23, 2, 1, 1, -5].iter().flat_map(|n: &i32| n.to_be_bytes()).collect();
        bytes.extend([4, 7, -1].iter().flat_map(|n: &i32| n.to_be_bytes()));
        check(&Type::INT4_ARRAY, &bytes, "[[7],[null]]");
    }
}
