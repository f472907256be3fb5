//! The results of locks under changing load, as tables for people.

use corecast_bench::{FlipPhase, LockFlips};

use crate::columns;
use crate::columns::flips::COLUMNS;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::table::many;

/// The two phases that alternate, in words.
pub(crate) fn words(flips: &LockFlips) -> String {
    let [first, second] = flips.phases.each_ref().map(phase);
    let shared = if flips.oversubscribed { ", more threads than CPUs" } else { "" };
    format!("{first} and {second} in turns, {} ms each{shared}", flips.phase_ms)
}

fn phase(phase: &FlipPhase) -> String {
    let hold = if phase.hold_ns == 0 { String::new() } else { format!(" with {} ns held", phase.hold_ns) };
    format!("{}{hold}", many(phase.threads, "thread"))
}

/// A table for each situation; nothing where there is none.
pub(crate) fn describe(flips: &[LockFlips]) -> String {
    flips.iter().map(describe_one).collect()
}

fn describe_one(flips: &LockFlips) -> String {
    format!("{}\n{}", words(flips), columns::contenders(COLUMNS, &flips.rows))
}

/// Adds contenders of corecast's own that broke down.
pub(crate) fn add_own_failures(flips: &[LockFlips], own: &mut OwnFailures) {
    flips.iter().for_each(|flips| own.add(&words(flips), &flips.rows));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;
    use corecast_bench::FlipRow;

    #[test]
    fn the_alternating_quantity_stands_above_its_table() {
        let row = |contender: &str, skipped: Option<&str>| FlipRow {
            contender: contender.to_owned(),
            ours: true,
            mops: [Some(20.5), Some(0.25)],
            settled_ms: [Some(3.0), Some(50.0)],
            skipped: skipped.map(str::to_owned),
            failed: false,
        };
        agree_with_json(COLUMNS, &row("auto", None), "bench locks", "flips[].rows[]");
        let phases = [FlipPhase { threads: 1, hold_ns: 0 }, FlipPhase { threads: 16, hold_ns: 20_000 }];
        let rows = vec![row("auto", None), row("std", Some("no thread"))];
        let text = describe(&[LockFlips { phases, phase_ms: 100, oversubscribed: true, rows }]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "1 thread and 16 threads with 20000 ns held in turns, 100 ms each, more threads than CPUs"
        );
        let words: Vec<&str> = lines[2].split_whitespace().collect();
        assert_eq!(words, ["auto", "20.500", "0.250", "3", "50"]);
        assert_eq!(lines[3], "   skipped, no thread: std");
        assert_eq!(describe(&[]), "");
    }
}
