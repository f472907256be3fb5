//! Numbers of bytes on the command line, such as 56, 4Ki or 64Mi.

/// Reads a number of bytes; Ki and Mi stand for 1024 and 1024 times 1024.
///
/// # Errors
/// An error in words.
pub fn parse(text: &str) -> Result<usize, String> {
    let units = [("Ki", 1 << 10), ("Mi", 1 << 20)];
    let with_unit = units.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = with_unit.unwrap_or((text, 1));
    let number: usize = digits.parse().map_err(|_| format!("'{text}' is no number of bytes such as 56, 4Ki or 1Mi"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} bytes are too many"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!([parse("56"), parse("4Ki"), parse("64Mi")], [Ok(56), Ok(4096), Ok(64 << 20)]);
        for text in ["", "Ki", "4k", "-8", "18446744073709551615Mi"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
