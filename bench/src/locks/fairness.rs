//! What is asked of the lock that chooses by itself, of its fairness and of how soon it has chosen.

use super::regret::CHOOSER;
use super::report::{LockCell, LockFlips, LockRow};
use crate::gate::{Demand, Gate};

const JAIN: Demand = Demand {
    gate: "auto, threads with a CPU each, one lock: Jain's index of their acquisitions, the worst",
    limit: 0.8,
    is_most: false,
    command: "corecast bench locks --locks 1",
};
const LONGEST: Demand = Demand {
    gate: "auto, threads with a CPU each, one lock: longest / mean wait in a block, the median over blocks, the worst",
    limit: 50.0,
    is_most: true,
    ..JAIN
};
const SETTLED: Demand = Demand {
    gate: "auto, threads with a CPU each: ms until it has settled after a flip, the worst",
    limit: 10.0,
    is_most: true,
    command: "corecast bench locks --flips",
};

/// Three.
pub(super) fn judge(cells: &[LockCell], flips: &[LockFlips]) -> [Gate; 3] {
    let is_shared = |cell: &&LockCell| cell.locks == 1 && cell.threads > 1 && !cell.oversubscribed && cell.is_plain();
    let own = |of: fn(&LockRow) -> Option<f64>| {
        let rows = cells.iter().filter(is_shared).flat_map(|cell| &cell.rows);
        rows.filter(|row| row.contender == CHOOSER).filter_map(of).collect::<Vec<f64>>().into_iter()
    };
    let needs = || "auto, one lock, and several threads that have a CPU each".to_owned();
    [
        JAIN.judge(own(|row| row.jain).reduce(f64::min).ok_or_else(needs)),
        LONGEST.judge(own(|row| row.longest_to_mean).reduce(f64::max).ok_or_else(needs)),
        SETTLED.judge(settled(flips)),
    ]
}

fn settled(flips: &[LockFlips]) -> Result<f64, String> {
    let rows = flips.iter().filter(|flips| !flips.oversubscribed).flat_map(|flips| &flips.rows);
    let own = rows.filter(|row| row.contender == CHOOSER).flat_map(|row| row.settled_ms).flatten();
    own.reduce(f64::max).ok_or_else(|| format!("{}, auto, and two CPUs", SETTLED.needs()))
}

#[cfg(test)]
mod tests {
    use super::super::report::{FlipPhase, FlipRow};
    use super::*;
    use crate::gate::Verdict;

    fn cell(threads: usize, jain: f64, longest_to_mean: f64) -> LockCell {
        let row = |contender: &str, jain| LockRow {
            contender: contender.to_owned(),
            jain: Some(jain),
            longest_to_mean: Some(longest_to_mean),
            ..LockRow::default()
        };
        let rows = vec![row("tas", 0.1), row("auto", jain)];
        LockCell {
            threads,
            locks: 1,
            hold_ns: 0,
            gap: None,
            gap_ns: 200,
            foreign: 0,
            pinned: true,
            oversubscribed: threads > 4,
            rows,
        }
    }

    fn flips(oversubscribed: bool, settled: [f64; 2]) -> LockFlips {
        let row = FlipRow {
            contender: "auto".to_owned(),
            ours: true,
            mops: [Some(1.0); 2],
            settled_ms: settled.map(Some),
            skipped: None,
        };
        let phase = FlipPhase { threads: 2, hold_ns: 0 };
        LockFlips { phases: [phase.clone(), phase], phase_ms: 100, oversubscribed, rows: vec![row] }
    }

    fn found(cells: &[LockCell], flips: &[LockFlips]) -> [(Option<f64>, Verdict); 3] {
        judge(cells, flips).map(|gate| (gate.measured, gate.verdict))
    }

    #[test]
    fn the_worst_situation_with_enough_cpus_counts() {
        let cells = [cell(1, 0.2, 900.0), cell(2, 0.9, 20.0), cell(4, 0.7, 60.0), cell(8, 0.1, 5000.0)];
        let flips = [flips(false, [3.0, 12.0]), flips(true, [40.0, 40.0])];
        let missed = Verdict::Missed;
        assert_eq!(found(&cells, &flips), [(Some(0.7), missed), (Some(60.0), missed), (Some(12.0), missed)]);
        assert_eq!(found(&cells[..2], &flips)[..2], [(Some(0.9), Verdict::Holds), (Some(20.0), Verdict::Holds)]);
    }

    #[test]
    fn what_was_not_run_is_not_judged() {
        let loaded = LockCell { foreign: 2, ..cell(2, 0.9, 20.0) };
        let others = LockCell { locks: 4, ..cell(2, 0.9, 20.0) };
        assert_eq!(
            found(&[loaded, others, cell(8, 1.0, 1.0)], &[flips(true, [1.0; 2])]),
            [(None, Verdict::NotJudged); 3]
        );
    }
}
