//! The counts of one client in a block, and of all of them.

use corecast::base::Clock;
use serde::{Deserialize, Serialize};

/// The counts of one client. The start and the end are ticks of [`Clock`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Transactions that committed, but for sums of all accounts; round trips of `mp`.
    pub(super) commits: u64,
    /// Sums of all accounts that committed.
    pub(super) scans: u64,
    /// Attempts that were not the last of their transaction.
    pub(super) aborts: u64,
    /// Nanoseconds in attempts that committed, where they are taken.
    pub(super) effective: u64,
    /// Whether the client only sums all accounts.
    pub(super) is_reader: bool,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The results of one block.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    /// By client.
    pub(super) tallies: Vec<Tally>,
    /// From the first client's start to the last one's end.
    pub(super) seconds: f64,
}

impl Turn {
    pub(super) fn of(tallies: Vec<Tally>) -> Self {
        let start = tallies.iter().map(|tally| tally.start).min().unwrap_or(0);
        let end = tallies.iter().map(|tally| tally.end).max().unwrap_or(0);
        Self { tallies, seconds: Clock::get().ns(end.saturating_sub(start)) / 1e9 }
    }

    pub(super) fn sum(&self, of: fn(&Tally) -> u64) -> u64 {
        self.tallies.iter().map(of).sum()
    }

    /// In a second.
    pub(super) fn rate(&self, of: fn(&Tally) -> u64) -> f64 {
        self.sum(of) as f64 / self.seconds
    }

    /// The same count of every client.
    pub(super) fn of_clients(&self, of: fn(&Tally) -> u64) -> Vec<u64> {
        self.tallies.iter().map(of).collect()
    }
}
