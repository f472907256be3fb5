//! The results of races between the candidates of a group.

use std::fmt;

use super::{AllreduceForm, SizeClass};
use crate::barrier::Barrier;

/// The results of the races among the members of a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Races {
    /// Between barriers.
    pub barrier: Race,
    /// Between trees to broadcast down, by their planners' names: a broadcast of 8 bytes from the tree's root and a barrier,
    /// the one that won, as without it the root would run ahead. `None` if the planners make only one tree, as for two
    /// members, or there is no room for two.
    pub broadcast: Option<Race<String>>,
    /// Between trees to reduce up: a reduction of 8 bytes to the tree's root, and a barrier.
    pub reduce: Option<Race<String>>,
    /// Between the forms of an allreduce, for each size class in which there was a choice, the smallest first: of single
    /// values of the most bytes of the class up to 512, of slices beyond. Slices race among threads only.
    pub allreduce: Vec<(SizeClass, Race<AllreduceForm>)>,
}

/// The result of one race.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Race<T = Barrier> {
    /// All candidates that ran, the fastest first.
    pub entries: Vec<Entry<T>>,
    /// The winner, which is used.
    pub winner: T,
    /// The fastest control, which the winner had to beat.
    pub control: T,
    /// The probability that the fastest of the others is this fast beside the control only by chance.
    pub p: f64,
    /// The number of candidates that could not run, as the memory of the group had no room for their lines.
    pub left_out: usize,
    /// True if an earlier group like this one has run it.
    pub is_cached: bool,
}

/// One that took part in a race.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry<T = Barrier> {
    /// Its name.
    pub racer: T,
    /// Its predicted cost by the model, in the model's unit.
    pub predicted: f64,
    /// Nanoseconds for one operation: the median over the rounds of the slowest member's time.
    pub median_ns: f64,
    /// Rounds it took part in.
    pub rounds: usize,
}

/// The result of one candidate.
#[derive(Debug)]
pub(crate) struct CandidateResult {
    pub(crate) median_ns: f64,
    pub(crate) rounds: usize,
}

/// By index.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) winner: usize,
    pub(crate) control: usize,
    /// The fastest that is no control, unless it was dropped.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests ask which one came near"))]
    pub(crate) challenger: Option<usize>,
    pub(crate) p: f64,
}

impl<T: Clone + PartialEq> Race<T> {
    /// Of these racers and what each should cost, in the order of the rounds.
    pub(crate) fn of(
        racers: Vec<(T, f64)>,
        (raced, verdict): (Vec<CandidateResult>, Verdict),
        left_out: usize,
    ) -> Self {
        let (winner, control) = (racers[verdict.winner].0.clone(), racers[verdict.control].0.clone());
        let entry =
            |((racer, predicted), CandidateResult { median_ns, rounds })| Entry { racer, predicted, median_ns, rounds };
        let mut entries: Vec<_> = racers.into_iter().zip(raced).map(entry).collect();
        entries.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns));
        Self { entries, winner, control, p: verdict.p, left_out, is_cached: false }
    }

    /// The time of one operation of a candidate that ran; NaN if it did not.
    pub(crate) fn median_ns(&self, racer: &T) -> f64 {
        self.entries.iter().find(|entry| entry.racer == *racer).map_or(f64::NAN, |entry| entry.median_ns)
    }
}

impl<T: Clone + PartialEq + fmt::Display> fmt::Display for Race<T> {
    /// The reason why the winner is used, and then a line for each candidate that ran.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { winner, control, p, left_out, .. } = self;
        let when = if self.is_cached { "in an earlier race" } else { "in a race" };
        let (fast, slow) = (self.median_ns(winner), self.median_ns(control));
        match winner == control {
            true => write!(f, "{when} nothing was clearly faster than the control {control}, {slow:.0} ns")?,
            false => write!(f, "{when} it took {fast:.0} ns and the control {control} {slow:.0} ns (p {p:.4})")?,
        }
        if *left_out > 0 {
            write!(f, "; no room for {left_out} more")?;
        }
        for Entry { racer, predicted, median_ns, rounds } in &self.entries {
            write!(f, "\n  {racer}: {median_ns:.0} ns in {rounds} rounds, predicted {predicted:.0}")?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn race(left_out: usize) -> Race<&'static str> {
        let racers = vec![("slow", 7.0), ("fast", 9.0)];
        let raced = [30.4, 20.0].map(|median_ns| CandidateResult { median_ns, rounds: 31 }).into();
        Race::of(racers, (raced, Verdict { winner: 1, control: 0, challenger: Some(1), p: 0.001 }), left_out)
    }

    #[test]
    fn a_race_tells_who_won_and_who_had_no_room() {
        let expected = "in a race it took 20 ns and the control slow 30 ns (p 0.0010)\n  \
                        fast: 20 ns in 31 rounds, predicted 9\n  slow: 30 ns in 31 rounds, predicted 7";
        assert_eq!(race(0).to_string(), expected);
        let (first, _) = expected.split_once('\n').expect("several lines");
        assert!(race(2).to_string().starts_with(&format!("{first}; no room for 2 more\n")));
        let kept = Race { winner: "slow", is_cached: true, ..race(0) }.to_string();
        assert!(kept.starts_with("in an earlier race nothing was clearly faster than the control slow, 30 ns\n"));
    }
}
