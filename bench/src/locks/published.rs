//! SSYNC's figures of locks on its machines, to be shown beside those found here.
//!
//! From David, Guerraoui, Trigonakis, Everything you always wanted to know about synchronization but were afraid to ask, SOSP
//! 2013, figure 8: throughput of the best lock with 36 threads, as a multiple of the best with one. The machines are of 2010
//! to 2012.

use serde::Serialize;

use super::report::LockCell;
use crate::stats::most;

/// One number of locks.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedScaling {
    /// The locks that threads choose from at random.
    pub locks: usize,
    /// The machine, and what was found there.
    pub machines: &'static [(&'static str, f64)],
    /// The most threads that had a CPU each here, and the same multiple; `null` where that was not measured.
    pub here: Option<(usize, f64)>,
}

const OPTERON: &str = "Opteron, 8 dies of 6";
const XEON: &str = "Xeon, 8 sockets of 10";
const NIAGARA: &str = "Niagara 2";
const TILERA: &str = "TILE-Gx36";

#[rustfmt::skip]
const SCALING: [(usize, &[(&str, f64)]); 4] = [
    (4, &[(OPTERON, 0.2), (XEON, 0.1), (NIAGARA, 3.7), (TILERA, 2.2)]),
    (16, &[(OPTERON, 0.5), (XEON, 0.2), (NIAGARA, 11.0), (TILERA, 6.1)]),
    (32, &[(OPTERON, 0.5), (XEON, 0.2), (NIAGARA, 15.9), (TILERA, 9.0)]),
    (128, &[(OPTERON, 0.6), (XEON, 0.7), (NIAGARA, 22.0), (TILERA, 15.6)]),
];

/// With what was found here in short sections and pinned threads, as there.
pub(super) fn beside(cells: &[LockCell]) -> Vec<PublishedScaling> {
    SCALING.iter().map(|&(locks, machines)| PublishedScaling { locks, machines, here: here(cells, locks) }).collect()
}

fn here(cells: &[LockCell], locks: usize) -> Option<(usize, f64)> {
    let is_like = |cell: &&LockCell| cell.locks == locks && cell.pinned && cell.hold_ns == 0 && cell.is_plain();
    let like = || cells.iter().filter(is_like).filter(|cell| !cell.oversubscribed);
    let best = |cell: &LockCell| most(cell.rows.iter().map(|row| row.mops));
    let one = like().find(|cell| cell.threads == 1).and_then(best)?;
    let most = like().filter(|cell| cell.threads > 1).max_by_key(|cell| cell.threads)?;
    Some((most.threads, best(most)? / one))
}

#[cfg(test)]
mod tests {
    use super::super::report::LockRow;
    use super::*;

    fn cell(threads: usize, mops: f64) -> LockCell {
        let row = LockRow { contender: "tas".to_owned(), ours: true, mops: Some(mops), ..LockRow::default() };
        let (pinned, oversubscribed, rows) = (true, threads > 4, vec![row]);
        LockCell { threads, locks: 16, pinned, oversubscribed, rows, ..LockCell::default() }
    }

    #[test]
    fn ours_is_of_the_most_threads_that_have_a_cpu_each() {
        let cells = [cell(1, 10.0), cell(2, 5.0), cell(4, 20.0), cell(16, 90.0)];
        let found = beside(&cells).into_iter().map(|row| (row.locks, row.here)).collect::<Vec<_>>();
        assert_eq!(found, [(4, None), (16, Some((4, 2.0))), (32, None), (128, None)]);
        assert_eq!(beside(&cells[1..2])[1].here, None, "one thread was not measured");
        let loaded = LockCell { foreign: 1, ..cells[1].clone() };
        assert_eq!(beside(&[cells[0].clone(), loaded])[1].here, None, "nothing ran beside it there");
    }
}
