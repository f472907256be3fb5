//! The demands on corecast's locks for readers, and whether they hold here.

use super::contenders::{PARKING_LOT, SPREAD};
use super::report::{ReaderCell, ReaderPairRow, ReaderReport};
use crate::rules::{self, Rule, at_least, at_most};
use crate::stats::least;
use corecast_race::gate::Gate;

const COMMAND: &str = "corecast bench locks";
const SCALING: &str =
    "rw_spread, threads with a CPU each that only read: accesses / those of one thread for each of them, the worst";
const ALONE: &str = "rw_spread, one thread that reads: time / that of parking_lot's";
const RULES: &[Rule<ReaderReport>] = &[
    Rule::new(at_least(0.9, SCALING, COMMAND), |report| scaling(&report.cells)),
    Rule::new(at_most(1.3, ALONE, COMMAND), |report| alone(&report.pairs)),
];

/// Two gates.
pub(in super::super) fn judge(report: &ReaderReport) -> Vec<Gate> {
    rules::judge(RULES, report)
}

fn scaling(cells: &[ReaderCell]) -> Result<f64, String> {
    let reading = || cells.iter().filter(|cell| cell.writes == 0 && !cell.oversubscribed);
    let mops = |cell: &ReaderCell| cell.rows.iter().find(|row| row.contender == SPREAD)?.mops;
    let one = reading().find(|cell| cell.threads == 1).and_then(mops);
    let many = reading().filter(|cell| cell.threads > 1);
    let ratios = many.filter_map(|cell| Some(mops(cell)? / one? / cell.threads as f64));
    least(ratios).ok_or_else(|| "rw_spread, no writes, one thread, and several that have a CPU each".to_owned())
}

fn alone(pairs: &[ReaderPairRow]) -> Result<f64, String> {
    let read_ns = |name| pairs.iter().find(|row| row.contender == name).map(|row| row.read_ns);
    let both = read_ns(SPREAD).zip(read_ns(PARKING_LOT));
    both.map(|(own, rival)| own / rival).ok_or_else(|| format!("{SPREAD} and {PARKING_LOT}"))
}

#[cfg(test)]
mod tests {
    use super::super::report::ReaderRow;
    use super::*;
    use corecast_race::gate::Verdict;

    fn cell(threads: usize, writes: u32, mops: f64) -> ReaderCell {
        let row = |contender: &str, mops| ReaderRow {
            contender: contender.to_owned(),
            mops: Some(mops),
            ..ReaderRow::default()
        };
        let rows = vec![row("seq", 1.0), row(SPREAD, mops)];
        ReaderCell { threads, writes, oversubscribed: threads > 4, rows }
    }

    fn pair((contender, read_ns): (&str, f64)) -> ReaderPairRow {
        ReaderPairRow { contender: contender.to_owned(), ours: true, read_ns, write_ns: 1.0 }
    }

    fn found(pairs: &[(&str, f64)], cells: &[ReaderCell]) -> Vec<(Option<f64>, Verdict)> {
        let report = ReaderReport { pairs: pairs.iter().copied().map(pair).collect(), cells: cells.to_vec() };
        judge(&report).iter().map(|gate| (gate.measured, gate.verdict)).collect()
    }

    #[test]
    fn readers_alone_are_compared_with_one_and_with_the_rival() {
        let cells = [cell(1, 0, 10.0), cell(2, 0, 19.0), cell(4, 0, 30.0), cell(4, 1, 1.0), cell(16, 0, 1.0)];
        let both = [(SPREAD, 26.0), (PARKING_LOT, 20.0)];
        assert_eq!(found(&both, &cells), [(Some(0.75), Verdict::Missed), (Some(1.3), Verdict::Holds)]);
        assert_eq!(found(&both, &cells[..2])[0], (Some(0.95), Verdict::Holds));
    }

    #[test]
    fn cells_that_were_not_measured_are_not_judged() {
        let none = [(None, Verdict::NotJudged); 2];
        assert_eq!(found(&[(SPREAD, 1.0)], &[cell(1, 0, 10.0), cell(16, 0, 1.0)]), none);
        assert_eq!(found(&[(PARKING_LOT, 1.0)], &[cell(1, 10, 10.0), cell(2, 0, 19.0)]), none);
    }
}
