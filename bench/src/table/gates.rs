//! The demands on corecast's table, and whether they hold here. The worst of all situations of a kind is judged.

use corecast::lock::Algorithm;

use super::original::{LOCKS, NAMES};
use super::report::TableCell;
use crate::rules::{self, Rule, at_least};
use crate::stats::{geometric_mean, least, most};
use corecast_race::gate::Gate;

/// How large the part of a machine is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) cpus: usize,
    /// Those that are known.
    pub(super) packages: usize,
}

/// A run that is judged.
struct Evidence<'a> {
    cells: &'a [TableCell],
    sizes: Sizes,
    /// Whether it departs from the paper: then it is not judged.
    departs: bool,
}

fn rules<'a>() -> [Rule<Evidence<'a>>; 11] {
    const COMMAND: &str = "corecast bench table";
    let original =
        "tas, ticket, mcs, clh, 1 thread and as many as CPUs: tries / of the original program with the same lock";
    let typical =
        "every lock, the paper's tables, up to as many threads as CPUs: tries of auto / of the best, geometric mean";
    let worst = "the same: the least of all";
    let served = "as many threads as CPUs: tries of messages / of msg-server, the bare round trip";
    let messages =
        "12 buckets of 12, as many threads as CPUs, 2 packages or more: tries of messages / of the best lock";
    let crowd = "4 times as many threads as CPUs: tries of auto / of pthread";
    let locked = "512 buckets, as many threads as CPUs: tries of auto / of the best of dashmap, papaya, scc";
    let rivals = "512 buckets, as many threads as CPUs: tries of packed-auto / of the best of dashmap, papaya, scc";
    let dashmap = "2 threads, the paper's tables: tries of packed-auto / of dashmap";
    let long = "2 threads, 12 buckets of 48: tries of packed-auto / of scc";
    let alone = "1 thread, 12 buckets of 12: tries of packed-auto / of the best of dashmap, std-sharded";
    [
        Rule::new(at_least(0.95, original, COMMAND), Evidence::over_original),
        Rule::new(at_least(0.95, typical, COMMAND), |run| run.over_locks(|ratios| geometric_mean(&ratios))),
        Rule::new(at_least(0.6, worst, COMMAND), |run| run.over_locks(least)),
        Rule::new(at_least(0.8, served, COMMAND), Evidence::over_bare),
        Rule::new(at_least(1.3, messages, COMMAND), Evidence::messages_over_locks),
        Rule::new(at_least(0.9, crowd, COMMAND), Evidence::in_a_crowd),
        Rule::new(at_least(0.9, locked, COMMAND), |run| run.over_rivals(Algorithm::Auto.name())),
        Rule::new(at_least(0.9, rivals, COMMAND), |run| run.over_rivals(OURS)),
        Rule::new(at_least(1.0, dashmap, "corecast bench table --threads 2"), Evidence::over_dashmap),
        Rule::new(at_least(0.9, long, "corecast bench table --threads 2"), Evidence::over_scc),
        Rule::new(at_least(1.0, alone, "corecast bench table --threads 1"), Evidence::alone),
    ]
}

/// corecast's table with the lock that it has unless another one is named.
const OURS: &str = "packed-auto";

/// The paper's tables: buckets and mean.
const TABLES: [(usize, usize); 4] = [(12, 12), (12, 48), (512, 12), (512, 48)];

/// All gates of a run on CPUs of a machine. A run that departs from the paper is not judged.
pub(super) fn judge(cells: &[TableCell], sizes: Sizes, departs: bool) -> Vec<Gate> {
    rules::judge(&rules(), &Evidence { cells, sizes, departs })
}

