//! The demands on corecast's locks, and whether they hold here.

use super::combining;
use super::contenders::Contender;
use super::counterparts;
use super::fairness;
use super::readers;
use super::regret::CHOOSER;
use super::report::{LockCell, LockDistance, LockReport, LockRow, PairRow};
use crate::rules::{self, Rule, at_least, at_most};
use crate::stats::{Samples, geometric_mean, least, most};
use corecast_race::gate::Gate;

const COMMAND: &str = "corecast bench locks";
const CROWD: &str = "corecast bench locks --threads 4,16,64 --locks 1";
/// The numbers of threads in a crowd, where there are fewer CPUs.
const CROWDS: [usize; 3] = [4, 16, 64];
const CROWDED: &str = "auto, 4, 16 and 64 threads on fewer CPUs, one lock: acquisitions / those of the best other lock that sleeps, the worst";
const COLLAPSE: &str = "4, 16 and 64 threads on fewer CPUs, one lock: acquisitions of the best lock that sleeps / of corecast's slowest, the worst";

/// The measurements by which mutexes are judged.
struct Evidence<'a> {
    /// All locks; none if some were left out.
    contenders: &'a [Contender],
    pairs: &'a [PairRow],
    distances: &'a [LockDistance],
    /// Of the lock that chooses, over the grid; `None` if that is not complete.
    regrets: Option<Samples>,
    /// 4, 16 or 64 threads on fewer CPUs.
    crowded: Vec<&'a LockCell>,
}

const ALONE: &str = "auto, lock and unlock alone, time / the fastest lock's of all";
const SPINNERS: &str = "tas, ttas, auto: taken from another CPU, time / a bare exchange there, the worst";
const TICKET: &str = "ticket: taken from another CPU, time / a bare exchange there, the worst";
const QUEUES: &str = "mcs, clh: taken from another CPU, time / a bare exchange there, the worst";
const MEAN: &str = "auto, regret over the grid, geometric mean";
const TAIL: &str = "auto, regret over the grid, what one situation of 20 exceeds";
const WORST: &str = "auto, regret over the grid, the worst situation";

fn rules<'a>() -> [Rule<Evidence<'a>>; 9] {
    [
        Rule::new(at_most(1.05, ALONE, COMMAND), Evidence::alone),
        Rule::new(at_most(1.25, SPINNERS, COMMAND), |found| found.handed(&["tas", "ttas", "auto"])),
        Rule::new(at_most(1.5, TICKET, COMMAND), |found| found.handed(&["ticket"])),
        Rule::new(at_most(2.5, QUEUES, COMMAND), |found| found.handed(&["mcs", "clh"])),
        Rule::new(at_most(1.05, MEAN, COMMAND), |found| found.of_grid(|regrets| geometric_mean(regrets.all()))),
        Rule::new(at_most(1.25, TAIL, COMMAND), |found| found.of_grid(|regrets| regrets.quantile(0.95))),
        Rule::new(at_most(2.0, WORST, COMMAND), |found| found.of_grid(Samples::most)),
        Rule::new(at_least(0.9, CROWDED, CROWD), Evidence::crowded_chooser),
        Rule::new(at_most(20.0, COLLAPSE, CROWD), Evidence::collapse),
    ]
}

/// The situations over which regret is judged: threads, locks, and how long locks are held, ns; each with threads pinned and
/// not, and with nothing else beside. Others may be raced, and do not count.
const GRID: ([usize; 5], [usize; 5], [u64; 2]) = ([1, 2, 4, 8, 16], [1, 4, 16, 128, 512], [0, 2000]);
/// How many these are.
const SITUATIONS: usize = GRID.0.len() * GRID.1.len() * GRID.2.len() * 2;

/// Fewer nanoseconds for a bare exchange are a few ticks of a coarse clock, and say nothing.
const LEAST_BARE_NS: f64 = 5.0;

/// All of them. `field` is all locks; `None` if some were left out: most demands would mean something else.
pub(super) fn judge(field: Option<&[Contender]>, report: &LockReport) -> Vec<Gate> {
    let LockReport { pairs, distances, cells, flips, .. } = report;
    let mut gates = of_mutexes(field, pairs, distances, cells);
    gates.extend(counterparts::judge(cells));
    gates.extend(fairness::judge(field.is_some(), report.quick, cells, flips));
    gates.push(combining::judge(field.is_some(), &report.combining));
    gates.extend(readers::judge(&report.readers));
    gates
}

fn of_mutexes(
    field: Option<&[Contender]>,
    pairs: &[PairRow],
    distances: &[LockDistance],
    cells: &[LockCell],
) -> Vec<Gate> {
    let is_crowded =
        |cell: &&LockCell| CROWDS.contains(&cell.threads) && cell.locks == 1 && cell.oversubscribed && cell.is_plain();
    let evidence = Evidence {
        contenders: field.unwrap_or_default(),
        pairs: if field.is_some() { pairs } else { &[] },
        distances,
        regrets: if field.is_some() { grid_regrets(cells) } else { None },
        crowded: cells.iter().filter(is_crowded).collect(),
    };
    rules::judge(&rules(), &evidence)
}

