//! Models: the nodes of the library in every order of events, within bounds. With all rules nothing goes wrong; with one rule
//! left out the checker finds what goes wrong. Longer bounds: `ci/replica-long.sh`.

#[path = "../world/mod.rs"]
mod world;

mod protocol;

use std::time::Instant;

use corecast_replica::one_paxos::{Rules, Transport};
use protocol::Protocol;
use stateright::{Checker, Model};

const SEPARATE: Transport = Transport::Shared { is_fused: false };
const FUSED: Transport = Transport::Shared { is_fused: true };

#[track_caller]
fn is_safe(model: Protocol) {
    let (begun, text) = (Instant::now(), format!("{model:?}"));
    let checker = model.checker().spawn_bfs().join();
    eprintln!("{} states, {:?}: {text}", checker.unique_state_count(), begun.elapsed());
    if let Some(path) = checker.discovery("right") {
        let violation = path.last_state().world.monitor.violation().map(str::to_owned);
        panic!("{text}: {violation:?}: {:#?}", path.into_actions());
    }
}

#[track_caller]
fn is_found(model: Protocol) {
    let (begun, text) = (Instant::now(), format!("{model:?}"));
    let checker = model.checker().spawn_bfs().join();
    let path = checker
        .discovery("right")
        .unwrap_or_else(|| panic!("nothing found in {}: {text}", checker.unique_state_count()));
    let states = checker.unique_state_count();
    eprintln!(
        "found in {states} states, {:?}: {:?}: {text}",
        begun.elapsed(),
        path.last_state().world.monitor.violation()
    );
    eprintln!("{:?}", path.into_actions());
}

#[test]
fn shared_separate_is_safe() {
    is_safe(Protocol { crashes: 1, requests: 2, epochs: 2, ..Protocol::new(SEPARATE, Rules::ALL) });
}

#[test]
fn shared_fused_is_safe() {
    is_safe(Protocol { crashes: 1, requests: 2, epochs: 2, ..Protocol::new(FUSED, Rules::ALL) });
}

#[test]
fn messages_are_safe() {
    is_safe(Protocol {
        crashes: 1,
        requests: 1,
        epochs: 2,
        suspicions: 2,
        ..Protocol::new(Transport::Messages, Rules::ALL)
    });
}

const NET: Transport = Transport::Messages;

#[test]
fn f1() {
    is_found(Protocol {
        requests: 1,
        ..Protocol::new(NET, Rules { adopt_before_acceptor_change: false, ..Rules::ALL })
    });
}

#[test]
fn f2() {
    is_found(Protocol { requests: 1, ..Protocol::new(NET, Rules { chosen_holds_learned: false, ..Rules::ALL }) });
}

#[test]
fn f3() {
    is_found(Protocol { requests: 1, ..Protocol::new(NET, Rules { leader_starts_from_chosen: false, ..Rules::ALL }) });
}

#[test]
fn f4() {
    let rules = Rules { restart_is_new_incarnation: false, ..Rules::ALL };
    is_found(Protocol { requests: 1, crashes: 1, restarts: 1, ..Protocol::new(NET, rules) });
}

#[test]
fn f5() {
    let rules = Rules { prepare_answers_commands: false, ..Rules::ALL };
    is_found(Protocol { requests: 1, reorders: true, ..Protocol::new(NET, rules) });
}

#[test]
fn f6() {
    is_found(Protocol { requests: 1, ..Protocol::new(SEPARATE, Rules { recheck_epoch: false, ..Rules::ALL }) });
}

#[test]
fn f7() {
    is_found(Protocol { requests: 1, ..Protocol::new(SEPARATE, Rules { adopt_uncommitted: false, ..Rules::ALL }) });
}

#[test]
fn f8() {
    is_found(Protocol {
        requests: 2,
        epochs: 5,
        suspicions: 5,
        ..Protocol::new(SEPARATE, Rules { skip_older_slots: false, ..Rules::ALL })
    });
}

#[test]
fn f9() {
    let rules = Rules { respect_stable: false, ..Rules::ALL };
    is_found(Protocol { requests: 1, expulsions: 1, suspicions: 1, trims: true, ..Protocol::new(NET, rules) });
}

#[test]
fn f10() {
    let rules = Rules { configuration_carries_stable: false, ..Rules::ALL };
    is_found(Protocol { requests: 1, expulsions: 1, suspicions: 2, trims: true, ..Protocol::new(NET, rules) });
}

#[test]
fn f11() {
    is_found(Protocol { requests: 1, ..Protocol::new(SEPARATE, Rules { all_raise_visible: false, ..Rules::ALL }) });
}

#[test]
fn f12() {
    is_found(Protocol { ..Protocol::new(SEPARATE, Rules { raise_by_maximum: false, ..Rules::ALL }) });
}
