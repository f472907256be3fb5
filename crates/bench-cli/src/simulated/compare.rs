//! Simulated figures beside those measured on the machine at hand: locks, barriers, collectives, messages and atomic operations.
//!
//! The machine is simulated from its own model (`counterpart`); what is measured comes from the benchmarks as they are
//! (`at_hand`), and the simulation plays what they do as closely as it can. Both are told with how well they agree, beside how
//! well runs of the measurement agree among themselves.

use corecast::Machine;
use corecast_race::harness::median;
use corecast_race::{BenchError, Options, Progress};
use corecast_sim::machine::Machine as Simulated;
use corecast_sim::{Agreement, BothFigures, PairsInOrder, Repeated};
use serde::Serialize;

use super::at_hand::{Figures, measure};
use super::counterpart::simulate;

/// Threads of what is compared with two only.
const THREADS: usize = 2;

/// The things that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compared {
    /// A lock that nobody else wants, taken and freed.
    LocksAlone,
    /// Two threads that compete for a lock.
    Locks,
    /// Members at a barrier, over and over.
    Barriers,
    /// Broadcasts, reductions and allreductions of members; more members than CPUs only do the last ones.
    Collectives,
    /// Messages of one line between two threads: there and back, and streams.
    Messages,
    /// Two threads that call an atomic operation on one word.
    Atomics,
}

/// The figures of one contender.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ComparedRow {
    /// Its name.
    pub(crate) contender: String,
    /// The figure of the simulated machine; `None` if a run did not end.
    pub(crate) simulated: Option<f64>,
    /// The figure of the real one: the median of the runs.
    pub(crate) measured: f64,
    /// The first divided by the second.
    pub(crate) ratio: Option<f64>,
    /// Why there is no simulated figure.
    pub(crate) failed: Option<String>,
}

/// All contenders at one of these things.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    /// The thing that is compared.
    pub(crate) what: Compared,
    /// Its threads or members.
    pub(crate) members: usize,
    /// The unit of its figures.
    pub(crate) unit: &'static str,
    /// True if a higher figure is better.
    pub(crate) higher_is_better: bool,
    /// One for each contender that was measured.
    pub(crate) rows: Vec<ComparedRow>,
    /// The median of the ratios, the least and the greatest.
    pub(crate) ratios: Option<[f64; 3]>,
    /// Spearman's coefficient of the two orders.
    pub(crate) rank_correlation: Option<f64>,
    /// The pairs of contenders of which one is above the other in all runs of the measurement, and those of them that have the
    /// simulated order.
    pub(crate) pairs_that_differ: usize,
    pub(crate) pairs_in_order: usize,
    /// By how much the measured figure of the simulated best is worse than the best.
    pub(crate) choice_loss: Option<f64>,
    /// Spearman's coefficient of one run of the measurement and another one, the mean of all pairs.
    pub(crate) repeated_rank_correlation: Option<f64>,
    /// By how much the best of one run is worse than the best in another one, the mean of all pairs.
    pub(crate) repeated_choice_loss: Option<f64>,
    /// Whether the median is within 0.8 to 1.25, and no figure off by more than a factor of 2.
    pub(crate) holds: Option<bool>,
}

impl Compared {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::LocksAlone, Self::Locks, Self::Barriers, Self::Collectives, Self::Messages, Self::Atomics];

    /// Its name, as the command line has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LocksAlone => "locks-alone",
            Self::Locks => "locks",
            Self::Barriers => "barriers",
            Self::Collectives => "collectives",
            Self::Messages => "messages",
            Self::Atomics => "atomics",
        }
    }

    pub(super) fn higher_is_better(self) -> bool {
        matches!(self, Self::Locks | Self::Atomics)
    }

    fn unit(self) -> &'static str {
        if self.higher_is_better() { "M/s" } else { "ns" }
    }
}

/// The things to compare.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Which ones.
    pub(crate) what: Vec<Compared>,
    /// The members of barriers and collectives.
    pub(crate) members: Vec<usize>,
    /// How often each is measured.
    pub(crate) runs: usize,
}

impl Asked {
    /// The things, with the threads or members of each.
    fn subjects(&self) -> Vec<(Compared, usize)> {
        let of = |&what: &Compared| match what {
            Compared::LocksAlone => vec![(what, 1)],
            Compared::Barriers | Compared::Collectives => self.members.iter().map(|&members| (what, members)).collect(),
            Compared::Locks | Compared::Messages | Compared::Atomics => vec![(what, THREADS)],
        };
        self.what.iter().flat_map(of).collect()
    }
}