impl Evidence<'_> {
    fn alone(&self) -> Result<f64, String> {
        let of = |row: &PairRow| row.median_ns;
        let own = self.pairs.iter().find(|row| row.contender == CHOOSER).and_then(of);
        let others = least(self.pairs.iter().filter(|row| row.contender != CHOOSER).filter_map(of));
        own.zip(others).map(|(own, best)| own / best).ok_or_else(|| "all locks, none chosen".to_owned())
    }

    /// The worst of these locks at the worst distance: the time to take it where another CPU had it last, in bare exchanges at
    /// that distance. All must have been measured at all of them.
    fn handed(&self, names: &[&str]) -> Result<f64, String> {
        let apart = self.distances.iter().filter(|distance| distance.cpus.len() > 1);
        let ratios = apart.flat_map(|distance| {
            let acquire = |name: &str| distance.rows.iter().find(|row| row.contender == name)?.acquire_p50_ns;
            let bare = acquire(&distance.rows[0].contender).filter(|&ns| ns >= LEAST_BARE_NS);
            names.iter().map(move |name| Some(acquire(name)? / bare?))
        });
        let worst = ratios.collect::<Option<Vec<f64>>>().and_then(most);
        worst.ok_or_else(|| "2 CPUs, a clock that is fine enough, and these locks".to_owned())
    }

    fn of_grid(&self, of: fn(&Samples) -> Option<f64>) -> Result<f64, String> {
        let needs = || format!("the whole grid and all locks, `{COMMAND}`");
        self.regrets.as_ref().and_then(of).ok_or_else(needs)
    }

    fn crowded_chooser(&self) -> Result<f64, String> {
        let ratios = self.crowded.iter().filter_map(|cell| {
            let others = most(self.mops(cell, |contender| contender.sleeps && contender.name != CHOOSER));
            Some(self.mops(cell, |contender| contender.name == CHOOSER).next()? / others?)
        });
        least(ratios).ok_or_else(needs_crowd)
    }

    fn collapse(&self) -> Result<f64, String> {
        let ratios = self.crowded.iter().filter_map(|cell| {
            let sleeping = most(self.mops(cell, |contender| contender.sleeps));
            Some(sleeping? / least(self.mops(cell, |contender| contender.ours))?)
        });
        most(ratios).ok_or_else(needs_crowd)
    }

    fn mops(&self, cell: &LockCell, is_wanted: fn(&Contender) -> bool) -> impl Iterator<Item = f64> {
        let is_one = |row: &&LockRow| {
            self.contenders.iter().any(|contender| contender.name == row.contender && is_wanted(contender))
        };
        cell.rows.iter().filter(is_one).filter_map(|row| row.mops).collect::<Vec<_>>().into_iter()
    }
}

/// Of the lock that chooses, in each situation of the grid, ascending; `None` if one is missing.
fn grid_regrets(cells: &[LockCell]) -> Option<Samples> {
    let is_in_grid = |cell: &&LockCell| {
        let (threads, locks, holds) = GRID;
        let is_there = threads.contains(&cell.threads) && locks.contains(&cell.locks) && holds.contains(&cell.hold_ns);
        is_there && cell.is_plain()
    };
    let own = |cell: &LockCell| cell.rows.iter().find(|row| row.contender == CHOOSER)?.regret;
    let regrets: Vec<f64> = cells.iter().filter(is_in_grid).map(own).collect::<Option<_>>()?;
    (regrets.len() == SITUATIONS).then(|| Samples::of(regrets))
}

