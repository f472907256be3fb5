//! The demands on the fairness of the lock that chooses by itself, and on how soon it has chosen.

use super::regret::CHOOSER;
use super::report::{LockCell, LockFlips, LockRow};
use crate::rules::{self, Rule, at_least, at_most};
use crate::stats::{least, most};
use corecast_race::gate::Gate;

const ONE_LOCK: &str = "corecast bench locks --locks 1";
const FLIPS: &str = "corecast bench locks --flips";
const JAIN: &str = "auto, threads with a CPU each, one lock: Jain's index of their acquisitions, the worst";
const EVERYWHERE: &str =
    "auto, several threads: Jain's index of their acquisitions in a block of 100 ms, the worst situation";
const LONGEST: &str = "auto, threads with a CPU each, one lock: longest / mean wait of one acquisition in 16, in blocks of 20 ms, \
                       the median over blocks, the worst";
const SETTLED: &str = "auto, threads with a CPU each: ms until it has settled after a flip, the worst";
const ADAPTED: &str = "auto, threads with a CPU each: acquisitions in a phase after a flip / those of the best other lock in it, the worst";

/// The measurements that are judged.
struct Evidence<'a> {
    quick: bool,
    /// Situations in which several threads with a CPU each share one lock.
    shared: Vec<&'a LockCell>,
    /// All situations with several threads and no load beside.
    several: Vec<&'a LockCell>,
    /// Those in which all locks took part, and every thread had a CPU.
    flips: Vec<&'a LockFlips>,
}

fn rules<'a>() -> [Rule<Evidence<'a>>; 5] {
    [
        Rule::new(at_least(0.8, JAIN, ONE_LOCK), |evidence| {
            least(own(&evidence.shared, |row| row.jain)).ok_or_else(needs_threads)
        }),
        Rule::new(at_least(0.5, EVERYWHERE, "corecast bench locks"), |evidence| {
            let own = own(&evidence.several, |row| row.jain_100ms);
            least(own).ok_or_else(|| "auto, and several threads".to_owned())
        }),
        Rule::new(at_most(50.0, LONGEST, ONE_LOCK), |evidence| {
            let longest = most(own(&evidence.shared, |row| row.longest_to_mean)).filter(|_| !evidence.quick);
            longest.ok_or_else(|| format!("{}, without --quick", needs_threads()))
        }),
        Rule::new(at_most(10.0, SETTLED, FLIPS), |evidence| settled(&evidence.flips).ok_or_else(needs_flips)),
        // Beside it, as a lock that never changes has settled at once.
        Rule::new(at_least(0.8, ADAPTED, FLIPS), |evidence| adapted(&evidence.flips).ok_or_else(needs_flips)),
    ]
}

/// Five gates. `is_all` is false if some locks were left out: the best of the rest would mean something else; `quick` blocks are
/// too short to be asked for their longest wait, which grows with the block.
pub(super) fn judge(is_all: bool, quick: bool, cells: &[LockCell], flips: &[LockFlips]) -> Vec<Gate> {
    let is_shared = |cell: &&LockCell| {
        cell.locks == 1 && cell.threads > 1 && cell.pinned && !cell.oversubscribed && cell.is_plain()
    };
    let flips = flips.iter().filter(|flips| is_all && !flips.oversubscribed).collect();
    let several = cells.iter().filter(|cell| cell.threads > 1 && cell.is_plain()).collect();
    rules::judge(&rules(), &Evidence { quick, shared: cells.iter().filter(is_shared).collect(), several, flips })
}

/// Of the lock that chooses, in each of these situations.
fn own(cells: &[&LockCell], of: fn(&LockRow) -> Option<f64>) -> impl Iterator<Item = f64> {
    let rows = cells.iter().flat_map(|cell| &cell.rows);
    rows.filter(|row| row.contender == CHOOSER).filter_map(of)
}

fn needs_threads() -> String {
    "auto, one lock, and several pinned threads that have a CPU each".to_owned()
}

fn needs_flips() -> String {
    format!("`{FLIPS}`, which judges it, all locks, none chosen, and two CPUs")
}

fn settled(flips: &[&LockFlips]) -> Option<f64> {
    let rows = flips.iter().flat_map(|flips| &flips.rows);
    most(rows.filter(|row| row.contender == CHOOSER).flat_map(|row| row.settled_ms))
}

