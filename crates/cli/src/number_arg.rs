//! Whole numbers on the command line, whose errors say what was expected.

use std::ops::RangeInclusive;

/// A reader of whole numbers within these limits.
pub fn within<T: TryFrom<u64>>(limits: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| limits.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("expected a whole number from {} to {}", limits.start(), limits.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_told() {
        let parse = within::<u16>(1..=1023);
        assert_eq!((parse("1"), parse("1023")), (Ok(1), Ok(1023)));
        for text in ["", "0", "1024", "x", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(parse(text), Err("expected a whole number from 1 to 1023".to_owned()), "{text}");
        }
    }
}
