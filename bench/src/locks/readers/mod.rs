//! Races reader-writer locks: corecast's beside those of the standard library and `parking_lot`.
//!
//! - `value`, `copies`, `contenders`: what is read and written, and by which locks;
//! - `alone`, `crowd`: the experiments;
//! - `gates`, `report`: what is asked, and what is told.

mod alone;
mod contenders;
mod copies;
mod crowd;
mod gates;
mod report;
mod value;

use corecast::base::CpuId;
use corecast::lock::Domains;

use super::interleaved::interleaved;
use super::steps::weight_s;
use super::{Amount, LockOptions, Steps};
use crate::counts::or_usual;
use crate::stats::{jain, median_of};
use crate::turns::{Raced, TurnOrder};
pub(super) use contenders::{Contender, contenders};
use corecast_race::error::BenchError;
use corecast_race::harness::is_crowded;
use crowd::{Crowd, Turn};
pub(super) use gates::judge;
pub use report::{ReaderCell, ReaderPairRow, ReaderReport, ReaderRow};

/// The contenders, the CPUs, and how much is read and written.
pub(super) struct Field<'a> {
    pub(super) contenders: &'a [Contender],
    pub(super) cpus: &'a [CpuId],
    pub(super) domains: &'a Domains,
    pub(super) amount: &'a Amount,
    pub(super) seed: u64,
}

/// The numbers of threads, and writes of a hundred accesses.
pub(super) fn axes(options: &LockOptions, cpus: usize) -> Vec<(usize, u32)> {
    let usual = || {
        let mut threads = if options.options.quick { vec![1, cpus] } else { vec![1, 2, 4, 2 * cpus] };
        threads.push(8 * cpus);
        threads.sort_unstable();
        threads.dedup();
        threads
    };
    let writes = or_usual(&options.writes, || vec![0, 1, 10, 50]);
    let threads = or_usual(&options.threads, usual).into_iter();
    threads.flat_map(|threads| writes.iter().map(move |&writes| (threads, writes))).collect()
}

impl Field<'_> {
    /// Everything.
    pub(super) fn measure(
        &self,
        axes: &[(usize, u32)],
        order: &mut TurnOrder<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<ReaderReport, BenchError> {
        let mut report = ReaderReport { pairs: self.pairs(order)?, cells: Vec::new() };
        for &(threads, writes) in axes {
            let words = format!("{threads} threads, {writes} % writes");
            let Some(amount) = steps.next(self.cell_s((threads, writes)), self.amount, &words) else { continue };
            report.cells.push(Field { amount: &amount, ..*self }.cell(threads, writes, order)?);
        }
        Ok(report)
    }

    /// The weight of a situation, in seconds.
    pub(super) fn cell_s(&self, (threads, _): (usize, u32)) -> f64 {
        weight_s(self.contenders.len(), self.amount, self.amount.block, threads)
    }

    /// The cost of reading and writing alone.
    fn pairs(&self, order: &mut TurnOrder<'_>) -> Result<Vec<ReaderPairRow>, BenchError> {
        let run = |contender: &Contender| Ok((contender.alone)(self.amount.pairs, self.domains));
        let found = interleaved(self.contenders, self.amount, order, run)?;
        let row = |(contender, times): (&Contender, Raced<[f64; 2]>)| {
            let [read_ns, write_ns] =
                [0, 1].map(|which| median_of(times.blocks.iter().map(|ns| ns[which])).expect("there are rounds"));
            ReaderPairRow { contender: contender.name.to_owned(), ours: contender.ours, read_ns, write_ns }
        };
        Ok(self.contenders.iter().zip(found).map(row).collect())
    }

    /// The cell of this many threads at one value.
    fn cell(&self, threads: usize, writes: u32, order: &mut TurnOrder<'_>) -> Result<ReaderCell, BenchError> {
        let Self { cpus, domains, seed, .. } = *self;
        let crowd = Crowd { threads, writes, cpus, domains, time: self.amount.block, seed };
        let found = interleaved(self.contenders, self.amount, order, |contender| (contender.crowd)(&crowd))?;
        let rows = self.contenders.iter().zip(&found).map(|(contender, raced)| row(contender, raced)).collect();
        Ok(ReaderCell { threads, writes, oversubscribed: is_crowded(threads, cpus.len()), rows })
    }
}

fn row(contender: &Contender, raced: &Raced<Turn>) -> ReaderRow {
    let turns = &raced.blocks;
    ReaderRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        mops: median_of(turns.iter().map(Turn::mops)),
        write_mops: median_of(turns.iter().map(Turn::write_mops)),
        jain: median_of(turns.iter().map(|turn| jain(&turn.counts))),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::QUICK;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::options::Options;

    #[test]
    fn every_lock_keeps_values_whole_and_loses_no_write() {
        let (options, contenders, domains) = (Options::default(), contenders(), Domains::one());
        let amount = Amount { rounds: 2, pairs: 500, block: Duration::from_millis(2), ..QUICK };
        let cpus: Vec<CpuId> = this_machine().cpus.iter().map(|cpu| cpu.id).collect();
        let field = Field { contenders: &contenders, cpus: &cpus, domains: &domains, amount: &amount, seed: 3 };
        let mut order = TurnOrder::new(&options, 3);
        let pairs = field.pairs(&mut order).expect("it runs");
        assert_eq!(pairs.len(), contenders.len());
        assert!(pairs.iter().all(|row| row.read_ns > 0.0 && row.write_ns > 0.0), "{pairs:?}");
        for (threads, writes) in [(1, 0), (3, 50)] {
            let cell = field.cell(threads, writes, &mut order).expect("it runs");
            assert_eq!((cell.threads, cell.writes, cell.rows.len()), (threads, writes, contenders.len()));
            for row in &cell.rows {
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.mops.is_some(), "{row:?}");
                assert!(row.write_mops.is_some_and(|mops| writes > 0 || mops == 0.0), "{row:?}");
            }
        }
    }

    #[test]
    fn threads_are_as_many_as_cpus_and_more_unless_said_otherwise() {
        let quick = |quick| Options { quick, ..Options::default() };
        let options = LockOptions { options: quick(true), ..LockOptions::default() };
        let threads = |options: &LockOptions, cpus| {
            let mut threads: Vec<usize> = axes(options, cpus).into_iter().map(|(threads, _)| threads).collect();
            threads.dedup();
            threads
        };
        assert_eq!([threads(&options, 1), threads(&options, 2)], [vec![1, 8], vec![1, 2, 16]]);
        let thorough = LockOptions { options: quick(false), ..options.clone() };
        assert_eq!([threads(&thorough, 2), threads(&thorough, 8)], [vec![1, 2, 4, 16], vec![1, 2, 4, 16, 64]]);
        let asked = LockOptions { threads: vec![3], writes: vec![5, 100], ..options };
        assert_eq!(axes(&asked, 2), [(3, 5), (3, 100)]);
    }
}
