//! The result of a race between the candidates of a group, as `explain --json` and `tune --json` print it.

use corecast::collective::{Entry, Race};
use serde::Serialize;

/// The result of one race.
#[derive(Debug, Serialize)]
pub(crate) struct RaceJson {
    cached: bool,
    control: String,
    p: f64,
    left_out: usize,
    entries: Vec<RacerJson>,
}

/// A candidate that ran.
#[derive(Debug, Serialize)]
struct RacerJson {
    name: String,
    predicted: f64,
    median_ns: f64,
    rounds: usize,
}

impl RaceJson {
    pub(crate) fn of<T: ToString>(race: &Race<T>) -> Self {
        let racer = |entry: &Entry<T>| RacerJson {
            name: entry.racer.to_string(),
            predicted: entry.predicted,
            median_ns: entry.median_ns,
            rounds: entry.rounds,
        };
        let entries = race.entries.iter().map(racer).collect();
        let (control, left_out) = (race.control.to_string(), race.left_out);
        Self { cached: race.is_cached, control, p: race.p, left_out, entries }
    }
}
