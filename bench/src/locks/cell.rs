//! Races all locks in one situation, interleaved.

use std::time::Duration;

use super::Amount;
use super::contenders::Contender;
use super::crowd::{Crowd, Turn};
use super::interleaved::interleaved;
use super::regret::{CHOOSER, Outcome};
use super::report::{LockCell, LockRow};
use crate::stats::{Samples, jain, mean, median_of, most, most_to_fewest};
use crate::turns::{Raced, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::harness::is_crowded;

/// The cell of the report, and each lock's rounds.
pub(super) fn measure(
    contenders: &[Contender],
    crowd: &Crowd<'_>,
    amount: &Amount,
    order: &mut TurnOrder<'_>,
) -> Result<(LockCell, Outcome), BenchError> {
    let found = interleaved(contenders, amount, order, |contender| (contender.crowd)(crowd))?;
    let mops = |raced: &Raced<Turn>| raced.blocks.iter().map(Turn::mops).collect();
    let outcome = Outcome::of(contenders, found.iter().map(mops).collect());
    let found = contenders.iter().zip(&found).zip(outcome.regrets());
    let rows = found.map(|((contender, raced), regret)| LockRow { regret, ..row(contender, raced) }).collect();
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (hold_ns, gap_ns) = (ns(crowd.hold), ns(crowd.outside()));
    let Crowd { threads, locks, gap, foreign, pinned, .. } = *crowd;
    let oversubscribed = is_crowded(threads + foreign, crowd.cpus.len());
    Ok((LockCell { threads, locks, hold_ns, gap, gap_ns, foreign, pinned, oversubscribed, rows }, outcome))
}

/// How long threads share locks before it is said how evenly: some turns of the system's scheduler for each.
const SHARED: Duration = Duration::from_millis(100);
/// The locks that are asked for it in a quick run too.
const ASKED: [&str; 2] = [CHOOSER, "std"];

/// The contenders that share the locks for long, if there are threads to share with.
fn sharing<'a>(contenders: &'a [Contender], crowd: &Crowd<'_>, quick: bool) -> impl Iterator<Item = &'a Contender> {
    let is_shared = crowd.threads > 1;
    contenders.iter().filter(move |contender| is_shared && (!quick || ASKED.contains(&contender.name)))
}

/// The seconds that it takes.
pub(super) fn sharing_s(contenders: &[Contender], crowd: &Crowd<'_>, quick: bool) -> f64 {
    sharing(contenders, crowd, quick).count() as f64 * SHARED.as_secs_f64()
}

/// Adds to the rows how evenly threads share the locks for long.
pub(super) fn share(
    contenders: &[Contender],
    crowd: &Crowd<'_>,
    (amount, quick): (&Amount, bool),
    order: &mut TurnOrder<'_>,
    cell: &mut LockCell,
) -> Result<(), BenchError> {
    let sharing: Vec<Contender> = sharing(contenders, crowd, quick).copied().collect();
    let (once, long) = (Amount { rounds: 1, ..*amount }, Crowd { time: SHARED, ..*crowd });
    let found = interleaved(&sharing, &once, order, |contender| (contender.crowd)(&long))?;
    for (contender, raced) in sharing.iter().zip(&found) {
        let row = cell.rows.iter_mut().find(|row| row.contender == contender.name);
        if let Some((row, turn)) = row.zip(raced.blocks.first()) {
            row.jain_100ms = jain(&turn.counts);
            row.wait_max_100ms_ns = most(turn.waits_ns.iter().copied());
        }
    }
    Ok(())
}

fn row(contender: &Contender, raced: &Raced<Turn>) -> LockRow {
    let turns = &raced.blocks;
    let waits = Samples::of(turns.iter().flat_map(|turn| turn.waits_ns.iter().copied()));
    LockRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        mops: median_of(turns.iter().map(Turn::mops)),
        regret: None,
        jain: median_of(turns.iter().map(|turn| jain(&turn.counts))),
        jain_100ms: None,
        wait_max_100ms_ns: None,
        most_to_fewest: most_to_fewest(turns.iter().map(|turn| &turn.counts[..])),
        wait_mean_ns: waits.mean(),
        wait_p50_ns: waits.quantile(0.5),
        wait_p99_ns: waits.quantile(0.99),
        wait_p999_ns: waits.quantile(0.999),
        wait_max_ns: waits.most(),
        longest_to_mean: median_of(turns.iter().map(longest_to_mean)),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

/// Nothing where no wait took any time.
fn longest_to_mean(turn: &Turn) -> Option<f64> {
    let longest = most(turn.waits_ns.iter().copied())?;
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
        let raced = |blocks: &[Turn]| Raced { blocks: blocks.to_vec(), skip: None };
        let row = row(&contenders()[0], &raced(&rounds));
        assert_eq!((row.longest_to_mean, row.wait_max_ns, row.wait_mean_ns), (Some(2.0), Some(10.0), Some(38.0 / 9.0)));
        let nothing = super::row(&contenders()[0], &raced(&[]));
        assert_eq!([nothing.longest_to_mean, nothing.wait_max_ns, nothing.wait_mean_ns], [None; 3]);
    }
}