fn needs_crowd() -> String {
    "4, 16 or 64 threads on fewer CPUs, one lock, and all locks, none chosen".to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::super::report::DistanceRow;
    use super::*;
    use corecast_race::gate::Verdict;

    fn cell(threads: usize, locks: usize, (pinned, hold_ns): (bool, u64), mops: [f64; 3]) -> LockCell {
        let rows = ["tas", "auto", "std"].into_iter().zip(mops).map(|(contender, mops)| LockRow {
            contender: contender.to_owned(),
            ours: contender != "std",
            mops: Some(mops),
            ..LockRow::default()
        });
        let (oversubscribed, rows) = (threads > 2, rows.collect());
        LockCell { threads, locks, hold_ns, pinned, oversubscribed, rows, ..LockCell::default() }
    }

    fn judged(cells: &[LockCell]) -> Vec<(Option<f64>, Verdict)> {
        let pair = |(contender, median_ns): (&str, f64)| PairRow {
            contender: contender.to_owned(),
            ours: true,
            median_ns: Some(median_ns),
            ..PairRow::default()
        };
        let pairs = [("tas", 8.0), ("auto", 10.0)].map(pair);
        let gates = of_mutexes(Some(&contenders()), &pairs, &[], cells);
        gates.into_iter().map(|gate| (gate.measured, gate.verdict)).collect()
    }

    #[test]
    fn the_worst_of_the_crowds_counts() {
        let crowd = |is_pinned, mops| cell(16, 1, (is_pinned, 0), mops);
        let found = judged(&[crowd(true, [4.0, 8.0, 8.0]), crowd(false, [1.0, 4.0, 32.0])]);
        assert_eq!(found[0], (Some(1.25), Verdict::Missed), "alone");
        assert_eq!(found[1], (None, Verdict::NotJudged), "no pair of CPUs");
        assert_eq!(found[7..], [(Some(0.125), Verdict::Missed), (Some(32.0), Verdict::Missed)]);
    }

    #[test]
    fn nothing_is_judged_of_some_locks_that_is_asked_of_all() {
        let pairs = [("tas", 8.0), ("auto", 10.0)].map(|(name, median_ns)| PairRow {
            contender: name.to_owned(),
            ours: true,
            median_ns: Some(median_ns),
            ..PairRow::default()
        });
        let cells = [cell(16, 1, (true, 0), [4.0, 8.0, 8.0])];
        let gates = of_mutexes(None, &pairs, &[], &cells);
        assert!(gates.iter().all(|gate| gate.verdict == Verdict::NotJudged), "{gates:?}");
    }

    fn distance(times: &[(&str, Option<f64>)]) -> LockDistance {
        let row = |&(contender, acquire_p50_ns): &(&str, Option<f64>)| DistanceRow {
            contender: contender.to_owned(),
            ours: true,
            acquire_p50_ns,
            ..DistanceRow::default()
        };
        let rows = times.iter().map(row).collect();
        LockDistance { distance: "same package".to_owned(), cpus: vec![0, 1], rows }
    }

    #[test]
    fn a_lock_taken_from_afar_is_judged_where_all_were_measured() {
        let found = |times: &[(&str, Option<f64>)]| of_mutexes(None, &[], &[distance(times)], &[]).swap_remove(3);
        let gate = found(&[("bare-cas", Some(80.0)), ("mcs", Some(100.0)), ("clh", Some(240.0))]);
        assert_eq!((gate.measured, gate.verdict), (Some(3.0), Verdict::Missed));
        for times in [
            [("bare-cas", Some(80.0)), ("mcs", Some(100.0)), ("clh", None)],
            [("bare-cas", Some(0.0)), ("mcs", Some(100.0)), ("clh", Some(240.0))],
        ] {
            assert_eq!(found(&times).verdict, Verdict::NotJudged);
        }
    }

    fn with_regret(mut cell: LockCell, regret: Option<f64>) -> LockCell {
        cell.rows.iter_mut().filter(|row| row.contender == CHOOSER).for_each(|row| row.regret = regret);
        cell
    }

    fn grid() -> Vec<LockCell> {
        let at = |threads| GRID.1.into_iter().flat_map(move |locks| GRID.2.map(|hold_ns| (threads, locks, hold_ns)));
        let each = GRID.0.into_iter().flat_map(at);
        let cells = each.flat_map(|(threads, locks, hold_ns)| {
            [true, false].map(|pinned| cell(threads, locks, (pinned, hold_ns), [1.0; 3]))
        });
        cells.map(|cell| with_regret(cell, Some(1.1))).collect()
    }

    #[test]
    fn regret_is_judged_over_the_whole_grid() {
        let mut cells = grid();
        let few = [(None, Verdict::NotJudged); 3];
        assert_eq!(judged(&cells[1..])[4..7], few, "a situation is missing");
        assert_eq!(
            judged(
                &cells[1..].iter().cloned().chain([LockCell { foreign: 1, ..cells[0].clone() }]).collect::<Vec<_>>()
            )[4..7],
            few,
            "one with a load beside is another one"
        );
        cells[0] = with_regret(cells[0].clone(), None);
        assert_eq!(judged(&cells)[4..7], few, "it was skipped in one");
        cells[0] = with_regret(cells[0].clone(), Some(2.5));
        let found = judged(&cells);
        assert!(found[4].0.is_some_and(|mean| (1.1..1.12).contains(&mean)), "{found:?}");
        assert_eq!(found[4].1, Verdict::Missed);
        assert_eq!(found[5..7], [(Some(1.1), Verdict::Holds), (Some(2.5), Verdict::Missed)]);
    }

    #[test]
    fn situations_that_are_not_of_the_grid_do_not_count() {
        let (mut cells, pinned) = (grid(), (true, 0));
        let worst = |cell: LockCell| with_regret(cell, Some(9.0));
        cells.extend([
            worst(LockCell { foreign: 2, ..cell(2, 1, pinned, [1.0; 3]) }),
            worst(LockCell { gap: Some(0), ..cell(2, 1, pinned, [1.0; 3]) }),
            worst(cell(2, 1, (true, 20_000), [1.0; 3])),
            worst(cell(2, 32, pinned, [1.0; 3])),
            worst(cell(3, 1, pinned, [1.0; 3])),
        ]);
        assert_eq!(judged(&cells)[5..7], [(Some(1.1), Verdict::Holds); 2]);
    }
}
