//! The input of a report, gathered by the caller: nothing here is measured or planned.

use corecast::Machine;
use corecast::plan::{Plan, Problem};
use corecast_race::Report;

use crate::planner_args::Timed;

/// Everything that a report shows. All texts may come from outside; they are escaped when they are written.
#[derive(Debug)]
pub(crate) struct ReportInput<'a> {
    /// The machine and what messages cost on it.
    pub(crate) machine: &'a Machine,
    /// The plans, in the order in which they are to be shown.
    pub(crate) trees: &'a [PlannedTree],
    /// The race; `None` if there was none.
    pub(crate) race: Option<&'a Report>,
    /// Further warnings that the reader should know before believing the numbers, beside those of machine and race.
    pub(crate) warnings: &'a [String],
    /// When the report was made: an RFC 3339 date, or any text.
    pub(crate) created_at: &'a str,
    /// The version of corecast.
    pub(crate) version: &'a str,
    /// The commands that make these numbers again.
    pub(crate) commands: &'a [String],
}

/// The tree that Smelt plans with.
pub(crate) const SMELT: &str = "adaptive+shuffle+sort";

/// A plan together with the costs that it was made from.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTree {
    /// Members and costs.
    pub(crate) problem: Problem,
    /// The plan among them, and how long it took to make.
    pub(crate) timed: Timed,
    /// What Smelt would do: its default tree, for every phase.
    pub(crate) smelt: Plan,
}
