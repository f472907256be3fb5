//! Judging an episode by all that its clients saw.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

use corecast::replica::linearizability::{
    Operation, Register, RegisterAnswer, RegisterOp, USUAL_LIMIT, Verdict, check, split_by_key,
};
use corecast_race::failure::Failure;

use super::client::counter_of;
use super::history::{self, Done, OWN};
use super::report::CrashEpisode;

/// All that the clients of an episode saw, by client.
pub(super) type Histories = BTreeMap<u64, Vec<Done>>;

/// Reads the histories of all clients.
pub(super) fn read(folder: &Path) -> Result<Histories, Failure> {
    let mut histories = Histories::new();
    let files = std::fs::read_dir(folder).map_err(Failure::while_doing("list the histories"))?;
    for file in files {
        let path = file.map_err(Failure::while_doing("list the histories"))?.path();
        if path.extension().is_none_or(|extension| extension != "history") {
            continue;
        }
        let client = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let client = client.ok_or_else(|| Failure::Wrong(format!("{} has no client's number", path.display())))?;
        let text = std::fs::read_to_string(&path).map_err(Failure::while_doing("read a history"))?;
        let history = history::read(client, &text);
        histories.insert(client, history.ok_or_else(|| Failure::Wrong(format!("{} is no history", path.display())))?);
    }
    Ok(histories)
}

/// Takes reads out that say nothing of what a group has which was made anew from its files: a read may show a write that is in no
/// file yet. All that it has shown is durable once a write is answered that was asked for after it.
pub(super) fn settle_reads(histories: &mut Histories, deaths_of_all: &[u64]) {
    let mut begin_ns = 0;
    for &end_ns in deaths_of_all {
        let calls = histories.values().flatten().filter(|(call, _)| call.op != RegisterOp::Get);
        let answered = calls.filter(|(_, one)| one.returned.is_some() && (begin_ns..end_ns).contains(&one.call_ns));
        let last_ns = answered.map(|(_, one)| one.call_ns).max().unwrap_or(begin_ns);
        for history in histories.values_mut() {
            history.retain(|(call, one)| {
                let is_of_group = call.op == RegisterOp::Get && (begin_ns..end_ns).contains(&one.call_ns);
                !is_of_group || one.returned.as_ref().is_some_and(|returned| returned.at_ns < last_ns)
            });
        }
        begin_ns = end_ns;
    }
}

/// Counts, and describes all that must not be.
pub(super) fn judge(histories: Histories, counts: &mut CrashEpisode) -> Vec<String> {
    let mut faults = Vec::new();
    let done = || histories.values().flatten().filter(|(_, operation)| operation.returned.is_some());
    counts.reads += done().filter(|(call, _)| call.op == RegisterOp::Get).count() as u64;
    counts.writes += done().filter(|(call, _)| call.op != RegisterOp::Get).count() as u64;
    judge_counters(&histories, counts, &mut faults);
    let shared = histories.into_values().flatten();
    let shared = shared.filter(|(call, _)| call.key != OWN && counter_of(call.key).is_none());
    for (key, mut history) in split_by_key(shared.map(|(call, operation)| (call.key, operation))) {
        // A read without an answer says nothing.
        history.retain(|operation| operation.returned.is_some() || operation.op != RegisterOp::Get);
        history.sort_by_key(|operation| operation.call_ns);
        counts.histories += 1;
        judge_key(key, &history, counts, &mut faults);
    }
    faults
}

fn judge_key(
    key: u64,
    history: &[Operation<RegisterOp, RegisterAnswer>],
    counts: &mut CrashEpisode,
    faults: &mut Vec<String>,
) {
    let (what, violation) = match check(&Register, history, USUAL_LIMIT) {
        Verdict::Linearizable => return,
        Verdict::Violated(violation) => {
            counts.not_linearizable += 1;
            ("is not linearizable", violation)
        }
        Verdict::Undecided(violation) => {
            counts.undecided += 1;
            ("could not be decided", violation)
        }
    };
    let mut text = format!("the history of key {key}, {} operations, {what}\n", history.len());
    let _ = violation.explain(history, &mut text);
    for operation in history {
        let _ = writeln!(text, "{operation:?}");
    }
    faults.push(text);
}

