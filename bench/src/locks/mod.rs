//! `corecast bench locks`: every lock of the registry against those of the standard library, `parking_lot` and the C
//! library.
//!
//! The experiments of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013) that ask what a lock costs which nobody else
//! wants, and how many acquisitions a second threads get from 1 to 512 locks. Locks run in turns, in an order drawn
//! anew for each round.

mod contenders;
mod crowd;
mod guarded;
mod pair;
mod report;

use std::time::Duration;

use corecast::base::CpuId;
use corecast::machine::Machine;
use fastrand::Rng;

use crate::error::BenchError;
use crate::gate::{Demand, Gate};
use crate::harness::{jain, median, most_to_fewest, percentile, sorted};
use crate::options::Options;
use crate::progress::Progress;
use contenders::{Contender, contenders};
use crowd::{Crowd, Turn};
pub use report::{LockCell, LockReport, LockRow, PairRow};

const COLLAPSE: Demand = Demand {
    gate: "16 threads, one lock: acquisitions of the best lock that sleeps / of corecast's slowest lock",
    limit: 20.0,
    is_most: true,
    command: "corecast bench locks --threads 16",
};

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct LockOptions {
    /// CPUs, contenders, pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The numbers of threads; 1, 2, 4, 8 and 16 by default, 1, 2 and 16 if quick.
    pub threads: Vec<usize>,
    /// The numbers of locks; 1, 4, 16, 32, 128 and 512 by default, 1, 16 and 512 if quick.
    pub locks: Vec<usize>,
    /// How long threads spin in the critical section; nothing beyond writing the line by default.
    pub hold: Duration,
}

/// How much is measured.
struct Amount {
    rounds: usize,
    pairs: u32,
    block: Duration,
}

const THOROUGH: Amount = Amount { rounds: 11, pairs: 200_000, block: Duration::from_millis(20) };
const QUICK: Amount = Amount { rounds: 5, pairs: 20_000, block: Duration::from_millis(4) };

/// Races all locks.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, or the run is cancelled.
pub fn locks(machine: &Machine, options: &LockOptions, progress: &mut dyn Progress) -> Result<LockReport, BenchError> {
    let LockOptions { options: shared, threads, locks, hold } = options;
    let cpus: Vec<CpuId> = shared.usable_cpus(machine)?.iter().collect();
    let contenders = chosen(shared)?;
    let amount = if shared.quick { QUICK } else { THOROUGH };
    let seed = shared.seed_or_draw();
    let mut random = Rng::with_seed(seed);
    let threads = or_default(threads, if shared.quick { &[1, 2, 16] } else { &[1, 2, 4, 8, 16] });
    let locks = or_default(locks, if shared.quick { &[1, 16, 512] } else { &[1, 4, 16, 32, 128, 512] });
    let pairs = pairs(&contenders, &amount, &mut random, shared)?;
    let total = (threads.len() * locks.len()) as f64;
    let mut cells = Vec::new();
    for &threads in &threads {
        for &locks in &locks {
            progress.step(cells.len() as f64 / total, &format!("{threads} threads, {locks} locks"));
            let crowd = Crowd { threads, locks, hold: *hold, cpus: &cpus, time: amount.block, seed };
            cells.push(cell(&contenders, &crowd, &amount, &mut random, shared)?);
        }
    }
    progress.step(1.0, "done");
    let cpus = cpus.iter().map(|cpu| cpu.get()).collect();
    let gates = vec![collapse(&contenders, &cells)];
    let (machine, commit) = (machine.name.clone(), crate::report::commit());
    Ok(LockReport { machine, commit, seed, quick: shared.quick, cpus, pairs, cells, gates })
}

fn or_default(asked: &[usize], usual: &[usize]) -> Vec<usize> {
    if asked.is_empty() { usual.to_vec() } else { asked.to_vec() }
}

