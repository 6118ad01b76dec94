//! `numeric` to its exact decimal text (`numeric_send`: digits in base 10,000).

use super::reader::{Reader, Undecodable};

/// The base of a group of digits.
const BASE: u16 = 10_000;
/// The most digits behind the point (`NUMERIC_DSCALE_MASK`).
const MAX_SCALE: u16 = 0x3FFF;

/// The decimal text, as PostgreSQL writes it.
pub(super) fn decimal(reader: &mut Reader<'_>) -> Result<String, Undecodable> {
    let count = reader.u16()?;
    let weight = i32::from(reader.i16()?);
    let sign = reader.u16()?;
    let scale = reader.u16()?;
    let mut groups = Vec::with_capacity(count.into());
    for _ in 0..count {
        groups.push(reader.u16()?);
    }
    if scale > MAX_SCALE || groups.iter().any(|group| *group >= BASE) {
        return Err(Undecodable);
    }
    let scale = usize::from(scale);
    let negative = match sign {
        0x0000 => false,
        0x4000 => true,
        0xC000 => return Ok("NaN".to_owned()),
        0xD000 => return Ok("Infinity".to_owned()),
        0xF000 => return Ok("-Infinity".to_owned()),
        _ => return Err(Undecodable),
    };
    // The group that stands for 10000^power, zero when it was left out.
    let group = |power: i32| {
        usize::try_from(weight - power).ok().and_then(|index| groups.get(index)).copied().unwrap_or(0)
    };
    let mut text = String::from(if negative { "-" } else { "" });
    text.push_str(&group(weight.max(0)).to_string());
    for power in (0..weight.max(0)).rev() {
        text.push_str(&format!("{:04}", group(power)));
    }
    if scale > 0 {
        let mut fraction = String::with_capacity(scale + 4);
        let mut power = -1;
        while fraction.len() < scale {
            fraction.push_str(&format!("{:04}", group(power)));
            power -= 1;
        }
        fraction.truncate(scale);
        text.push('.');
        text.push_str(&fraction);
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
        let text = decimal(&mut Reader::new(&bytes));
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
