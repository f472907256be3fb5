//! An explicit search of the protocol: the library's rule and lock table, participants as the design describes them, and every
//! order of their steps within bounds. The protocol as it is never goes wrong; without one of its parts the search finds how.
//! Longer bounds: `ci/tm-long.sh`.
#![cfg(not(loom))]
#![allow(clippy::print_stderr, reason = "states and times")]

mod client;
mod protocol;
mod server;

use std::time::Instant;

use client::Op::{self, Read, Release, Update, Write, WriteNow};
use corecast_tm::Manager;
use protocol::{Mutation, Protocol, STALE, STRAY_ABORT, TORN};
use stateright::{Checker, Model};

const X: u32 = 0;
const Y: u32 = 1;
const READER: &[Op] = &[Read(X), Read(Y)];
const WRITER: &[Op] = &[Write(X), Write(Y)];
const EAGER: &[Op] = &[WriteNow(X), WriteNow(Y)];
const TRANSFER: &[Op] = &[Update(X), Update(Y)];
const BACKWARDS: &[Op] = &[Update(Y), Update(X)];
const X_TO_Y: &[Op] = &[Read(X), Write(Y)];
const Y_TO_X: &[Op] = &[Read(Y), Write(X)];

/// Transactions that give a lock back before the end: hand over hand, of a variable that is read again, and of one that they
/// write.
const HAND_OVER_HAND: &[Op] = &[Read(X), Read(Y), Release(X), Write(Y)];
const AGAIN: &[Op] = &[Read(X), Release(X), Read(Y), Read(X)];
const OF_ITS_OWN: &[Op] = &[Read(X), Write(X), Release(X), Read(Y)];
const EARLY: [&[Op]; 3] = [HAND_OVER_HAND, AGAIN, OF_ITS_OWN];

const ALL: [&[Op]; 7] = [READER, WRITER, EAGER, TRANSFER, BACKWARDS, X_TO_Y, Y_TO_X];

fn with(first: &[&'static [Op]], second: &[&'static [Op]]) -> Protocol {
    let programs = [first.to_vec(), second.to_vec()];
    Protocol {
        programs,
        manager: Manager::Wholly,
        aborts: 2,
        is_batched: false,
        releases: true,
        has_values_at_servers: false,
        mutation: Mutation::None,
    }
}

fn is_long() -> bool {
    std::env::var_os("CORECAST_MODEL_LONG").is_some()
}

/// Which part of the longest search is asked for, from 1 on, and of how many.
fn part() -> (usize, usize) {
    let Ok(text) = std::env::var("CORECAST_MODEL_PART") else { return (1, 1) };
    let parts = text.split_once('/').map(|(part, parts)| (part.parse(), parts.parse()));
    match parts {
        Some((Ok(part), Ok(parts))) if 0 < part && part <= parts => (part, parts),
        _ => panic!("CORECAST_MODEL_PART is a part and their number, such as 3/16: {text}"),
    }
}

/// Nothing goes wrong, whether the requester loses or the manager decides. Tells how many states there were.
#[track_caller]
fn is_safe(model: Protocol) -> usize {
    let managers = [Manager::None, Manager::Wholly];
    managers.into_iter().map(|manager| explored(Protocol { manager, ..model.clone() }).unique_state_count()).sum()
}

#[track_caller]
fn explored(model: Protocol) -> impl Checker<Protocol> {
    let text = format!("{model:?}");
    let checker = model.checker().spawn_dfs().join();
    for property in ["right", "never stuck"] {
        if let Some(path) = checker.discovery(property) {
            let last = path.last_state().clone();
            panic!("{text}: {property}: {:?} in {last:#?} after {:#?}", last.violation, path.into_actions());
        }
    }
    checker
}

#[track_caller]
fn all_are_safe(models: impl Iterator<Item = Protocol>) {
    let begun = Instant::now();
    let (count, states) = models.map(is_safe).fold((0, 0), |(count, sum), states| (count + 1, sum + states));
    eprintln!("{count} pairs of programs, {states} states, {:?}", begun.elapsed());
}

/// Finds that one of these goes wrong with a mutation, and that nothing does without it.
#[track_caller]
fn is_found(model: Protocol, consequences: &[&str]) {
    is_safe(Protocol { mutation: Mutation::None, ..model.clone() });
    let (begun, text) = (Instant::now(), format!("{model:?}"));
    let checker = model.checker().spawn_bfs().join();
    let states = checker.unique_state_count();
    let path = checker.discovery("right").unwrap_or_else(|| panic!("nothing found in {states} states: {text}"));
    let found = path.last_state().violation.expect("that is not right");
    assert!(consequences.contains(&found), "{found}: {text}");
    eprintln!("found in {states} states, {:?}: {text}", begun.elapsed());
    eprintln!("{:?}", path.into_actions());
}

/// All pairs of transactions, one participant each.
fn pairs() -> impl Iterator<Item = (&'static [Op], &'static [Op])> {
    ALL.into_iter().flat_map(|first| ALL.into_iter().map(move |second| (first, second)))
}