/// Measures all of these on the machine at hand, in turns, and simulates them on `simulated`, which is made of its model.
///
/// # Errors
/// A [`BenchError`] if there are not two CPUs, or the run is cancelled. A simulation without an outcome is a row that says so.
pub(crate) fn compare(
    machine: &Machine,
    simulated: &Simulated,
    asked: &Asked,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Comparison>, BenchError> {
    let seed = options.seed.unwrap_or(1);
    let subjects = asked.subjects();
    let mut measured: Vec<Vec<Figures>> = vec![Vec::new(); subjects.len()];
    for run in 0..asked.runs as u64 {
        let options = Options { seed: Some(seed.wrapping_add(run)), ..options.clone() };
        for (&(what, members), runs) in subjects.iter().zip(&mut measured) {
            options.go_on()?;
            runs.push(measure(machine, what, members, &options, progress)?);
        }
    }
    let one = |(&(what, members), runs): (&(Compared, usize), Vec<Figures>)| {
        options.go_on()?;
        Ok(comparison(what, members, &runs, |contender| simulate(simulated, what, members, contender, seed)))
    };
    subjects.iter().zip(measured).map(one).collect()
}

/// Measured figures beside simulated ones. Contenders that have no figure in one of the runs are left out.
fn comparison(
    what: Compared,
    members: usize,
    runs: &[Figures],
    simulate: impl Fn(&str) -> Result<f64, String>,
) -> Comparison {
    let figure = |run: &Figures, name: &str| run.iter().find(|(known, _)| known == name).map(|(_, figure)| *figure);
    let of_all = |name: &String| runs.iter().map(|run| figure(run, name)).collect::<Option<Vec<f64>>>();
    let names = runs.first().into_iter().flatten().map(|(name, _)| name);
    let measured: Vec<(String, Vec<f64>)> = names.filter_map(|name| Some((name.clone(), of_all(name)?))).collect();
    let by_run: Vec<Vec<f64>> =
        (0..runs.len()).map(|run| measured.iter().map(|(_, figures)| figures[run]).collect()).collect();
    let repeated = Repeated::of(&by_run, what.higher_is_better());
    let row = |(contender, figures): &(String, Vec<f64>)| compared_row(contender, figures, simulate(contender));
    let rows: Vec<ComparedRow> = measured.iter().map(row).collect();
    let ordered = pairs_in_order(&rows, &measured);
    let pair = |row: &ComparedRow| {
        let ComparedRow { contender, simulated, measured, .. } = row;
        Some(BothFigures { contender: contender.clone(), simulated: (*simulated)?, measured: *measured })
    };
    let pairs: Vec<BothFigures> = rows.iter().filter_map(pair).collect();
    let agreement = Agreement::of(&pairs, what.higher_is_better());
    Comparison {
        what,
        members,
        unit: what.unit(),
        higher_is_better: what.higher_is_better(),
        ratios: agreement.as_ref().map(|found| [found.median_ratio, found.least_ratio, found.most_ratio]),
        rank_correlation: agreement.as_ref().and_then(|found| found.rank_correlation),
        pairs_that_differ: ordered.differ,
        pairs_in_order: ordered.in_order,
        choice_loss: agreement.as_ref().map(|found| found.choice_loss),
        repeated_rank_correlation: repeated.and_then(|found| found.rank_correlation),
        repeated_choice_loss: repeated.map(|found| found.choice_loss),
        holds: agreement.as_ref().map(Agreement::holds),
        rows,
    }
}

fn pairs_in_order(rows: &[ComparedRow], measured: &[(String, Vec<f64>)]) -> PairsInOrder {
    let both = rows.iter().zip(measured).filter_map(|(row, (_, figures))| Some((row.simulated?, &figures[..])));
    PairsInOrder::of(&both.collect::<Vec<(f64, &[f64])>>())
}

fn compared_row(contender: &str, figures: &[f64], simulated: Result<f64, String>) -> ComparedRow {
    let measured = median(figures).expect("a run at least");
    let ratio = simulated.as_ref().ok().map(|simulated| simulated / measured);
    let failed = simulated.as_ref().err().cloned();
    ComparedRow { contender: contender.to_owned(), measured, ratio, failed, simulated: simulated.ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_median_and_runs_are_compared_with_each_other() {
        let run = |figures: [f64; 2]| vec![("a".to_owned(), figures[0]), ("b".to_owned(), figures[1])];
        let runs = [run([1.0, 4.0]), run([2.0, 5.0]), run([3.0, 1.0])];
        let simulate = |name: &str| if name == "a" { Ok(4.0) } else { Err("it hung".to_owned()) };
        let found = comparison(Compared::Barriers, 4, &runs, simulate);
        assert_eq!(found.rows.iter().map(|row| row.measured).collect::<Vec<_>>(), [2.0, 4.0]);
        assert_eq!((found.rows[0].ratio, found.rows[1].failed.as_deref()), (Some(2.0), Some("it hung")));
        assert_eq!((found.members, found.ratios), (4, Some([2.0, 2.0, 2.0])));
        assert_eq!((found.pairs_that_differ, found.pairs_in_order), (0, 0), "b has no simulated figure");
        // Two pairs of the six have the same order.
        assert!(found.repeated_rank_correlation.is_some_and(|found| (found + 1.0 / 3.0).abs() < 1e-9));
        let lacking = [run([1.0, 4.0]), vec![("a".to_owned(), 2.0)]];
        let found = comparison(Compared::Barriers, 4, &lacking, simulate);
        assert_eq!(found.rows.len(), 1, "b was not measured twice");
        let alone = comparison(Compared::Barriers, 4, &runs[..1], simulate);
        assert_eq!((alone.repeated_rank_correlation, alone.repeated_choice_loss), (None, None));
    }

    #[test]
    fn barriers_and_collectives_are_compared_with_all_members() {
        let asked = Asked { what: Compared::ALL.to_vec(), members: vec![2, 8], runs: 1 };
        let of = |what| asked.subjects().into_iter().filter(move |subject| subject.0 == what).map(|subject| subject.1);
        assert_eq!(of(Compared::Barriers).collect::<Vec<_>>(), [2, 8]);
        assert_eq!(of(Compared::Collectives).collect::<Vec<_>>(), [2, 8]);
        assert_eq!(of(Compared::Locks).collect::<Vec<_>>(), [2]);
        assert_eq!(of(Compared::LocksAlone).collect::<Vec<_>>(), [1]);
    }
}