/// A counter belongs to one client, which waits for each answer: the answers are 1, 2, 3 and so on, and in the end the counter
/// shows all that were answered, and at most the last one more.
fn judge_counters(histories: &Histories, counts: &mut CrashEpisode, faults: &mut Vec<String>) {
    let mut bounds = HashMap::new();
    for (&client, history) in histories {
        let own = history.iter().filter(|(call, _)| call.key == OWN);
        let (mut asked, mut answered) = (0, 0);
        for (_, operation) in own {
            asked += 1;
            let Some(returned) = &operation.returned else { continue };
            answered = asked;
            if let RegisterAnswer::Number(number) = returned.answer {
                compare(client, number, asked..=asked, "was answered", counts, faults);
            }
        }
        bounds.insert(client, answered..=asked);
    }
    if counts.gone > 0 {
        // Nobody is left to read them.
        counts.lost += bounds.values().filter(|bounds| *bounds.start() > 0).count() as u64;
    }
    for (call, operation) in histories.values().flatten() {
        let (Some(client), Some(returned)) = (counter_of(call.key), &operation.returned) else { continue };
        if let RegisterAnswer::Value(value) = returned.answer {
            let bounds = bounds.get(&client).cloned().unwrap_or(0..=0);
            compare(client, value.map_or(0, |value| value as i64), bounds, "was in the end", counts, faults);
        }
    }
}

fn compare(
    client: u64,
    number: i64,
    allowed: std::ops::RangeInclusive<i64>,
    what: &str,
    counts: &mut CrashEpisode,
    faults: &mut Vec<String>,
) {
    if allowed.contains(&number) {
        return;
    }
    if number < *allowed.start() {
        counts.lost += 1;
    } else {
        counts.twice += 1;
    }
    faults.push(format!("the counter of client {client} {what} {number}, expected {allowed:?}\n"));
}

/// The times at which writes were called and answered, by the time of the call.
pub(super) fn answered_writes(histories: &Histories) -> Vec<(u64, u64)> {
    let writes = histories.values().flatten().filter(|(call, _)| call.op != RegisterOp::Get);
    let mut times: Vec<(u64, u64)> =
        writes.filter_map(|(_, one)| Some((one.call_ns, one.returned.as_ref()?.at_ns))).collect();
    times.sort_unstable();
    // The earliest answer of all that were called at this time or later.
    let mut earliest = u64::MAX;
    for (_, answered) in times.iter_mut().rev() {
        earliest = earliest.min(*answered);
        *answered = earliest;
    }
    times
}

/// How long after `at_ns` the first write was answered that was called later.
pub(super) fn pause_ns(times: &[(u64, u64)], at_ns: u64) -> Option<u64> {
    let first = times.partition_point(|&(called, _)| called < at_ns);
    times.get(first).map(|&(_, answered)| answered - at_ns)
}

#[cfg(test)]
mod tests {
    use corecast::replica::linearizability::Return;

    use super::super::client::counter_key;
    use super::super::history::Call;
    use super::*;

    fn done(client: u64, key: u64, op: RegisterOp, at: u64, answer: Option<RegisterAnswer>) -> Done {
        let returned = answer.map(|answer| Return { at_ns: at + 5, answer });
        (Call { key, op }, Operation { client, op, call_ns: at, returned })
    }

    fn judged(histories: impl IntoIterator<Item = (u64, Vec<Done>)>) -> (CrashEpisode, usize) {
        let mut counts = CrashEpisode::default();
        let faults = judge(histories.into_iter().collect(), &mut counts).len();
        (counts, faults)
    }

