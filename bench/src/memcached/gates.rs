//! The demands on the lock shim under memcached: M1 to M4.

use corecast::lock::Algorithm;
use corecast_race::gate::{Demand, Gate};

use super::report::{MemcachedCell, MemcachedRow};
use crate::rules::{Rule, at_least, at_most, judge_beside};
use crate::stats::{geometric_mean, least, median, most};

const COMMAND: &str = "corecast bench memcached";

/// The cells of a run, and how many CPUs the server may use.
pub(super) struct Evidence<'a> {
    pub(super) cells: &'a [MemcachedCell],
    pub(super) cpus: usize,
    /// Busy processes beside the blocks.
    pub(super) busy: usize,
}

fn rules<'a>() -> [Rule<Evidence<'a>>; 6] {
    [
        Rule::new(demand_at_least(0.97, "M1: set, auto / best lock, threads <= CPUs"), auto_of_best),
        Rule::new(demand_at_least(1.0, "M1: set, auto / pthread, threads <= CPUs"), |run| auto_of_pthread(run, false)),
        Rule::new(at_most(0.03, "M2: get, spread over all locks, threads <= CPUs", COMMAND), spread),
        Rule::new(demand_at_least(0.95, "M3: set, auto / pthread, threads = 2 x CPUs"), |run| {
            auto_of_pthread(run, true)
        }),
        Rule::new(demand_at_least(0.99, "M4: pthread / none, mean of all cells"), |run| {
            geometric_mean(&passed_on(run)?).ok_or_else(no_block)
        }),
        // A gain in one cell must not hide a loss in another; one cell alone differs from run to run by some hundredths.
        Rule::new(demand_at_least(0.95, "M4: pthread / none, the worst cell"), |run| {
            least(passed_on(run)?).ok_or_else(no_block)
        }),
    ]
}

fn beside_rule<'a>() -> Rule<Evidence<'a>> {
    let demand = at_most(1.05, "beside busy processes: none / auto, the worst mix and number of threads", COMMAND);
    Rule::new(demand, |run| {
        let least = least_of(run.cells.iter().collect(), |cell| Ok(ratio(row(cell, "auto")?, row(cell, "none")?)))?;
        Ok(least.recip())
    })
}

const fn demand_at_least(limit: f64, gate: &'static str) -> Demand {
    at_least(limit, gate, COMMAND)
}

/// All of them.
pub(super) fn gates(run: &Evidence<'_>) -> Vec<Gate> {
    judge_beside(run.busy, &rules(), &beside_rule(), run)
}

/// The rates of one row over those of another one, round by round: the median.
pub(super) fn ratio(of: &MemcachedRow, over: &MemcachedRow) -> Option<f64> {
    let ratios: Vec<f64> = of.rates.iter().zip(&over.rates).map(|(of, over)| of / over).collect();
    median(&ratios)
}

fn row<'a>(cell: &'a MemcachedCell, name: &str) -> Result<&'a MemcachedRow, String> {
    let found = cell.rows.iter().find(|row| row.contender == name && !row.rates.is_empty());
    found.ok_or_else(|| format!("the contender {name}"))
}

/// Cells with this mix, in which the server has a CPU for each thread.
fn seated<'a>(run: &'a Evidence<'_>, mix: &str) -> Result<Vec<&'a MemcachedCell>, String> {
    let cells: Vec<_> = run.cells.iter().filter(|cell| cell.mix == mix && !cell.oversubscribed).collect();
    if cells.is_empty() { Err(format!("`--mix {mix}` with a thread for each CPU at most")) } else { Ok(cells) }
}

/// The least of one figure of each cell.
fn least_of(
    cells: Vec<&MemcachedCell>,
    figure: impl Fn(&MemcachedCell) -> Result<Option<f64>, String>,
) -> Result<f64, String> {
    let figures = cells.into_iter().map(figure).collect::<Result<Vec<_>, _>>()?;
    least(figures).ok_or_else(no_block)
}

fn no_block() -> String {
    "a block that was measured".to_owned()
}

/// Says what it takes to judge all locks, unless all were measured in this cell.
fn all_locks(cell: &MemcachedCell) -> Result<(), String> {
    let is_missing = |lock: &Algorithm| row(cell, lock.facts().name).is_err();
    match Algorithm::ALL.iter().find(|lock| is_missing(lock)) {
        Some(lock) => {
            Err(format!("all locks, of which {} is missing: neither `--quick` nor `--contenders`", lock.facts().name))
        }
        None => Ok(()),
    }
}

fn auto_of_best(run: &Evidence<'_>) -> Result<f64, String> {
    least_of(seated(run, "set")?, |cell| {
        let auto = row(cell, "auto")?;
        all_locks(cell)?;
        let rivals = cell.rows.iter().filter(|row| row.ours && row.contender != "auto");
        Ok(least(rivals.map(|rival| ratio(auto, rival))))
    })
}

