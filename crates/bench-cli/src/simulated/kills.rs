//! The accesses before which a thread is killed, each in a run of its own.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The most kills in the place of one run.
const MOST: u64 = 10_000;

/// Kills before these accesses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kills {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Kills {
    /// The accesses.
    pub(crate) fn accesses(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
}

impl FromStr for Kills {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let both = first.parse().ok().zip(last.parse().ok()).map(|(first, last)| Self { first, last });
        let is_range = |kills: &Self| kills.first <= kills.last && kills.last - kills.first < MOST;
        both.filter(is_range).ok_or_else(|| {
            format!("expected the number of an access, or a range of at most {MOST}, such as 7 or 0..99")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_a_range_of_one() {
        assert_eq!("7".parse(), Ok(Kills { first: 7, last: 7 }));
        assert_eq!("0..99".parse(), Ok(Kills { first: 0, last: 99 }));
        for text in ["", "x", "9..7", "..7", "7..", "0..10000", "-1"] {
            assert!(text.parse::<Kills>().is_err(), "{text}");
        }
    }
}
