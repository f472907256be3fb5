//! An explicit search of the protocol: the library's rule and lock table, participants as the design describes them, and every
//! order of their steps within bounds. The protocol as it is never goes wrong; without one of its parts the search finds how.
//! Longer bounds: `ci/tm-long.sh`.
#![cfg(not(loom))]
#![allow(clippy::print_stderr, reason = "states and times")]

mod client;
mod protocol;
mod server;

use std::time::Instant;

use client::Op::{self, Read, Update, Write, WriteNow};
use corecast_tm::Manager;
use protocol::{Mutation, Protocol};
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

fn with(first: &'static [&'static [Op]], second: &'static [&'static [Op]]) -> Protocol {
    Protocol { programs: [first, second], manager: Manager::Wholly, aborts: aborts(), mutation: Mutation::None }
}

fn is_long() -> bool {
    std::env::var_os("CORECAST_MODEL_LONG").is_some()
}

fn aborts() -> u8 {
    if is_long() { 3 } else { 1 }
}

#[track_caller]
fn is_safe(model: Protocol) {
    for manager in [Manager::None, Manager::Wholly] {
        let model = Protocol { manager, ..model.clone() };
        let (begun, text) = (Instant::now(), format!("{model:?}"));
        let checker = model.checker().spawn_dfs().join();
        eprintln!("{} states, {:?}: {text}", checker.unique_state_count(), begun.elapsed());
        for property in ["right", "never stuck"] {
            if let Some(path) = checker.discovery(property) {
                let last = path.last_state().clone();
                panic!("{text}: {property}: {:?} in {last:#?} after {:#?}", last.violation, path.into_actions());
            }
        }
    }
}

/// Finds what goes wrong with a mutation, and that nothing does without it.
#[track_caller]
fn is_found(model: Protocol, what: &str) {
    is_safe(Protocol { mutation: Mutation::None, ..model.clone() });
    let (begun, text) = (Instant::now(), format!("{model:?}"));
    let checker = model.checker().spawn_bfs().join();
    let states = checker.unique_state_count();
    let path = checker.discovery("right").unwrap_or_else(|| panic!("nothing found in {states} states: {text}"));
    assert_eq!(path.last_state().violation, Some(what), "{text}");
    eprintln!("found in {states} states, {:?}: {text}", begun.elapsed());
    eprintln!("{:?}", path.into_actions());
}

#[test]
fn a_reader_beside_a_writer_is_safe() {
    is_safe(with(&[READER], &[WRITER]));
    is_safe(with(&[WRITER], &[READER]));
}

#[test]
fn writers_that_lock_late_are_safe() {
    is_safe(with(&[WRITER], &[WRITER]));
}

#[test]
fn writers_that_lock_at_once_are_safe() {
    is_safe(with(&[EAGER], &[WRITER]));
    is_safe(with(&[TRANSFER], &[BACKWARDS]));
}

#[test]
fn two_that_read_what_the_other_writes_are_safe() {
    is_safe(with(&[X_TO_Y], &[Y_TO_X]));
}

#[test]
fn two_transactions_each_are_safe() {
    is_safe(with(&[WRITER, READER], &[READER]));
}

#[test]
fn no_check_after_copying_is_found() {
    let model = with(&[WRITER], &[READER]);
    is_found(Protocol { mutation: Mutation::NoCheckAfterCopy, ..model }, "a closure sees a torn state");
}

#[test]
fn grant_before_revoke_is_found() {
    let model = with(&[WRITER], &[READER]);
    is_found(Protocol { mutation: Mutation::GrantBeforeRevoke, ..model }, "a closure sees a torn state");
}

#[test]
fn no_epoch_is_found() {
    let model = with(&[&[Write(X)]], &[&[Read(X)], &[Read(Y)]]);
    let what = "a server aborts a transaction that it has never heard of";
    is_found(Protocol { mutation: Mutation::NoEpoch, ..model }, what);
}