    #[test]
    fn lost_and_doubled_increments_are_found() {
        let increment = |at, answer| done(1, OWN, RegisterOp::Increment, at, answer);
        let number = |number| Some(RegisterAnswer::Number(number));
        let at_end = |value| done(2, counter_key(1), RegisterOp::Get, 90, Some(RegisterAnswer::Value(value)));
        let good = vec![increment(0, number(1)), increment(10, number(2)), increment(20, None)];
        for (value, lost, twice) in [(Some(2), 0, 0), (Some(3), 0, 0), (Some(1), 1, 0), (None, 1, 0), (Some(4), 0, 1)] {
            let (counts, _) = judged([(1, good.clone()), (2, vec![at_end(value)])]);
            assert_eq!((counts.lost, counts.twice), (lost, twice), "{value:?}");
        }
        let (counts, faults) = judged([(1, vec![increment(0, number(1)), increment(10, number(3))])]);
        assert_eq!((counts.lost, counts.twice, faults), (0, 1, 1));
    }

    #[test]
    fn all_that_was_answered_is_lost_with_a_group_that_is_gone() {
        let increment = |at, answer| done(1, OWN, RegisterOp::Increment, at, answer);
        let answered = vec![increment(0, Some(RegisterAnswer::Number(1))), increment(10, None)];
        let asked = vec![done(2, OWN, RegisterOp::Increment, 5, None)];
        for gone in [0, 1] {
            let mut counts = CrashEpisode { gone, ..CrashEpisode::default() };
            judge([(1, answered.clone()), (2, asked.clone())].into_iter().collect(), &mut counts);
            assert_eq!(counts.lost, gone);
        }
    }

    #[test]
    fn a_stale_read_is_found() {
        let set = done(1, 0, RegisterOp::Set(5), 0, Some(RegisterAnswer::Done));
        let stale = done(2, 0, RegisterOp::Get, 10, Some(RegisterAnswer::Value(None)));
        let (counts, faults) = judged([(1, vec![set]), (2, vec![stale])]);
        assert_eq!((counts.histories, counts.not_linearizable, faults), (1, 1, 1));
        assert_eq!((counts.writes, counts.reads), (1, 1));
    }

    #[test]
    fn a_read_counts_once_a_later_write_is_answered() {
        let set = |at, value, answer| done(1, 0, RegisterOp::Set(value), at, answer);
        let get = |at, value| done(2, 0, RegisterOp::Get, at, Some(RegisterAnswer::Value(Some(value))));
        let writes = vec![set(0, 5, Some(RegisterAnswer::Done)), set(10, 6, None)];
        // All die at 40; the write that nobody has an answer of is gone.
        let found = |reads: Vec<Done>, other: u64| {
            let other = done(3, 1, RegisterOp::Set(7), other, Some(RegisterAnswer::Done));
            let mut histories: Histories = [(1, writes.clone()), (2, reads), (3, vec![other])].into_iter().collect();
            settle_reads(&mut histories, &[40]);
            judge(histories, &mut CrashEpisode::default()).len()
        };
        let reads = vec![get(20, 6), get(50, 5)];
        assert_eq!(found(reads.clone(), 18), 0, "no write was answered that began after the read");
        assert_eq!(found(reads.clone(), 45), 0, "the one that was is of the next group");
        assert_eq!(found(reads, 30), 1, "the write before the read is durable with the one after it");
        assert_eq!(found(vec![get(50, 6), get(60, 5)], 18), 1, "it was not gone");
    }

    #[test]
    fn a_pause_ends_with_a_write_that_was_called_in_it() {
        let write = |at, answer| done(1, 0, RegisterOp::Set(at), at, answer);
        let history = vec![write(0, Some(RegisterAnswer::Done)), write(8, None), write(20, Some(RegisterAnswer::Done))];
        let times = answered_writes(&[(1, history)].into_iter().collect());
        assert_eq!([0, 1, 20, 21].map(|at| pause_ns(&times, at)), [Some(5), Some(24), Some(5), None]);
    }
}
