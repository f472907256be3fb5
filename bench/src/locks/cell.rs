//! All locks in one situation, interleaved.

use std::time::Duration;

use fastrand::Rng;

use super::contenders::Contender;
use super::crowd::{Crowd, Turn};
use super::every_round::every_round;
use super::regret::Outcome;
use super::report::{LockCell, LockRow};
use super::{Amount, rounds};
use corecast_race::error::BenchError;
use corecast_race::harness::{is_crowded, jain, median, most_to_fewest, percentile, sorted};
use corecast_race::options::Options;
use corecast_race::skip::Skip;

/// The cell of the report, and each lock's rounds.
pub(super) fn measure(
    contenders: &[Contender],
    crowd: &Crowd<'_>,
    amount: &Amount,
    random: &mut Rng,
    options: &Options,
) -> Result<(LockCell, Outcome), BenchError> {
    let turns = rounds(contenders, amount, random, options, |contender| (contender.crowd)(crowd))?;
    let told =
        contenders.iter().zip(turns).map(|(contender, turns)| every_round(contender.name, contender.ours, turns));
    let turns = told.collect::<Result<Vec<_>, BenchError>>()?;
    let mops = |turns: &Result<Vec<Turn>, Skip>| turns.iter().flatten().map(Turn::mops).collect();
    let outcome = Outcome::of(contenders, turns.iter().map(mops).collect());
    let found = contenders.iter().zip(turns).zip(outcome.regrets());
    let rows = found.map(|((contender, turns), regret)| match turns {
        Ok(turns) => LockRow { regret, ..row(contender, &turns) },
        Err(Skip { reason, failed }) => LockRow { skipped: Some(reason), failed, ..row(contender, &[]) },
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
        most_to_fewest: most_to_fewest(turns.iter().map(|turn| &turn.counts[..])),
        wait_mean_ns: mean(&waits),
        wait_p50_ns: wait(0.5),
        wait_p99_ns: wait(0.99),
        wait_p999_ns: wait(0.999),
        wait_max_ns: waits.last().copied(),
        longest_to_mean: over(longest_to_mean),
        skipped: None,
        failed: false,
    }
}

fn mean(waits: &[f64]) -> Option<f64> {
    (!waits.is_empty()).then(|| waits.iter().sum::<f64>() / waits.len() as f64)
}

/// Nothing where no wait took any time.
fn longest_to_mean(turn: &Turn) -> Option<f64> {
    let longest = turn.waits_ns.iter().copied().reduce(f64::max)?;
    mean(&turn.waits_ns).filter(|&mean| mean > 0.0).map(|mean| longest / mean)
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::*;

    #[test]
    fn the_longest_wait_is_compared_with_the_mean_of_its_own_round() {
        let turn = |waits: &[f64]| Turn { counts: vec![3, 1], seconds: 1.0, waits_ns: waits.to_vec() };
        let rounds = [turn(&[1.0, 1.0, 4.0]), turn(&[10.0, 10.0]), turn(&[2.0, 2.0, 8.0]), turn(&[0.0]), turn(&[])];
        let row = row(&contenders()[0], &rounds);
        assert_eq!((row.longest_to_mean, row.wait_max_ns, row.wait_mean_ns), (Some(2.0), Some(10.0), Some(38.0 / 9.0)));
        let nothing = super::row(&contenders()[0], &[]);
        assert_eq!([nothing.longest_to_mean, nothing.wait_max_ns, nothing.wait_mean_ns], [None; 3]);
    }
}
