//! The demands on corecast's table, and whether they hold here. The worst of all situations of a kind is judged.

use super::report::TableCell;
use crate::rules::{self, Rule, at_least};
use crate::stats::{least, most};
use corecast_race::gate::Gate;

/// A run that is judged.
struct Evidence<'a> {
    cells: &'a [TableCell],
    cpus: usize,
    /// Whether it departs from the paper: then it is not judged.
    departs: bool,
}

fn rules<'a>() -> [Rule<Evidence<'a>>; 4] {
    let rivals = "512 buckets, as many threads as CPUs: tries of packed-auto / of the best of dashmap, papaya, scc";
    let dashmap = "2 threads, the paper's tables: tries of packed-auto / of dashmap";
    let long = "2 threads, 12 buckets of 48: tries of packed-auto / of scc";
    let alone = "1 thread, 12 buckets of 12: tries of packed-auto / of the best of dashmap, std-sharded";
    [
        Rule::new(at_least(0.9, rivals, "corecast bench table"), Evidence::over_rivals),
        Rule::new(at_least(1.0, dashmap, "corecast bench table --threads 2"), Evidence::over_dashmap),
        Rule::new(at_least(0.9, long, "corecast bench table --threads 2"), Evidence::over_scc),
        Rule::new(at_least(1.0, alone, "corecast bench table --threads 1"), Evidence::alone),
    ]
}

/// corecast's table with the lock that it has unless another one is named.
const OURS: &str = "packed-auto";

/// The paper's tables: buckets and mean.
const TABLES: [(usize, usize); 4] = [(12, 12), (12, 48), (512, 12), (512, 48)];

/// All gates of a run on `cpus` CPUs. A run that departs from the paper is not judged.
pub(super) fn judge(cells: &[TableCell], cpus: usize, departs: bool) -> Vec<Gate> {
    rules::judge(&rules(), &Evidence { cells, cpus, departs })
}

impl Evidence<'_> {
    fn over_rivals(&self) -> Result<f64, String> {
        let needs =
            format!("512 buckets of 12 and of 48, {} threads, packed-auto, and all of dashmap, papaya, scc", self.cpus);
        self.worst((&TABLES[2..], self.cpus), &["dashmap", "papaya", "scc"], &needs)
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
        if self.departs {
            return Err(
                "the paper's experiment: uniform keys, bound threads, puts that write nothing, a fence".to_owned()
            );
        }
        worst(self.cells, which, rivals).ok_or_else(|| needs.to_owned())
    }
}

/// The least ratio of corecast's table to the best of these rivals, over these tables with this number of threads that have a CPU
/// each; `None` if something of it was not measured.
fn worst(cells: &[TableCell], (tables, threads): (&[(usize, usize)], usize), rivals: &[&str]) -> Option<f64> {
    let ratio = |&table: &(usize, usize)| {
        let is_judged = |cell: &&TableCell| (cell.buckets, cell.mean) == table && cell.threads == threads;
        let cell = cells.iter().find(is_judged).filter(|cell| !cell.oversubscribed)?;
        let of = |name: &&str| cell.rows.iter().find(|row| row.contender == **name)?.mops;
        let found: Vec<f64> = rivals.iter().map(of).collect::<Option<_>>()?;
        Some(of(&OURS)? / most(found)?)
    };
    let ratios: Option<Vec<f64>> = tables.iter().map(ratio).collect();
    least(ratios?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::report::TableRow;
    use corecast_race::gate::Verdict;

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
        let with = |ours: f64| [&[("tas", 50.0), ("packed-auto", ours)][..], &rivals].concat();
        let cells = [
            cell((12, 12), 1, &with(6.0)),
            cell((512, 12), 1, &with(1.0)),
            cell((512, 12), 2, &with(22.0)),
            cell((512, 48), 2, &with(16.0)),
            cell((12, 12), 2, &with(9.0)),
            cell((12, 48), 2, &with(90.0)),
        ];
        let gates = judge(&cells, 2, false);
        assert_eq!((gates[0].measured, gates[0].verdict), (Some(0.8), Verdict::Missed), "16 of papaya's 20");
        assert_eq!((gates[1].measured, gates[1].verdict), (Some(0.9), Verdict::Missed), "9 of dashmap's 10");
        assert_eq!((gates[2].measured, gates[2].verdict), (Some(18.0), Verdict::Holds), "90 of scc's 5");
        assert_eq!((gates[3].measured, gates[3].verdict), (Some(0.5), Verdict::Missed), "6 of std-sharded's 12");
    }

    #[test]
    fn cells_that_were_not_measured_are_not_judged() {
        let verdicts = |cells: &[TableCell], cpus| {
            judge(cells, cpus, false).into_iter().map(|gate| gate.verdict).collect::<Vec<_>>()
        };
        let mut cells = TABLES.map(|table| cell(table, 2, &[("packed-auto", 16.0), ("dashmap", 10.0), ("scc", 20.0)]));
        let judged = [Verdict::NotJudged, Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
        assert_eq!(verdicts(&cells, 2), judged, "papaya is missing, and one thread");
        let departed = judge(&cells, 2, true);
        assert!(departed.iter().all(|gate| gate.needs.as_ref().is_some_and(|needs| needs.contains("uniform keys"))));
        assert_eq!(verdicts(&cells[2..], 2), [Verdict::NotJudged; 4], "two tables are missing");
        cells[0].oversubscribed = true;
        cells[1].oversubscribed = true;
        assert_eq!(verdicts(&cells, 1), [Verdict::NotJudged; 4], "threads share a CPU");
        assert!(judge(&[], 2, false).iter().all(|gate| gate.needs.is_some()));
    }
}
