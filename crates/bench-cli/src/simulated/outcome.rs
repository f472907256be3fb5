//! The outcome of a sweep, as JSON has it.

use corecast_sim::{Disturbance, Stops, WhatIf, order_at_all};
use serde::Serialize;

use super::{Figure, Fill, Kills, Program, Row};

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
    /// The changes of the machine.
    pub(crate) what_if: WhatIf,
    /// CPUs that share a core slow each other down.
    pub(crate) smt: bool,
    /// The order in which CPUs are taken.
    pub(crate) fill: Fill,
    /// The first seed.
    pub(crate) seed: u64,
    /// The number of seeds.
    pub(crate) runs: u64,
    /// The disturbances of every run, but the kill.
    pub(crate) disturbance: Disturbance,
    /// The accesses before which a thread was killed, each in a run of its own.
    pub(crate) kills: Option<Kills>,
    /// The program's own options.
    pub(crate) options: Program,
    /// A row for each contender and step.
    pub(crate) rows: Vec<Row>,
}

impl Outcome {
    /// The machine, in a line that says that it is simulated.
    pub(crate) fn headline(&self) -> String {
        let Self { machine, cpus, what_if, smt, fill, seed, runs, version, .. } = self;
        let changed = if *what_if == WhatIf::default() { String::new() } else { format!(", {what_if}") };
        let shared = if *smt { ", cores shared" } else { "" };
        let spread = if *fill == Fill::Spread { ", taken by turns over packages and nodes" } else { "" };
        let seeds = if *runs == 1 {
            format!("seed {seed}")
        } else {
            format!("seeds {seed} to {}", seed.wrapping_add(runs - 1))
        };
        format!("SIMULATED: {machine} with {cpus} CPUs{changed}{shared}{spread}, {seeds}, corecast {version}")
    }

    /// The disturbances in words; `None` without any.
    pub(crate) fn disturbance_words(&self) -> Option<String> {
        let Disturbance { threads_per_cpu, unpinned, foreign_cpus, stops, .. } = self.disturbance;
        let shared = (threads_per_cpu > 1).then(|| format!("{threads_per_cpu} threads on each CPU"));
        let moving = unpinned.then(|| "threads move between CPUs".to_owned());
        let loaded = (foreign_cpus > 0).then(|| format!("another program on the first {foreign_cpus} of the CPUs"));
        let stopped = stops.map(|Stops { one_in, longest_us }| {
            format!("threads stopped before one access in {one_in}, for up to {longest_us} us")
        });
        let killed = self.kills.map(|Kills { first, last }| match first == last {
            true => format!("the last thread killed before its access {first}"),
            false => format!("the last thread killed before its accesses {first} to {last} in turn"),
        });
        let words: Vec<String> = [shared, moving, loaded, stopped, killed].into_iter().flatten().collect();
        (!words.is_empty()).then(|| format!("disturbed: {}", words.join("; ")))
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
