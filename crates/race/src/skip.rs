//! The reasons why a contender has no figures, and whether it broke down.
//!
//! A contender that cannot take part (it is not installed, or not made for this number of participants) is no fault of a run.
//! One that began and did not come to its end is: if it is corecast's own, the run has failed.

use crate::failure::Failure;

/// Why a contender has no figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// In words.
    pub reason: String,
    /// It began and did not come to its end.
    pub failed: bool,
}

impl Skip {
    /// It cannot take part.
    pub fn unfit(reason: impl ToString) -> Self {
        Self { reason: reason.to_string(), failed: false }
    }

    /// It took part, and this came between.
    pub fn broken(failure: &Failure) -> Self {
        Self { reason: failure.to_string(), failed: true }
    }

    /// It was asked whether it can take part, and this came of it: an error of its own says that it cannot.
    pub fn asked(failure: &Failure) -> Self {
        Self { reason: failure.to_string(), failed: failure.is_breakdown() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_before_the_begin_is_a_refusal_and_a_breakdown_never_is() {
        let refused = Failure::Refused("needs 2 CPUs".to_owned());
        assert!(!Skip::asked(&refused).failed && Skip::broken(&refused).failed);
        let hung = Failure::Hung { missing: vec![3], limit_ms: 2000 };
        assert!(Skip::asked(&hung).failed);
        assert_eq!(Skip::broken(&hung).reason, "members [3] did not finish within 2000 ms");
        assert!(Skip::asked(&Failure::Ended("a process ended".to_owned())).failed);
        assert!(!Skip::unfit("not here").failed);
    }
}
