//! The outcome of a sweep, as JSON has it.

use corecast_sim::order_at_all;
use serde::Serialize;

use super::{Figure, Program, Row};

/// The outcome of a sweep.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// Always true.
    pub(crate) simulated: bool,
    /// The version of corecast.
    pub(crate) version: &'static str,
    #[serde(flatten)]
    pub(crate) figure: Figure,
    /// The name of the machine.
    pub(crate) machine: String,
    /// Where its costs come from.
    pub(crate) costs: String,
    /// The CPUs of the machine.
    pub(crate) cpus: usize,
    /// The factor of the interconnect's times.
    pub(crate) interconnect: f64,
    /// The first seed.
    pub(crate) seed: u64,
    /// The number of seeds.
    pub(crate) runs: u64,
    /// The program's own options.
    pub(crate) options: Program,
    /// A row for each contender and step.
    pub(crate) rows: Vec<Row>,
}

impl Outcome {
    /// The machine, in a line that says that it is simulated.
    pub(crate) fn headline(&self) -> String {
        let Self { machine, cpus, interconnect, seed, runs, version, .. } = self;
        let changed = if *interconnect == 1.0 { String::new() } else { format!(", interconnect x {interconnect}") };
        let seeds = if *runs == 1 {
            format!("seed {seed}")
        } else {
            format!("seeds {seed} to {}", seed.wrapping_add(runs - 1))
        };
        format!("SIMULATED: {machine} with {cpus} CPUs{changed}, {seeds}, corecast {version}")
    }

    /// The steps, ascending.
    pub(crate) fn steps(&self) -> Vec<usize> {
        let mut steps: Vec<usize> = self.rows.iter().map(|row| row.step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The contenders, in their order, each once.
    pub(crate) fn contenders(&self) -> Vec<&str> {
        let mut contenders: Vec<&str> = self.rows.iter().map(|row| row.contender.as_str()).collect();
        contenders.dedup();
        contenders
    }

    /// The row of a contender at this step.
    pub(crate) fn row(&self, contender: &str, step: usize) -> Option<&Row> {
        self.rows.iter().find(|row| row.contender == contender && row.step == step)
    }

    /// True if it depends on assumptions whether this contender or the best one of the same step is ahead.
    pub(crate) fn is_tie(&self, row: &Row) -> bool {
        let same = self.rows.iter().filter(|other| other.step == row.step);
        let figure = |row: &&Row| row.median.unwrap_or(f64::NAN);
        let ordered = |one: &&Row, other: &&Row| figure(one).total_cmp(&figure(other));
        let known = same.filter(|row| row.median.is_some());
        let best = if self.figure.higher_is_better { known.max_by(ordered) } else { known.min_by(ordered) };
        best.is_some_and(|best| {
            best != row && !row.corners.is_empty() && order_at_all(&best.corners, &row.corners).is_none()
        })
    }

    /// The words about the figure: what it is, in which unit, and which direction is better.
    pub(crate) fn figure_words(&self) -> String {
        let Figure { figure, unit, higher_is_better, .. } = self.figure;
        format!("{figure}, {unit} ({} is better)", if higher_is_better { "higher" } else { "lower" })
    }
}
