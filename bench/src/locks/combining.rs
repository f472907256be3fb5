//! Races `Combine` and `Delegate`, which run closures on data, beside every lock where many threads want the same data.
//!
//! Threads want it for no time, or 100 ns, beyond writing a line, and between two accesses stay outside as in SSYNC's experiment.
//! A server is one of the threads: so `delegate` has one client fewer, and its server is bound to the first CPU. The regret
//! told is over these contenders and this situation.

use std::time::Duration;

use super::contenders::{COMBINE, Contender, DELEGATE};
use super::crowd::Crowd;
use super::report::LockCell;
use super::{Field, LockOptions, Steps, cell};
use crate::counts::or_usual;
use crate::rules::at_least;
use crate::stats::{least, most};
use crate::turns::TurnOrder;
use corecast_race::error::BenchError;
use corecast_race::gate::{Demand, Gate};

/// How long the data is wanted.
const HOLDS: [Duration; 2] = [Duration::ZERO, Duration::from_nanos(100)];
/// Enough threads that many wait.
const MANY: usize = 8;

const GAIN: Demand = at_least(
    1.5,
    "combine, 8 threads or more with a CPU each, held for 100 ns at most: accesses / those of the best lock, the worst",
    "corecast bench locks",
);

/// The situations: several threads, one piece of data.
pub(super) fn crowds<'a>(options: &LockOptions, like: Crowd<'a>) -> Vec<Crowd<'a>> {
    let usual = || if options.options.quick { vec![2, 16] } else { vec![2, 4, 8, 16] };
    let threads = or_usual(&options.threads, usual).into_iter().filter(|&threads| threads > 1);
    threads.flat_map(|threads| HOLDS.map(|hold| Crowd { threads, hold, locks: 1, ..like })).collect()
}

impl Field<'_> {
    /// How many take part, with `others`.
    pub(super) fn sending(&self, others: &[Contender]) -> usize {
        others.len() + self.contenders.len()
    }

    /// The locks and `others`, in turns.
    pub(super) fn combining(
        &self,
        others: &[Contender],
        crowds: &[Crowd<'_>],
        order: &mut TurnOrder<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<LockCell>, BenchError> {
        let all: Vec<Contender> = others.iter().chain(self.contenders).copied().collect();
        let mut cells = Vec::new();
        for crowd in crowds {
            let words = format!("{} threads, closures sent", crowd.threads);
            let Some(amount) = steps.next(self.crowd_s(crowd, all.len()), self.amount, &words) else { continue };
            cells.push(cell::measure(&all, crowd, &amount, order)?.0);
        }
        Ok(cells)
    }
}

/// `is_all` is false if some locks were left out: the most of the rest would mean something else.
pub(super) fn judge(is_all: bool, cells: &[LockCell]) -> Gate {
    let is_judged = |cell: &&LockCell| is_all && cell.threads >= MANY && !cell.oversubscribed;
    let gains = cells.iter().filter(is_judged).filter_map(|cell| {
        let mops = |is_wanted: fn(&str) -> bool| {
            most(cell.rows.iter().filter(|row| is_wanted(&row.contender)).map(|row| row.mops))
        };
        Some(mops(|name| name == COMBINE)? / mops(|name| ![COMBINE, DELEGATE].contains(&name))?)
    });
    let needs = || format!("{MANY} CPUs, and all locks, none chosen");
    GAIN.judge(least(gains).ok_or_else(needs))
}

#[cfg(test)]
mod tests {
    use corecast::base::CpuId;
    use corecast::lock::Domains;

    use super::super::contenders::{combining, contenders};
    use super::super::grid::alone;
    use super::super::report::LockRow;
    use super::super::steps::Allowance;
    use super::super::{Amount, QUICK};
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::gate::Verdict;
    use corecast_race::options::Options;

    #[test]
    fn closures_count_right_and_a_server_is_one_of_the_threads() {
        let (options, domains) = (Options::default(), Domains::one());
        let cpus: Vec<CpuId> = this_machine().cpus.iter().map(|cpu| cpu.id).collect();
        let amount = Amount { rounds: 2, block: Duration::from_millis(2), ..QUICK };
        let field = Field { contenders: &[], cpus: &cpus, domains: &domains, amount: &amount, options: &options };
        let asked = LockOptions { threads: vec![1, 2, 4], ..LockOptions::default() };
        let crowds = crowds(&asked, alone(&cpus, &domains, amount.block, 1));
        assert_eq!(
            crowds.iter().map(|crowd| crowd.threads).collect::<Vec<_>>(),
            [2, 2, 4, 4],
            "one thread sends nothing"
        );
        let mut ignored = ();
        let mut steps = Steps::begin(&mut ignored, Allowance::THOROUGH, 1.0);
        let mut order = TurnOrder::new(&options, 1);
        let cells = field.combining(&combining(), &crowds, &mut order, &mut steps).expect("it runs");
        assert_eq!(cells.len(), 4);
        for row in cells.iter().flat_map(|cell| &cell.rows) {
            assert_eq!(row.skipped, None, "{}", row.contender);
            assert!(row.mops.is_some(), "{row:?}");
        }
        let jain = cells[0].rows.iter().find(|row| row.contender == DELEGATE).and_then(|row| row.jain);
        assert!(jain.is_none_or(|jain| jain == 1.0), "one client has nobody to share with: {jain:?}");
    }

    #[test]
    fn a_server_needs_a_client() {
        let (domains, cpus) = (Domains::one(), [this_machine().cpus[0].id]);
        let delegate = combining().into_iter().find(|contender| contender.name == DELEGATE).expect("known");
        let crowd = alone(&cpus, &domains, Duration::from_millis(1), 1);
        let error = (delegate.crowd)(&crowd).expect_err("there is none");
        assert!(error.to_string().contains("client"), "{error}");
    }

    #[test]
    fn the_gain_is_judged_over_all_locks_with_enough_cpus() {
        let cell = |threads: usize, oversubscribed, combine| {
            let row = |name: &str, mops| LockRow { contender: name.to_owned(), mops: Some(mops), ..LockRow::default() };
            let rows =
                vec![row(COMBINE, combine), row(DELEGATE, 90.0), row("tas", 5.0), row(contenders()[1].name, 10.0)];
            LockCell { threads, locks: 1, pinned: true, oversubscribed, rows, ..LockCell::default() }
        };
        let found = |is_all, cells: &[LockCell]| {
            let gate = judge(is_all, cells);
            (gate.measured, gate.verdict)
        };
        let cells = [cell(4, false, 1.0), cell(8, false, 20.0), cell(16, false, 15.0), cell(32, true, 1.0)];
        assert_eq!(found(true, &cells), (Some(1.5), Verdict::Holds));
        let not_judged = (None, Verdict::NotJudged);
        assert_eq!([found(false, &cells), found(true, &cells[..1]), found(true, &cells[3..])], [not_judged; 3]);
    }
}
