//! Times that the environment sets, in seconds.

use std::time::Duration;

use crate::error::OpenError;

/// The time that a variable sets; `None` without the variable.
pub(crate) fn seconds_of(variable: &'static str) -> Result<Option<Duration>, OpenError> {
    let Some(value) = std::env::var_os(variable) else { return Ok(None) };
    let value = value.to_string_lossy().into_owned();
    parsed(&value).map(Some).ok_or(OpenError::BadTime { variable, value })
}

fn parsed(value: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(value.trim().parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_times_are_refused() {
        assert_eq!(parsed(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(parsed("0"), Some(Duration::ZERO));
        for wrong in ["", "-1", "1 s", "inf", "NaN", "1e30"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
