//! The verdict of a race: corecast's own choice against the fastest rival, as plain when it loses as when it wins.

use corecast_race::Group;

use super::number::{ratio, time};
use super::ranking::{Entrant, ranking};

/// The contender that corecast takes by itself, and the fastest one that is not corecast's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict<'a> {
    pub(super) ours: Entrant<'a>,
    pub(super) rival: Entrant<'a>,
    pub(super) outcome: Outcome,
}

/// How the two compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Corecast is faster by more than the spread.
    Faster,
    /// Corecast is slower by more than the spread.
    Slower,
    /// The spans from the 10th to the 90th percentile overlap.
    Level,
}

impl Outcome {
    /// In a word, which is a class of the style sheet too.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Level => "level",
        }
    }
}

impl<'a> Verdict<'a> {
    /// `None` if corecast or every rival was skipped.
    pub(super) fn of(group: &'a Group) -> Option<Self> {
        let ranking = ranking(group);
        let ours = *ranking.iter().find(|entrant| entrant.is_reference)?;
        let rival = *ranking.iter().find(|entrant| !entrant.is_ours)?;
        let outcome = if ours.times.p90_ns < rival.times.p10_ns {
            Outcome::Faster
        } else if ours.times.p10_ns > rival.times.p90_ns {
            Outcome::Slower
        } else {
            Outcome::Level
        };
        Some(Self { ours, rival, outcome })
    }

    /// How many times the median of the one the median of the other is, above 1; `None` if one of them is 0.
    pub(super) fn factor(&self) -> Option<f64> {
        let (ours, rival) = (self.ours.times.median_ns, self.rival.times.median_ns);
        (ours > 0.0 && rival > 0.0).then(|| (ours / rival).max(rival / ours))
    }

    /// In a sentence.
    pub(super) fn sentence(&self) -> String {
        let (ours, rival) = (self.ours.times.median_ns, self.rival.times.median_ns);
        let factor = self.factor().map_or_else(|| "much".to_owned(), ratio);
        let comparison = match self.outcome {
            Outcome::Faster => format!("{factor} faster than"),
            Outcome::Slower => format!("{factor} slower than"),
            Outcome::Level => "within the spread of".to_owned(),
        };
        format!(
            "{} takes {} in the median: {comparison} the fastest rival, {} with {}.",
            self.ours.name,
            time(ours),
            self.rival.name,
            time(rival)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn verdict(ours: f64, rival: f64) -> (Outcome, String) {
        let report = example::duel(ours, rival);
        let verdict = Verdict::of(&report.groups[0]).expect("both took part");
        (verdict.outcome, verdict.sentence())
    }

    #[test]
    fn a_loss_is_said_as_plainly_as_a_win() {
        let (outcome, sentence) = verdict(100.0, 450.0);
        assert_eq!(outcome, Outcome::Faster);
        assert_eq!(
            sentence,
            "corecast takes 100 ns in the median: 4.50× faster than the fastest rival, rival with 450 ns."
        );
        let (outcome, sentence) = verdict(450.0, 100.0);
        assert_eq!(outcome, Outcome::Slower);
        assert!(sentence.contains("4.50× slower than the fastest rival"), "{sentence}");
    }

    #[test]
    fn an_overlap_is_no_win() {
        assert_eq!(verdict(100.0, 105.0).0, Outcome::Level);
        assert_eq!(verdict(105.0, 100.0).0, Outcome::Level);
    }

    #[test]
    fn without_a_rival_there_is_no_verdict() {
        let mut report = example::duel(1.0, 2.0);
        report.groups[0].rows.retain(|row| row.ours);
        assert!(Verdict::of(&report.groups[0]).is_none());
    }
}
