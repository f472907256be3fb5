//! The progress of a measurement, for a caller that draws it: libraries do not print.

use std::time::Duration;

/// One report of how far the measurement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// The current part of the measurement, as plain text.
    pub label: &'a str,
    /// Rounds of pairs done.
    pub done: usize,
    /// Rounds that there will be, as far as can be told now: it is revised as intervals get narrow, and is never below
    /// `done`.
    pub total: usize,
    /// Time that is left, as far as can be told now.
    pub left: Option<Duration>,
}

/// A receiver of progress reports.
pub trait Progress {
    /// Called after each round of pairs and at the start of each other part, on the thread that called
    /// [`measure`](super::measure()); its time is not part of any measured cost.
    fn step(&mut self, step: &Step<'_>);
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: &Step<'_>) {}
}
