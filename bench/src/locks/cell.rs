//! All locks in one situation, interleaved.

use std::time::Duration;

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
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (hold_ns, gap_ns) = (ns(crowd.hold), ns(crowd.outside()));
    let Crowd { threads, locks, gap, foreign, pinned, .. } = *crowd;
    let oversubscribed = is_crowded(threads + foreign, crowd.cpus.len());
    Ok((LockCell { threads, locks, hold_ns, gap, gap_ns, foreign, pinned, oversubscribed, rows }, outcome))
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
