//! The demands on the barrier shim under clustering programs.

use corecast_race::gate::Gate;

use super::report::{StreamClusterCell, StreamClusterRow};
use super::size::StreamClusterSize;
use crate::rules::{Rule, at_least, at_most, judge, judge_beside};
use crate::stats::{least, median, most};

const COMMAND: &str = "corecast bench streamcluster";
const ROUNDS: &str = "corecast bench streamcluster --size rounds --threads 2,4,8";
/// From this number of threads on the lead of Smelt's authors is asked for.
const MANY: usize = 16;

pub(super) struct Evidence<'a> {
    pub(super) cells: &'a [StreamClusterCell],
    /// The input. Without points only barriers were timed.
    pub(super) size: StreamClusterSize,
    pub(super) cpus: usize,
    /// Busy processes beside the rounds.
    pub(super) busy: usize,
}

/// Barriers alone are compared with the C library's, and clustering with what others have found.
fn quiet_rules<'a>() -> [Rule<Evidence<'a>>; 5] {
    [
        Rule::new(at_least(100.0, "rounds of 2 threads with a CPU each, pthread / shim", ROUNDS), |run| {
            rounds(run, 2, !run.cells.iter().any(|cell| cell.threads == 2 && cell.oversubscribed))
        }),
        Rule::new(at_least(3.0, "rounds of 4 threads on 2 CPUs, pthread / shim", ROUNDS), |run| {
            rounds(run, 4, run.cpus == 2)
        }),
        Rule::new(at_least(1.5, "rounds of 8 threads on 2 CPUs, pthread / shim", ROUNDS), |run| {
            rounds(run, 8, run.cpus == 2)
        }),
        Rule::new(at_least(1.19, "pthread / shim, 16 threads or more with a CPU each", COMMAND), |run| {
            lead(run, "pthread", "shim")
        }),
        Rule::new(at_least(1.0, "mcs / shim, 16 threads or more with a CPU each", COMMAND), |run| {
            lead(run, "mcs", "shim")
        }),
    ]
}

fn beside_rule<'a>() -> Rule<Evidence<'a>> {
    let demand = at_most(1.05, "beside busy processes: shim / pthread, the worst number of threads", COMMAND);
    Rule::new(demand, |run| {
        let loss = |cell: &StreamClusterCell| ratio(row(cell, "shim")?, row(cell, "pthread")?);
        most(run.cells.iter().map(loss)).ok_or_else(|| "the contenders shim and pthread".to_owned())
    })
}

/// All of them.
pub(super) fn gates(run: &Evidence<'_>) -> Vec<Gate> {
    let mut gates = judge_beside(run.busy, &quiet_rules(), &beside_rule(), run);
    let unbroken = Rule::new(at_most(0.0, "contenders with another result, or none", COMMAND), broken);
    gates.extend(judge(&[unbroken], run));
    gates
}

/// The times of one row over those of another one, round by round: the median.
pub(super) fn ratio(of: &StreamClusterRow, over: &StreamClusterRow) -> Option<f64> {
    let ratios: Vec<f64> = of.times.iter().zip(&over.times).map(|(of, over)| of / over).collect();
    median(&ratios)
}

/// The lead of the shim where threads do nothing but meet.
fn rounds(run: &Evidence<'_>, threads: usize, has_cpus: bool) -> Result<f64, String> {
    if run.size != StreamClusterSize::Rounds || !has_cpus {
        return Err(format!("`--size rounds --threads {threads}` on 2 CPUs"));
    }
    let cell = run.cells.iter().find(|cell| cell.threads == threads);
    let cell = cell.ok_or_else(|| format!("`--threads {threads}`"))?;
    let lead = row(cell, "pthread").zip(row(cell, "shim")).and_then(|(pthread, shim)| ratio(pthread, shim));
    lead.ok_or_else(|| "the contenders pthread and shim".to_owned())
}

fn lead(run: &Evidence<'_>, of: &str, over: &str) -> Result<f64, String> {
    if run.size == StreamClusterSize::Rounds {
        return Err("points to cluster".to_owned());
    }
    let cells: Vec<_> = run.cells.iter().filter(|cell| cell.threads >= MANY && !cell.oversubscribed).collect();
    if cells.is_empty() {
        return Err(format!("{MANY} CPUs, and `--threads {MANY}`"));
    }
    let leads = cells.iter().map(|cell| ratio(row(cell, of)?, row(cell, over)?));
    least(leads).ok_or_else(|| format!("the contenders {of} and {over}"))
}

fn row<'a>(cell: &'a StreamClusterCell, name: &str) -> Option<&'a StreamClusterRow> {
    cell.rows.iter().find(|row| row.contender == name)
}

fn broken(run: &Evidence<'_>) -> Result<f64, String> {
    let rows = || run.cells.iter().flat_map(|cell| &cell.rows);
    if !rows().any(|row| row.ours && row.seconds.is_some() || row.failed) {
        return Err("the contender shim".to_owned());
    }
    Ok(rows().filter(|row| row.failed).count() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn cell(threads: usize, oversubscribed: bool) -> StreamClusterCell {
        let row = |contender, seconds: f64| StreamClusterRow {
            contender,
            ours: contender == "shim",
            seconds: Some(seconds),
            times: vec![seconds, 2.0 * seconds],
            ..StreamClusterRow::default()
        };
        StreamClusterCell {
            threads,
            oversubscribed,
            rows: vec![row("pthread", 2.5), row("shim", 2.0), row("mcs", 1.9)],
        }
    }

    #[test]
    fn leads_are_judged_with_many_cpus_only() {
        let verdicts = |busy| {
            let few = gates(&Evidence { cells: &[cell(16, true)], size: StreamClusterSize::Simsmall, cpus: 2, busy });
            few.iter().map(|gate| gate.verdict).collect::<Vec<_>>()
        };
        let (open, holds) = (Verdict::NotJudged, Verdict::Holds);
        assert_eq!(verdicts(0), [open, open, open, open, open, open, holds]);
        assert_eq!(verdicts(2), [open, open, open, open, open, holds, holds]);
        let judged = |cell, size| gates(&Evidence { cells: &[cell], size, cpus: 2, busy: 0 });
        let many = judged(cell(16, false), StreamClusterSize::Simsmall);
        assert_eq!([many[3].measured, many[4].measured], [Some(1.25), Some(0.95)]);
        let mut wrong = cell(2, false);
        wrong.rows[1].failed = true;
        assert_eq!(judged(wrong, StreamClusterSize::Tiny)[6].verdict, Verdict::Missed);
    }

    #[test]
    fn rounds_are_judged_for_themselves() {
        let cells = [cell(2, false), cell(4, true), cell(16, false)];
        let judged = |size, cpus| {
            let judged = gates(&Evidence { cells: &cells, size, cpus, busy: 0 });
            judged.iter().map(|gate| gate.measured.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(judged(StreamClusterSize::Rounds, 2), [true, true, false, false, false, false, true]);
        assert_eq!(judged(StreamClusterSize::Rounds, 4), [true, false, false, false, false, false, true]);
        assert_eq!(judged(StreamClusterSize::Tiny, 2), [false, false, false, true, true, false, true]);
    }
}
