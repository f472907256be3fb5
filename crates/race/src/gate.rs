//! The demands on corecast's channels and collectives, and whether they are met here.
//!
//! A gate that this machine or this run cannot judge says what it would take. None is met by changing a baseline.

use serde::Serialize;

/// One demand and how it fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The quantity that is compared or counted, in words.
    pub gate: String,
    /// The number that is asked for, a ratio unless the words say otherwise: at least this, or at most if `is_most`.
    pub limit: f64,
    /// Whether the limit is the largest number that will do.
    pub is_most: bool,
    /// The number found.
    pub measured: Option<f64>,
    /// How it fared.
    pub verdict: Verdict,
    /// The means that it would take to judge it; `null` if it was judged.
    pub needs: Option<String>,
    /// A figure that a reader should know beside the one that is judged, in words; `null` if there is none.
    pub told: Option<String>,
}

/// How a gate fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It was missed.
    Missed,
    /// This run cannot tell.
    NotJudged,
}

impl Gate {
    /// A demand with the number found, or what it would take to find it.
    pub fn new(gate: String, limit: f64, is_most: bool, found: Result<f64, String>) -> Self {
        let (measured, needs) = match found {
            Ok(measured) => (Some(measured), None),
            Err(needs) => (None, Some(needs)),
        };
        let verdict = match measured {
            None => Verdict::NotJudged,
            Some(found) if (is_most && found <= limit) || (!is_most && found >= limit) => Verdict::Holds,
            Some(_) => Verdict::Missed,
        };
        Self { gate, limit, is_most, measured, verdict, needs, told: None }
    }

    /// The same, with a figure that is told and not judged.
    #[must_use]
    pub fn telling(self, told: Option<String>) -> Self {
        Self { told, ..self }
    }
}

/// A demand that one command judges and others name.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// As [`Gate::gate`].
    pub gate: &'static str,
    /// As [`Gate::limit`].
    pub limit: f64,
    /// As [`Gate::is_most`].
    pub is_most: bool,
    /// The command that judges it.
    pub command: &'static str,
}

impl Demand {
    /// How it fared, with the number found or what it would take to find it.
    pub fn judge(&self, found: Result<f64, String>) -> Gate {
        Gate::new(self.gate.to_owned(), self.limit, self.is_most, found)
    }

    /// The means that it would take to judge it elsewhere.
    pub fn needs(&self) -> String {
        format!("`{}`, which judges it", self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_holds_is_missed_or_is_not_judged() {
        let demand = |is_most| Demand { gate: "a / b", limit: 1.5, is_most, command: "corecast bench a" };
        let verdict = |is_most, found| demand(is_most).judge(Ok(found)).verdict;
        assert_eq!(
            [1.5, 1.4, 1.6].map(|found| verdict(true, found)),
            [Verdict::Holds, Verdict::Holds, Verdict::Missed]
        );
        assert_eq!(
            [1.5, 1.4, 1.6].map(|found| verdict(false, found)),
            [Verdict::Holds, Verdict::Missed, Verdict::Holds]
        );
        let elsewhere = demand(true).judge(Err(demand(true).needs()));
        assert_eq!((elsewhere.verdict, elsewhere.measured), (Verdict::NotJudged, None));
        assert_eq!(elsewhere.needs.as_deref(), Some("`corecast bench a`, which judges it"));
        let told = elsewhere.clone().telling(Some("2.00 at night".to_owned()));
        assert_eq!(
            (told.verdict, elsewhere.told.is_none(), told.told.as_deref()),
            (Verdict::NotJudged, true, Some("2.00 at night"))
        );
    }
}
