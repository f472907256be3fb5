//! Numbers as people read them: three significant digits, grouped thousands, units that fit.

use corecast::machine::Unit;

use crate::table::INFINITE;

/// Between groups of thousands: a narrow space that does not break.
const GROUP: char = '\u{202f}';

/// Three significant digits, none behind the point of a whole number or from 100 on, thousands grouped from 10000 on.
pub fn significant(value: f64) -> String {
    if value.is_infinite() {
        return INFINITE.to_owned();
    }
    let decimals = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        _ => 3,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// A cost in the machine's unit.
pub fn cost(value: f64, unit: Unit) -> String {
    format!("{} {unit}", significant(value))
}

/// A time in the unit that fits it.
pub fn time(time_ns: f64) -> String {
    if time_ns.is_infinite() {
        return INFINITE.to_owned();
    }
    let (value, unit) = match time_ns.abs() {
        999.5e6.. => (time_ns / 1e9, "s"),
        999.5e3.. => (time_ns / 1e6, "ms"),
        999.5.. => (time_ns / 1e3, "µs"),
        _ => (time_ns, "ns"),
    };
    format!("{} {unit}", significant(value))
}

/// How many times something is of something else.
pub fn ratio(value: f64) -> String {
    if value.is_infinite() {
        return INFINITE.to_owned();
    }
    let digits = if value < 9.995 { format!("{value:.2}") } else { significant(value) };
    format!("{digits}×")
}

/// The middle of these numbers; `None` if there are none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[values.len() / 2]))
}

fn grouped(number: &str) -> String {
    let digits = number.chars().take_while(char::is_ascii_digit).count();
    if digits < 5 {
        return number.to_owned();
    }
    let mut text = String::with_capacity(number.len() + digits);
    for (i, character) in number.chars().enumerate() {
        if i > 0 && i < digits && (digits - i) % 3 == 0 {
            text.push(GROUP);
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_fit_the_size() {
        for (value, expected) in [
            (0.0, "0"),
            (0.1234, "0.123"),
            (0.9996, "1.00"),
            (62.0, "62"),
            (9.876, "9.88"),
            (9.999, "10.0"),
            (99.96, "100"),
            (1426.2, "1426"),
            (12345.0, "12\u{202f}345"),
            (1234567.0, "1\u{202f}234\u{202f}567"),
        ] {
            assert_eq!(significant(value), expected, "{value}");
        }
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        assert_eq!([98.7, 1430.0, 2.1e6, 3e9].map(time), ["98.7 ns", "1.43 µs", "2.10 ms", "3 s"]);
        assert_eq!(time(999.7), "1.00 µs");
        assert_eq!([1.0, 0.456, 12.34, 450.2].map(ratio), ["1.00×", "0.46×", "12.3×", "450×"]);
    }

    #[test]
    fn an_infinite_number_is_written_as_such() {
        assert_eq!([significant, time, ratio].map(|write| write(f64::INFINITY)), ["∞", "∞", "∞"]);
    }

    #[test]
    fn the_middle_of_few() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }
}
