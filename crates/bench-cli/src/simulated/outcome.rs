//! The outcome of a sweep, as JSON has it.

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
    /// A row for each contender and number of threads.
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

    /// The numbers of threads, ascending.
    pub(crate) fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.rows.iter().map(|row| row.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The contenders, in their order, each once.
    pub(crate) fn contenders(&self) -> Vec<&str> {
        let mut contenders: Vec<&str> = self.rows.iter().map(|row| row.contender.as_str()).collect();
        contenders.dedup();
        contenders
    }

    /// The row of a contender with this number of threads.
    pub(crate) fn row(&self, contender: &str, threads: usize) -> Option<&Row> {
        self.rows.iter().find(|row| row.contender == contender && row.threads == threads)
    }

    /// The words about the figure: what it is, in which unit, and which direction is better.
    pub(crate) fn figure_words(&self) -> String {
        let Figure { figure, unit, higher_is_better, .. } = self.figure;
        format!("{figure}, {unit} ({} is better)", if higher_is_better { "higher" } else { "lower" })
    }
}
