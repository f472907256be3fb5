//! All locks in one situation, interleaved.

use corecast::base::CpuId;
use fastrand::Rng;

use super::contenders::Contender;
use super::crowd::{Crowd, Turn};
use super::regret::Outcome;
use super::report::{LockCell, LockRow};
use super::{Amount, rounds};
use crate::error::BenchError;
use crate::failure::Failure;
use crate::harness::{is_crowded, jain, median, most_to_fewest, percentile, sorted};
use crate::options::Options;

/// What was found, to be read, and each lock's rounds.
pub(super) fn measure(
    contenders: &[Contender],
    crowd: &Crowd<'_>,
    cpus: &[CpuId],
    amount: &Amount,
    random: &mut Rng,
    options: &Options,
) -> Result<(LockCell, Outcome), BenchError> {
    let turns = rounds(contenders, amount, random, options, |contender| (contender.crowd)(crowd))?;
    let turns: Vec<Result<Vec<Turn>, Failure>> = turns.into_iter().map(|turns| turns.into_iter().collect()).collect();
    let mops = |turns: &Result<Vec<Turn>, Failure>| turns.iter().flatten().map(Turn::mops).collect();
    let outcome = Outcome::of(contenders, turns.iter().map(mops).collect());
    let found = contenders.iter().zip(turns).zip(outcome.regrets());
    let rows = found.map(|((contender, turns), regret)| match turns {
        Ok(turns) => LockRow { regret, ..row(contender, &turns) },
        Err(failure) => LockRow { skipped: Some(failure.to_string()), ..row(contender, &[]) },
    });
    let rows = rows.collect();
    let hold_ns = u64::try_from(crowd.hold.as_nanos()).unwrap_or(u64::MAX);
    let Crowd { threads, locks, .. } = *crowd;
    let (oversubscribed, pinned) = (is_crowded(threads, cpus.len()), !crowd.cpus.is_empty());
    Ok((LockCell { threads, locks, hold_ns, pinned, oversubscribed, rows }, outcome))
}

fn row(contender: &Contender, turns: &[Turn]) -> LockRow {
    let over = |of: fn(&Turn) -> Option<f64>| median(&turns.iter().filter_map(of).collect::<Vec<_>>());
    let waits = sorted(turns.iter().flat_map(|turn| turn.waits_ns.iter().copied()));
    let wait = |share| (!waits.is_empty()).then(|| percentile(&waits, share));
    LockRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        mops: over(|turn| Some(turn.mops())),
        regret: None,
        jain: over(|turn| jain(&turn.counts)),
        most_to_fewest: over(|turn| most_to_fewest(&turn.counts)),
        wait_p50_ns: wait(0.5),
        wait_p99_ns: wait(0.99),
        wait_p999_ns: wait(0.999),
        skipped: None,
    }
}
