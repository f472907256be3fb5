//! The date in the form of RFC 3339, in UTC.
//!
//! Source: the conversion of a day count into the proleptic Gregorian calendar by eras of 400 years, as described by
//! H. Hinnant, chrono-Compatible Low-Level Date Algorithms, 2013.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// The date and time now, such as `2024-02-29T23:59:59Z`. A clock before 1970 counts as 1970.
pub fn now() -> String {
    rfc3339(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

fn rfc3339(unix_s: u64) -> String {
    let (year, month, day) = civil(unix_s / SECONDS_PER_DAY);
    let second = unix_s % SECONDS_PER_DAY;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// Year, month and day of a day counted from 1970-01-01. Years begin in March here, so that the leap day comes last.
fn civil(unix_day: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_PER_ERA: u64 = 146_097;
    let day = unix_day + DAYS_TO_1970;
    let day_of_era = day % DAYS_PER_ERA;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    let year = 400 * (day / DAYS_PER_ERA) + year_of_era + u64::from(month <= 2);
    (year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        for (unix_s, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_704_067_200, "2024-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(unix_s), expected);
        }
        assert!(now().as_str() > "2024");
    }
}