fn auto_of_pthread(run: &Evidence<'_>, is_crowded: bool) -> Result<f64, String> {
    let cells = if is_crowded {
        let is_meant = |cell: &&MemcachedCell| cell.mix == "set" && cell.threads == 2 * run.cpus;
        run.cells.iter().filter(is_meant).collect()
    } else {
        seated(run, "set")?
    };
    if cells.is_empty() {
        return Err(format!("`--mix set --threads {}`", 2 * run.cpus));
    }
    least_of(cells, |cell| Ok(ratio(row(cell, "auto")?, row(cell, "pthread")?)))
}

fn spread(run: &Evidence<'_>) -> Result<f64, String> {
    // Ratios of one round, as the machine changes its speed from round to round.
    let spread = |cell: &MemcachedCell| {
        let passed_on = row(cell, "pthread")?;
        all_locks(cell)?;
        let rows = cell.rows.iter().filter(|row| row.contender != "none");
        let ratios: Vec<f64> = rows.filter_map(|row| ratio(row, passed_on)).collect();
        let ends = least(ratios.iter().copied()).zip(most(ratios.iter().copied()));
        ends.map(|(least, most)| 1.0 - least / most).ok_or_else(no_block)
    };
    let spreads = seated(run, "get")?.into_iter().map(spread).collect::<Result<Vec<f64>, String>>()?;
    most(spreads).ok_or_else(no_block)
}

/// For each cell the rate of the object that passes everything on over the rate without an object.
fn passed_on(run: &Evidence<'_>) -> Result<Vec<f64>, String> {
    let ratios = run.cells.iter().map(|cell| Ok(ratio(row(cell, "pthread")?, row(cell, "none")?)));
    Ok(ratios.collect::<Result<Vec<_>, String>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(contender: &str, rates: [f64; 3]) -> MemcachedRow {
        let ours = contender != "none" && contender != "pthread";
        let (contender, rps) = (contender.to_owned(), median(&rates));
        MemcachedRow { contender, ours, rps, rates: rates.to_vec(), ..MemcachedRow::default() }
    }

    fn cell(threads: usize, mix: &'static str, auto: f64) -> MemcachedCell {
        let rates = |rate| [rate, 2.0 * rate, 3.0 * rate];
        let of_lock = |name: &str| if name == "auto" { auto } else { 98.0 };
        let locks = Algorithm::ALL.iter().map(|lock| lock.facts().name).map(|name| row(name, rates(of_lock(name))));
        let rows = [row("none", rates(100.0)), row("pthread", rates(100.0))].into_iter().chain(locks).collect();
        MemcachedCell { threads, mix, oversubscribed: threads > 2, rows, ..MemcachedCell::default() }
    }

    #[test]
    fn each_gate_finds_its_figure() {
        let cells = [cell(1, "set", 101.0), cell(2, "set", 99.0), cell(2, "get", 100.0), cell(4, "set", 90.0)];
        let found = gates(&Evidence { cells: &cells, cpus: 2, busy: 0 });
        let measured: Vec<f64> = found.iter().filter_map(|gate| gate.measured).collect();
        let expected = [99.0 / 98.0, 0.99, 0.02, 0.9, 1.0, 1.0];
        assert!(measured.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9), "{measured:?}");
        use Verdict::{Holds, Missed, NotJudged};
        let verdicts = [Holds, Missed, Holds, Missed, Holds, Holds, NotJudged];
        assert_eq!(found.iter().map(|gate| gate.verdict).collect::<Vec<_>>(), verdicts);
    }

    #[test]
    fn beside_busy_processes_every_mix_is_judged() {
        let cells = [cell(2, "set", 101.0), cell(2, "get", 80.0), cell(4, "half", 90.0)];
        let beside = gates(&Evidence { cells: &cells, cpus: 2, busy: 2 }).pop().expect("it is the last");
        assert_eq!((beside.measured, beside.verdict), (Some(1.25), Verdict::Missed));
    }

    #[test]
    fn some_locks_are_not_all_and_a_gain_hides_no_loss() {
        let [mut set, mut get] = ["set", "get"].map(|mix| cell(2, mix, 99.0));
        for (cell, rate) in [(&mut set, 110.0), (&mut get, 91.0)] {
            cell.rows.retain(|row| row.contender != "mcs");
            cell.rows[1] = row("pthread", [rate, 2.0 * rate, 3.0 * rate]);
        }
        let found = gates(&Evidence { cells: &[set, get], cpus: 2, busy: 0 });
        let [best, _, spread, _, mean, worst, _] = found.as_slice() else { panic!("{found:?}") };
        assert!([best, spread].iter().all(|gate| gate.needs.as_deref().is_some_and(|needs| needs.contains("mcs"))));
        assert_eq!([mean.verdict, worst.verdict], [Verdict::Holds, Verdict::Missed]);
    }

    #[test]
    fn a_missing_cell_or_contender_is_told() {
        let mut alone = cell(2, "set", 99.0);
        alone.rows.truncate(1);
        let found = gates(&Evidence { cells: &[alone], cpus: 2, busy: 0 });
        let needs: Vec<&str> = found.iter().filter_map(|gate| gate.needs.as_deref()).collect();
        assert_eq!(needs[0], "the contender auto");
        assert_eq!(needs[3], "`--mix set --threads 4`");
        assert_eq!(needs.len(), 7);
    }
}