#[test]
fn each_transaction_beside_each_is_safe() {
    all_are_safe(pairs().map(|(first, second)| with(&[first], &[second])));
}

#[test]
fn two_transactions_beside_each_are_safe() {
    let aborts = if is_long() { 3 } else { 1 };
    all_are_safe(
        pairs().map(|(first, second)| Protocol { aborts, ..with(&[first, READER], &[second]) }).step_by(if is_long() {
            1
        } else {
            5
        }),
    );
}

/// Within the longer bounds all 2401 quadruples: `CORECAST_MODEL_PART=3/16` searches the third of sixteen parts.
#[test]
fn two_transactions_beside_two_are_safe() {
    let all = pairs().map(|(first, second)| Protocol { aborts: 1, ..with(&[first, WRITER], &[second, READER]) });
    let longer = pairs().flat_map(|(first, second)| {
        pairs().map(move |(third, fourth)| Protocol { aborts: 1, ..with(&[first, second], &[third, fourth]) })
    });
    let (part, parts) = part();
    if is_long() { all_are_safe(longer.skip(part - 1).step_by(parts)) } else { all_are_safe(all.step_by(14)) }
}

/// The planted faults are found in two transactions beside two, too.
#[test]
fn faults_are_found_in_two_transactions_beside_two() {
    let model = |mutation| {
        let aborts = if is_long() { 2 } else { 1 };
        Protocol { mutation, aborts, ..with(&[WRITER, READER], &[READER, WRITER]) }
    };
    is_found(model(Mutation::NoCheckAfterCopy), &[TORN]);
    // A victim that runs on after its lock was given away reads or commits. The bounds decide which of both is found first.
    is_found(model(Mutation::GrantBeforeRevoke), &[TORN, STALE]);
    is_found(model(Mutation::NoEpoch), &[STRAY_ABORT]);
}

#[test]
fn locks_that_nobody_gives_back_are_safe() {
    let all = pairs().map(|(first, second)| with(&[first, WRITER], &[second]));
    let models = all.map(|model| Protocol { releases: false, aborts: 1, ..model });
    all_are_safe(models.step_by(if is_long() { 1 } else { 4 }));
}

#[test]
fn batches_are_safe() {
    let programs = [READER, WRITER];
    let all = programs.iter().flat_map(|first| programs.iter().map(move |second| (*first, *second)));
    all_are_safe(all.map(|(first, second)| Protocol { is_batched: true, ..with(&[first, WRITER], &[second, READER]) }));
}

/// Beside each transaction, and beside each other.
#[test]
fn locks_that_are_given_back_early_are_safe() {
    let all = || ALL.into_iter().chain(EARLY);
    let pairs = EARLY.into_iter().flat_map(|early| all().map(move |other| (early, other)));
    let aborts = if is_long() { 2 } else { 1 };
    all_are_safe(pairs.map(|(early, other)| Protocol { aborts, ..with(&[early, READER], &[other]) }));
}

/// Each transaction beside each, the servers having the values, and both at one server.
#[test]
fn values_at_servers_are_safe() {
    let all = pairs().map(|(first, second)| with(&[first, READER], &[second]));
    let batched = [READER, WRITER].map(|second| Protocol { is_batched: true, ..with(&[WRITER, READER], &[second]) });
    let aborts = if is_long() { 2 } else { 1 };
    let models = all.step_by(if is_long() { 1 } else { 5 }).chain(batched);
    all_are_safe(models.map(|model| Protocol { has_values_at_servers: true, aborts, ..model }));
}

#[test]
fn a_value_of_a_lock_that_was_given_back_is_found() {
    let model = Protocol { mutation: Mutation::RestsOnReleased, ..with(&[HAND_OVER_HAND], &[&[Write(X)]]) };
    is_found(model, &[STALE]);
}

#[test]
fn a_commit_that_does_not_wait_for_its_servers_is_found() {
    let model = Protocol { has_values_at_servers: true, ..with(&[WRITER, READER], &[READER]) };
    is_found(Protocol { mutation: Mutation::NoWaitForPuts, ..model.clone() }, &[TORN, STALE]);
    is_found(Protocol { mutation: Mutation::NoCheckAfterCopy, ..model }, &[TORN]);
}

#[test]
fn all_answers_are_given() {
    let checker = explored(with(&[WRITER], &[READER]));
    for property in ["retry", "refused", "revoked"] {
        assert!(checker.discovery(property).is_some(), "{property} never happens");
    }
}

#[test]
fn no_check_after_copying_is_found() {
    let model = with(&[WRITER], &[READER]);
    is_found(Protocol { mutation: Mutation::NoCheckAfterCopy, ..model }, &[TORN]);
}

#[test]
fn grant_before_revoke_is_found() {
    let model = with(&[WRITER], &[READER]);
    is_found(Protocol { mutation: Mutation::GrantBeforeRevoke, ..model }, &[TORN]);
}

#[test]
fn no_epoch_is_found() {
    let model = with(&[&[Write(X)]], &[&[Read(X)], &[Read(Y)]]);
    is_found(Protocol { mutation: Mutation::NoEpoch, ..model }, &[STRAY_ABORT]);
}
