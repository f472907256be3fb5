//! The situations of transactional memories in words, for the terminal and for pages.

use corecast_bench::{TmCell, TmReport};
use corecast_cli::table::many;

/// A situation with its number of participants.
pub(crate) fn title(cell: &TmCell) -> String {
    let shared = if cell.oversubscribed { ", more participants than CPUs" } else { "" };
    format!("{}, {}{shared}", work(cell), many(cell.participants, "participant"))
}

/// The workload and its numbers.
pub(crate) fn work(cell: &TmCell) -> String {
    let checks = cell.checks_percent.map(|percent| format!("{percent} % check"));
    let readers = cell.readers.filter(|readers| *readers > 0).map(|readers| format!("{readers} only sum all accounts"));
    let some = |percent: Option<u32>, of: &str| {
        percent.filter(|percent| *percent > 0).map(|percent| format!("{percent} % {of}"))
    };
    let scans = some(cell.scans_percent, "sum all accounts");
    let initial = cell.initial.map(|initial| format!("{initial} keys of twice as many"));
    let load = cell.load.map(|load| format!("{load} in a bucket"));
    let updates = cell.updates_percent.map(|percent| format!("{percent} % updates"));
    let (moves, snapshots) = (some(cell.moves_percent, "moves"), some(cell.snapshots_percent, "look at all keys"));
    let numbers = [checks, readers, scans, initial, load, updates, moves, snapshots].into_iter().flatten();
    numbers.fold(cell.workload.to_owned(), |words, number| format!("{words}, {number}"))
}

/// The figure about one lock in place of transactions, which no gate judges.
pub(crate) fn over_one_lock(report: &TmReport) -> Option<String> {
    let of = "bank without checks, a client on each CPU: transactions of shared-fair-cm / of one auto lock";
    report.over_one_lock.map(|ratio| format!("{of}: {ratio:.2}, not judged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn situations_have_their_numbers() {
        let (checks_percent, readers, participants) = (Some(50), Some(1), 3);
        let numbers = TmCell { checks_percent, readers, scans_percent: Some(0), participants, ..TmCell::default() };
        let bank = TmCell { workload: "bank", oversubscribed: true, ..numbers };
        let words = "bank, 50 % check, 1 only sum all accounts, 3 participants, more participants than CPUs";
        assert_eq!(title(&bank), words);
        let list = TmCell { workload: "list", initial: Some(128), updates_percent: Some(10), ..TmCell::default() };
        assert_eq!(work(&list), "list, 128 keys of twice as many, 10 % updates");
        let table =
            TmCell { workload: "table", moves_percent: Some(20), snapshots_percent: Some(1), ..TmCell::default() };
        assert_eq!(work(&table), "table, 20 % moves, 1 % look at all keys");
    }
}
