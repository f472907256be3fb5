//! Numbers of bytes on the command line, such as 56, 4Ki or 1M: the one syntax of all commands.

use std::ops::RangeInclusive;

/// The units and their factors: Ki, Mi and Gi for powers of 1024; k, M and G for powers of 1000.
const UNITS: [(&str, usize); 6] =
    [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];

/// Reads a number of bytes, with or without a unit.
///
/// # Errors
/// An error in words.
pub fn parse(text: &str) -> Result<usize, String> {
    let with_unit = UNITS.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = with_unit.unwrap_or((text, 1));
    let number: usize =
        digits.parse().map_err(|_| format!("'{text}' is no number of bytes such as 56, 4Ki, 1Mi or 1M"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} bytes are too many"))
}

/// A reader of numbers of bytes within these limits.
pub fn within(limits: RangeInclusive<usize>) -> impl Fn(&str) -> Result<usize, String> + Clone {
    move |text| {
        let bytes = parse(text)?;
        if limits.contains(&bytes) { Ok(bytes) } else { Err(format!("{bytes} is not in {limits:?}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!([parse("56"), parse("4Ki"), parse("64Mi")], [Ok(56), Ok(4096), Ok(64 << 20)]);
        assert_eq!(
            [parse("4k"), parse("1M"), parse("1G"), parse("1Gi")],
            [4_000, 1_000_000, 1_000_000_000, 1 << 30].map(Ok)
        );
        for text in ["", "Ki", "4K", "4kB", "-8", "18446744073709551615Mi"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_told() {
        let parse = within(1..=4096);
        assert_eq!((parse("4Ki"), parse("5k")), (Ok(4096), Err("5000 is not in 1..=4096".to_owned())));
        assert!(parse("0").is_err());
    }
}
