//! corecast's ticket lock and queues beside those of other libraries.
//!
//! The demand is to be no slower than the best rival: crate `spin` for the ticket lock, the MCS queue of crate `mcslock`, and the
//! CLH queue of crate `clhlock`, each with its counterpart in Concurrency Kit; `clh` is held against `mcslock`, too. libvsync is
//! in no package and is not raced: what a gate says here says nothing of it.

use super::contenders::{CLHLOCK, MCSLOCK, SPIN_TICKET};
use super::report::{LockCell, LockRow};
use crate::stats::least;
use corecast_race::gate::Gate;

/// Ours, and theirs.
const COUNTERPARTS: [(&str, &str); 7] = [
    ("ticket", SPIN_TICKET),
    ("mcs", MCSLOCK),
    ("clh", CLHLOCK),
    ("clh", MCSLOCK),
    ("ticket", "ck_ticket"),
    ("mcs", "ck_mcs"),
    ("clh", "ck_clh"),
];
const LIMIT: f64 = 0.95;

/// One for each, over all numbers of threads that were raced at one lock with a CPU each, the worst.
pub(super) fn judge(cells: &[LockCell]) -> Vec<Gate> {
    let is_like = |cell: &&LockCell| {
        (cell.locks, cell.hold_ns, cell.pinned) == (1, 0, true) && cell.is_plain() && !cell.oversubscribed
    };
    let judge = |&(own, theirs): &(&str, &str)| {
        let ratios = cells.iter().filter(is_like).filter_map(|cell| Some(mops(cell, own)? / mops(cell, theirs)?));
        let gate = format!("{own}, threads with a CPU each, one lock: acquisitions / those of {theirs}, the worst");
        let needs = || format!("{own} and {theirs}, one lock, no hold, pinned");
        Gate::new(gate, LIMIT, false, least(ratios).ok_or_else(needs))
    };
    COUNTERPARTS.iter().map(judge).collect()
}

fn mops(cell: &LockCell, name: &str) -> Option<f64> {
    let is_it = |row: &&LockRow| row.contender == name;
    cell.rows.iter().find(is_it).and_then(|row| row.mops)
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::*;
    use corecast_race::gate::Verdict;

    fn cell(threads: usize, rows: &[(&str, f64)]) -> LockCell {
        let row = |&(name, mops): &(&str, f64)| LockRow {
            contender: name.to_owned(),
            mops: Some(mops),
            ..LockRow::default()
        };
        let rows = rows.iter().map(row).collect();
        LockCell { threads, locks: 1, pinned: true, oversubscribed: threads > 4, rows, ..LockCell::default() }
    }

    #[test]
    fn the_worst_number_of_threads_counts() {
        let cells = [
            cell(1, &[("ticket", 10.0), (SPIN_TICKET, 10.0), ("mcs", 9.0)]),
            cell(2, &[("ticket", 9.0), (SPIN_TICKET, 10.0), ("mcs", 9.0), (MCSLOCK, 6.0)]),
            cell(16, &[("ticket", 1.0), (SPIN_TICKET, 10.0)]),
        ];
        let not_judged = (None, Verdict::NotJudged);
        let found: Vec<_> = judge(&cells).into_iter().map(|gate| (gate.measured, gate.verdict)).collect();
        assert_eq!(found[..2], [(Some(0.9), Verdict::Missed), (Some(1.5), Verdict::Holds)]);
        assert_eq!(found[2..], [not_judged; 5]);
    }

    #[test]
    fn all_of_them_are_contenders() {
        let names: Vec<&str> = contenders().iter().map(|contender| contender.name).collect();
        assert!(COUNTERPARTS.iter().all(|(own, theirs)| names.contains(own) && names.contains(theirs)), "{names:?}");
    }
}