impl Evidence<'_> {
    /// The original has no licence, so that it can only be run, and nobody packages it.
    fn over_original(&self) -> Result<f64, String> {
        let cpus = self.sizes.cpus;
        let needs = format!(
            "`--original` with the original program (LPD-EPFL/CLHT, March 2013), 12 and 512 buckets of 12 and of 48, 1 and \
             {cpus} threads"
        );
        let pairs = LOCKS.into_iter().zip(NAMES).flat_map(|pair| [(pair, 1), (pair, cpus)]);
        let worst =
            pairs.map(|((lock, original), threads)| self.worst_of(lock, (&TABLES, threads), &[original], &needs));
        let worst = worst.collect::<Result<Vec<f64>, String>>()?;
        least(worst).ok_or(needs)
    }

    /// Of each situation with a CPU for each thread, the ratio of `auto` to the best lock of the registry.
    fn over_locks(&self, of: impl Fn(Vec<f64>) -> Option<f64>) -> Result<f64, String> {
        let cpus = self.sizes.cpus;
        let needs = || format!("all locks, 12 and 512 buckets of 12 and of 48, 1 and {cpus} threads");
        self.judged()?;
        let locks: Vec<&str> = Algorithm::ALL.iter().map(|lock| lock.name()).collect();
        let asked = TABLES.iter().flat_map(|&table| [(table, 1), (table, cpus)]);
        let is_there = |(table, threads)| cell_of(self.cells, table, threads).is_some_and(|cell| !cell.oversubscribed);
        if !asked.into_iter().all(is_there) {
            return Err(needs());
        }
        let judged =
            self.cells.iter().filter(|cell| TABLES.contains(&(cell.buckets, cell.mean)) && !cell.oversubscribed);
        let ratios: Option<Vec<f64>> = judged.map(|cell| ratio(cell, Algorithm::Auto.name(), &locks)).collect();
        ratios.and_then(of).ok_or_else(needs)
    }

    fn over_bare(&self) -> Result<f64, String> {
        let cpus = self.sizes.cpus;
        if cpus < 2 {
            return Err("2 CPUs".to_owned());
        }
        let needs = format!("12 and 512 buckets of 12 and of 48, {cpus} threads, messages, and msg-server");
        self.worst_of("messages", (&TABLES, cpus), &["msg-server"], &needs)
    }

    fn messages_over_locks(&self) -> Result<f64, String> {
        let Sizes { cpus, packages } = self.sizes;
        if packages < 2 {
            return Err(format!("2 packages; there is {packages}"));
        }
        let locks: Vec<&str> = Algorithm::ALL.iter().map(|lock| lock.name()).collect();
        let needs = format!("12 buckets of 12, {cpus} threads, messages, and all locks");
        self.worst_of("messages", (&TABLES[..1], cpus), &locks, &needs)
    }

    fn in_a_crowd(&self) -> Result<f64, String> {
        self.judged()?;
        let threads = 4 * self.sizes.cpus;
        let ratio =
            |&table: &(usize, usize)| ratio(cell_of(self.cells, table, threads)?, Algorithm::Auto.name(), &["pthread"]);
        let ratios: Option<Vec<f64>> = TABLES.iter().map(ratio).collect();
        let needs = || format!("12 and 512 buckets of 12 and of 48, {threads} threads, auto, and pthread");
        ratios.and_then(least).ok_or_else(needs)
    }

    fn over_rivals(&self, contender: &str) -> Result<f64, String> {
        let cpus = self.sizes.cpus;
        let needs =
            format!("512 buckets of 12 and of 48, {cpus} threads, {contender}, and all of dashmap, papaya, scc");
        self.worst_of(contender, (&TABLES[2..], cpus), &["dashmap", "papaya", "scc"], &needs)
    }

    fn over_dashmap(&self) -> Result<f64, String> {
        let needs = "2 threads on 2 CPUs, 12 and 512 buckets of 12 and of 48, packed-auto, and dashmap";
        self.worst((&TABLES, 2), &["dashmap"], needs)
    }

    fn over_scc(&self) -> Result<f64, String> {
        self.worst((&TABLES[1..2], 2), &["scc"], "2 threads on 2 CPUs, 12 buckets of 48, packed-auto, and scc")
    }

    fn alone(&self) -> Result<f64, String> {
        let needs = "1 thread, 12 buckets of 12, packed-auto, dashmap, and std-sharded";
        self.worst((&TABLES[..1], 1), &["dashmap", "std-sharded"], needs)
    }

    fn worst(&self, which: (&[(usize, usize)], usize), rivals: &[&str], needs: &str) -> Result<f64, String> {
        self.worst_of(OURS, which, rivals, needs)
    }

    /// The least ratio of a contender to the best of these others, over these tables with this number of threads that have a CPU
    /// each.
    fn worst_of(
        &self,
        contender: &str,
        (tables, threads): (&[(usize, usize)], usize),
        others: &[&str],
        needs: &str,
    ) -> Result<f64, String> {
        self.judged()?;
        let ratio = |&table: &(usize, usize)| {
            let cell = cell_of(self.cells, table, threads).filter(|cell| !cell.oversubscribed)?;
            ratio(cell, contender, others)
        };
        let ratios: Option<Vec<f64>> = tables.iter().map(ratio).collect();
        ratios.and_then(least).ok_or_else(|| needs.to_owned())
    }

    fn judged(&self) -> Result<(), String> {
        let paper = "the paper's experiment: uniform keys, bound threads, puts that write nothing, a fence";
        if self.departs { Err(paper.to_owned()) } else { Ok(()) }
    }
}