/// The contenders asked for by name; all if there is none.
fn chosen(options: &Options) -> Result<Vec<Contender>, BenchError> {
    let all = contenders();
    let is_known = |name: &&String| !all.iter().any(|contender| contender.name == **name);
    if let Some(name) = options.contenders.iter().find(is_known) {
        let known = all.iter().map(|contender| contender.name).collect::<Vec<_>>().join(", ");
        return Err(BenchError::Contender { name: name.clone(), known });
    }
    let is_chosen = |contender: &Contender| {
        options.contenders.is_empty() || options.contenders.iter().any(|name| name == contender.name)
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Every contender's times, in rounds of an order drawn anew.
fn rounds<T>(
    contenders: &[Contender],
    amount: &Amount,
    random: &mut Rng,
    options: &Options,
    mut run: impl FnMut(&Contender) -> T,
) -> Result<Vec<Vec<T>>, BenchError> {
    let mut found: Vec<Vec<T>> = contenders.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    for _ in 0..amount.rounds {
        random.shuffle(&mut order);
        for &at in &order {
            options.go_on()?;
            found[at].push(run(&contenders[at]));
        }
    }
    Ok(found)
}

fn pairs(
    contenders: &[Contender],
    amount: &Amount,
    random: &mut Rng,
    options: &Options,
) -> Result<Vec<PairRow>, BenchError> {
    let times = rounds(contenders, amount, random, options, |contender| (contender.pair_ns)(amount.pairs))?;
    let row = |(contender, times): (&Contender, Vec<f64>)| PairRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        median_ns: median(&times).expect("there are rounds"),
        min_ns: times.iter().copied().fold(f64::INFINITY, f64::min),
    };
    Ok(contenders.iter().zip(times).map(row).collect())
}

fn cell(
    contenders: &[Contender],
    crowd: &Crowd<'_>,
    amount: &Amount,
    random: &mut Rng,
    options: &Options,
) -> Result<LockCell, BenchError> {
    let turns = rounds(contenders, amount, random, options, |contender| (contender.crowd)(crowd))?;
    let mut rows: Vec<LockRow> = contenders
        .iter()
        .zip(turns)
        .map(|(contender, turns)| match turns.into_iter().collect::<Result<Vec<Turn>, _>>() {
            Ok(turns) => row(contender, &turns),
            Err(failure) => LockRow { skipped: Some(failure.to_string()), ..row(contender, &[]) },
        })
        .collect();
    let best = rows.iter().filter_map(|row| row.mops).fold(0.0, f64::max);
    rows.iter_mut().for_each(|row| row.regret = row.mops.map(|mops| best / mops));
    let hold_ns = u64::try_from(crowd.hold.as_nanos()).unwrap_or(u64::MAX);
    let oversubscribed = crowd.threads > crowd.cpus.len();
    Ok(LockCell { threads: crowd.threads, locks: crowd.locks, hold_ns, oversubscribed, rows })
}

fn row(contender: &Contender, turns: &[Turn]) -> LockRow {
    let over = |of: fn(&Turn) -> Option<f64>| median(&turns.iter().filter_map(of).collect::<Vec<_>>());
    let waits = sorted(turns.iter().flat_map(|turn| turn.waits_ns.iter().copied()));
    let wait = |share| (!waits.is_empty()).then(|| percentile(&waits, share));
    LockRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        mops: over(|turn| Some(turn.counts.iter().sum::<u64>() as f64 / turn.seconds / 1e6)),
        regret: None,
        jain: over(|turn| jain(&turn.counts)),
        most_to_fewest: over(|turn| most_to_fewest(&turn.counts)),
        wait_p50_ns: wait(0.5),
        wait_p99_ns: wait(0.99),
        wait_p999_ns: wait(0.999),
        skipped: None,
    }
}

fn collapse(contenders: &[Contender], cells: &[LockCell]) -> Gate {
    let is_judged = |cell: &&LockCell| cell.threads == 16 && cell.locks == 1 && cell.oversubscribed;
    let Some(cell) = cells.iter().find(is_judged) else {
        return COLLAPSE.judge(Err("16 threads on fewer CPUs, one lock".to_owned()));
    };
    let mops = |wanted: fn(&Contender) -> bool| {
        let of = move |contender: &Contender| {
            let row = cell.rows.iter().find(|row| row.contender == contender.name && wanted(contender))?;
            row.mops
        };
        contenders.iter().filter_map(of).collect::<Vec<f64>>()
    };
    let sleeping = mops(|contender| contender.sleeps).into_iter().reduce(f64::max);
    let slowest = mops(|contender| contender.ours).into_iter().reduce(f64::min);
    let ratio = sleeping.zip(slowest).map(|(best, slowest)| best / slowest);
    COLLAPSE.judge(ratio.ok_or_else(|| "a lock that sleeps, and corecast's".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn every_lock_counts_right_and_is_told_with_its_fairness() {
        let options = Options { quick: true, ..Options::default() };
        let options = LockOptions { options, threads: vec![1, 3], locks: vec![1, 4], ..LockOptions::default() };
        let report = locks(&this_machine(), &options, &mut ()).expect("it runs");
        let names: Vec<_> = contenders().iter().map(|contender| contender.name).collect();
        assert_eq!(report.pairs.iter().map(|row| row.contender.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(report.cells.len(), 4);
        for cell in &report.cells {
            for row in &cell.rows {
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.mops.is_some_and(|mops| mops > 0.0) && row.regret.is_some_and(|regret| regret >= 1.0));
                let fairest = 1.0 + 1e-9;
                assert!(row.jain.is_some_and(|jain| jain >= 1.0 / cell.threads as f64 - 1e-9 && jain <= fairest));
            }
            assert!(cell.rows.iter().any(|row| row.regret == Some(1.0)));
        }
    }

    #[test]
    fn an_unknown_contender_is_named() {
        let options = Options { contenders: vec!["futex".to_owned()], ..Options::default() };
        let options = LockOptions { options, ..LockOptions::default() };
        let error = locks(&this_machine(), &options, &mut ()).expect_err("there is none");
        assert!(error.to_string().contains("'futex'"), "{error}");
    }
}