fn adapted(flips: &[&LockFlips]) -> Option<f64> {
    let phases = flips.iter().flat_map(|flips| [0, 1].map(|which| (&flips.rows, which)));
    let ratios = phases.filter_map(|(rows, which)| {
        let others = rows.iter().filter(|row| row.contender != CHOOSER).filter_map(|row| row.mops[which]);
        let own = rows.iter().find(|row| row.contender == CHOOSER)?.mops[which];
        Some(own? / most(others)?)
    });
    least(ratios)
}

#[cfg(test)]
mod tests {
    use super::super::report::{FlipPhase, FlipRow};
    use super::*;
    use corecast_race::gate::Verdict;

    fn cell(threads: usize, jain: f64, longest_to_mean: f64) -> LockCell {
        let row = |contender: &str, jain| LockRow {
            contender: contender.to_owned(),
            jain: Some(jain),
            jain_100ms: Some(jain + 0.25),
            longest_to_mean: Some(longest_to_mean),
            ..LockRow::default()
        };
        let rows = vec![row("tas", 0.1), row("auto", jain)];
        LockCell { threads, locks: 1, pinned: true, oversubscribed: threads > 4, rows, ..LockCell::default() }
    }

    fn flips(oversubscribed: bool, settled: [f64; 2]) -> LockFlips {
        let row = |contender: &str, mops: [f64; 2], settled: [f64; 2]| FlipRow {
            contender: contender.to_owned(),
            ours: true,
            mops: mops.map(Some),
            settled_ms: settled.map(Some),
            ..FlipRow::default()
        };
        let rows =
            vec![row("tas", [4.0, 2.0], [0.0; 2]), row("auto", [5.0, 3.0], settled), row("mcs", [1.0, 4.0], [0.0; 2])];
        let phase = FlipPhase { threads: 2, hold_ns: 0 };
        LockFlips { phases: [phase.clone(), phase], phase_ms: 100, oversubscribed, rows }
    }

    fn found(cells: &[LockCell], flips: &[LockFlips]) -> Vec<(Option<f64>, Verdict)> {
        let gates = judge(true, false, cells, flips);
        gates.iter().map(|gate| (gate.measured, gate.verdict)).collect()
    }

    #[test]
    fn the_worst_situation_with_enough_cpus_counts() {
        let unpinned = LockCell { pinned: false, ..cell(2, 0.1, 5000.0) };
        let cells = [cell(1, 0.2, 900.0), cell(2, 0.9, 20.0), unpinned, cell(4, 0.7, 60.0), cell(8, 0.1, 5000.0)];
        let flips = [flips(false, [3.0, 12.0]), flips(true, [40.0, 40.0])];
        let missed = Verdict::Missed;
        let expected = [0.7, 0.35, 60.0, 12.0, 0.75].map(|measured| (Some(measured), missed));
        assert_eq!(found(&cells, &flips), expected);
        let holds = [0.9, 1.15, 20.0].map(|measured| (Some(measured), Verdict::Holds));
        assert_eq!(found(&cells[..2], &flips)[..3], holds);
    }

    #[test]
    fn cells_that_were_not_run_are_not_judged() {
        let loaded = LockCell { foreign: 2, ..cell(2, 0.9, 20.0) };
        let others = LockCell { locks: 4, ..cell(2, 0.9, 20.0) };
        let mut found = found(&[loaded, others, cell(8, 1.0, 1.0)], &[flips(true, [1.0; 2])]);
        assert_eq!(found.remove(1), (Some(1.15), Verdict::Holds), "in every situation without a load");
        assert_eq!(found, [(None, Verdict::NotJudged); 4]);
    }

    #[test]
    fn short_blocks_are_not_asked_for_their_longest_wait_nor_some_locks_for_the_best() {
        let judged = |is_all, quick| {
            let gates = judge(is_all, quick, &[cell(2, 0.9, 20.0)], &[flips(false, [3.0, 12.0])]);
            gates.iter().map(|gate| gate.verdict != Verdict::NotJudged).collect::<Vec<_>>()
        };
        assert_eq!(judged(true, true), [true, true, false, true, true]);
        assert_eq!(judged(false, false), [true, true, true, false, false], "one that never changes settles at once");
    }
}