fn cell_of(cells: &[TableCell], table: (usize, usize), threads: usize) -> Option<&TableCell> {
    cells.iter().find(|cell| (cell.buckets, cell.mean) == table && cell.threads == threads)
}

/// A contender's tries divided by those of the best of some others; `None` if one of them was not measured.
fn ratio(cell: &TableCell, contender: &str, others: &[&str]) -> Option<f64> {
    let of = |name: &str| cell.rows.iter().find(|row| row.contender == name)?.mops;
    let found: Vec<f64> = others.iter().map(|name| of(name)).collect::<Option<_>>()?;
    Some(of(contender)? / most(found)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::report::TableRow;
    use corecast_race::gate::Verdict;

    const SIZES: Sizes = Sizes { cpus: 2, packages: 1 };
    /// The gates before those of packed-auto.
    const OF_SSYNC: usize = 7;

    fn row(contender: &str, mops: f64) -> TableRow {
        TableRow { contender: contender.to_owned(), mops: Some(mops), ..TableRow::default() }
    }

    fn cell((buckets, mean): (usize, usize), threads: usize, rows: &[(&str, f64)]) -> TableCell {
        let rows = rows.iter().map(|&(name, mops)| row(name, mops)).collect();
        TableCell { buckets, mean, threads, oversubscribed: false, rows }
    }

    #[test]
    fn the_worst_situation_is_judged_with_corecasts_table_and_the_best_rival() {
        let rivals = [("dashmap", 10.0), ("papaya", 20.0), ("scc", 5.0), ("std-sharded", 12.0), ("std", 99.0)];
        let with = |ours: f64| [&[("tas", 50.0), ("auto", 2.0 * ours), ("packed-auto", ours)][..], &rivals].concat();
        let cells = [
            cell((12, 12), 1, &with(6.0)),
            cell((512, 12), 1, &with(1.0)),
            cell((512, 12), 2, &with(22.0)),
            cell((512, 48), 2, &with(16.0)),
            cell((12, 12), 2, &with(9.0)),
            cell((12, 48), 2, &with(90.0)),
        ];
        let all = judge(&cells, SIZES, false);
        let (of_auto, gates) = (&all[OF_SSYNC - 1], &all[OF_SSYNC..]);
        assert_eq!((of_auto.measured, of_auto.verdict), (Some(1.6), Verdict::Holds), "32 of papaya's 20");
        assert_eq!((gates[0].measured, gates[0].verdict), (Some(0.8), Verdict::Missed), "16 of papaya's 20");
        assert_eq!((gates[1].measured, gates[1].verdict), (Some(0.9), Verdict::Missed), "9 of dashmap's 10");
        assert_eq!((gates[2].measured, gates[2].verdict), (Some(18.0), Verdict::Holds), "90 of scc's 5");
        assert_eq!((gates[3].measured, gates[3].verdict), (Some(0.5), Verdict::Missed), "6 of std-sharded's 12");
    }

    #[test]
    fn cells_that_were_not_measured_are_not_judged() {
        let verdicts = |cells: &[TableCell], cpus| {
            let gates = judge(cells, Sizes { cpus, packages: 1 }, false);
            gates.iter().skip(OF_SSYNC).map(|gate| gate.verdict).collect::<Vec<_>>()
        };
        let mut cells = TABLES.map(|table| cell(table, 2, &[("packed-auto", 16.0), ("dashmap", 10.0), ("scc", 20.0)]));
        let judged = [Verdict::NotJudged, Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
        assert_eq!(verdicts(&cells, 2), judged, "papaya is missing, and one thread");
        let departed = judge(&cells, SIZES, true);
        let names_keys = |gate: &Gate| gate.needs.as_ref().is_some_and(|needs| needs.contains("uniform keys"));
        assert!(departed.iter().skip(OF_SSYNC).all(names_keys));
        assert_eq!(verdicts(&cells[2..], 2), [Verdict::NotJudged; 4], "two tables are missing");
        cells[0].oversubscribed = true;
        cells[1].oversubscribed = true;
        assert_eq!(verdicts(&cells, 1), [Verdict::NotJudged; 4], "threads share a CPU");
        assert!(judge(&[], SIZES, false).iter().all(|gate| gate.needs.is_some()));
    }

    /// All locks of the registry at 1, but `auto` at this; and some others.
    fn with_locks(auto: f64, others: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
        let rate = |lock: &Algorithm| (lock.name(), if *lock == Algorithm::Auto { auto } else { 1.0 });
        Algorithm::ALL.iter().map(rate).chain(others.iter().copied()).collect()
    }

    #[test]
    fn locks_are_compared_with_the_original_where_it_is_named() {
        let mut cells = Vec::new();
        for table in TABLES {
            for threads in [1, 2] {
                let originals =
                    NAMES.map(|name| (name, if name == "original-clh" && threads == 2 { 1.25 } else { 0.5 }));
                cells.push(cell(table, threads, &with_locks(1.0, &originals)));
            }
        }
        let gate = &judge(&cells, SIZES, false)[0];
        assert_eq!((gate.measured, gate.verdict), (Some(0.8), Verdict::Missed));
        cells[3].rows.retain(|row| row.contender != "original-mcs");
        assert_eq!(judge(&cells, SIZES, false)[0].verdict, Verdict::NotJudged);
    }

    #[test]
    fn auto_is_compared_with_every_lock_in_every_situation() {
        let others = [("messages", 1.8), ("msg-server", 2.0), ("pthread", 0.5)];
        let mut cells: Vec<TableCell> = Vec::new();
        for table in TABLES {
            cells.push(cell(table, 1, &with_locks(1.0, &others)));
            cells.push(cell(table, 2, &with_locks(if table == (12, 48) { 0.5 } else { 1.0 }, &others)));
            cells.push(TableCell { oversubscribed: true, ..cell(table, 8, &with_locks(0.1, &others)) });
        }
        let gates = judge(&cells, SIZES, false);
        let found = |at: usize| gates[at].measured;
        assert_eq!((found(0), gates[0].verdict), (None, Verdict::NotJudged), "nobody installs the original");
        assert!(found(1).is_some_and(|mean| (mean - 0.5f64.powf(1.0 / 8.0)).abs() < 1e-9), "{:?}", gates[1]);
        assert_eq!((found(2), gates[2].verdict), (Some(0.5), Verdict::Missed));
        assert_eq!((found(3), gates[3].verdict), (Some(0.9), Verdict::Holds));
        assert_eq!((found(4), gates[4].needs.as_deref()), (None, Some("2 packages; there is 1")));
        assert_eq!((found(5), gates[5].verdict), (Some(0.2), Verdict::Missed), "in a crowd");
        let large = judge(&cells, Sizes { packages: 2, ..SIZES }, false);
        assert_eq!((large[4].measured, large[4].verdict), (Some(1.8), Verdict::Holds));
        cells.retain(|cell| cell.threads != 1);
        let gates = judge(&cells, SIZES, false);
        assert_eq!([1, 2].map(|at| gates[at].verdict), [Verdict::NotJudged; 2], "one thread is missing");
        cells[0].rows.retain(|row| row.contender != "mcs");
        assert_eq!(judge(&cells, Sizes { packages: 2, ..SIZES }, false)[4].verdict, Verdict::NotJudged);
    }
}
