//! `numeric` to its exact decimal text (`numeric_send`: digits in base 10,000).

use bytes::Buf as _;

use super::reader::Undecodable;

/// The base of a group of digits.
const BASE: u16 = 10_000;
/// The most digits behind the point (`NUMERIC_DSCALE_MASK`).
const MAX_SCALE: u16 = 0x3FFF;

/// The decimal text, as PostgreSQL writes it.
pub(super) fn decimal(bytes: &mut &[u8]) -> Result<String, Undecodable> {
    let (count, weight) = (bytes.try_get_u16()?, i32::from(bytes.try_get_i16()?));
    let (sign, scale) = (bytes.try_get_u16()?, bytes.try_get_u16()?);
    let groups = (0..count).map(|_| bytes.try_get_u16()).collect::<Result<Vec<_>, _>>()?;
    if scale > MAX_SCALE || groups.iter().any(|group| *group >= BASE) {
        return Err(Undecodable);
    }
    let sign = match sign {
        0x0000 => "",
        0x4000 => "-",
        0xC000 => return Ok("NaN".to_owned()),
        0xD000 => return Ok("Infinity".to_owned()),
        0xF000 => return Ok("-Infinity".to_owned()),
        _ => return Err(Undecodable),
    };
    // The group that stands for 10000^power, zero when it was left out.
    let group = |power: i32| {
        usize::try_from(weight - power).ok().and_then(|index| groups.get(index)).copied().unwrap_or(0)
    };
    let mut text = format!("{sign}{}", group(weight.max(0)));
    for power in (0..weight.max(0)).rev() {
        text.push_str(&format!("{:04}", group(power)));
    }
    if scale > 0 {
        text.push('.');
        let end = text.len() + usize::from(scale);
        for power in 1..=i32::from(scale.div_ceil(4)) {
            text.push_str(&format!("{:04}", group(-power)));
        }
        text.truncate(end);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(weight: i16, sign: u16, scale: u16, groups: &[u16], expected: &str) {
        let mut bytes = Vec::new();
        bytes.extend(u16::try_from(groups.len()).unwrap().to_be_bytes());
        bytes.extend(weight.to_be_bytes());
        bytes.extend(sign.to_be_bytes());
        bytes.extend(scale.to_be_bytes());
        bytes.extend(groups.iter().flat_map(|group| group.to_be_bytes()));
        let text = decimal(&mut bytes.as_slice());
        assert_eq!(text.as_deref().unwrap_or("undecodable"), expected);
    }

    #[test]
    fn decimals_are_exact() {
        check(0, 0, 0, &[], "0");
        check(0, 0, 2, &[], "0.00");
        check(0, 0, 2, &[12, 3400], "12.34");
        check(0, 0x4000, 1, &[12, 3000], "-12.3");
        check(2, 0, 0, &[1], "100000000");
        check(1, 0, 0, &[1, 23], "10023");
        check(-1, 0, 6, &[12, 3400], "0.001234");
        check(-2, 0, 8, &[12], "0.00000012");
        check(0, 0xC000, 0, &[], "NaN");
        check(0, 0xD000, 0, &[], "Infinity");
        check(0, 0xF000, 0, &[], "-Infinity");
        check(0, 0x1234, 0, &[], "undecodable");
        check(0, 0, 0x4000, &[1], "undecodable");
        check(0, 0, 0, &[9_999], "9999");
        check(0, 0, 0, &[10_000], "undecodable");
    }
}
