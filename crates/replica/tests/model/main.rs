//! Models: the nodes of the library in every order of events, within bounds. With all rules nothing goes wrong; with one rule
//! left out the checker finds what goes wrong. Longer bounds: `ci/replica-long.sh`.

#![allow(clippy::print_stderr, reason = "states, times and seeds")]

#[allow(dead_code, reason = "the model and the simulator each use a part")]
#[path = "../world/mod.rs"]
mod world;

mod going_on;
mod protocol;

use std::time::Instant;

use corecast_replica::one_paxos::{Effect, Rules, Transport};
use protocol::{Action, Protocol};
use stateright::{Checker, Model};
use world::World;

const SEPARATE: Transport = Transport::Shared { is_fused: false };
const FUSED: Transport = Transport::Shared { is_fused: true };

#[track_caller]
fn is_safe(model: Protocol) -> impl Checker<Protocol> {
    let (begun, text) = (Instant::now(), format!("{model:?}"));
    let checker = model.checker().spawn_dfs().join();
    eprintln!("{} states, {:?}: {text}", checker.unique_state_count(), begun.elapsed());
    for property in ["right", "goes on"] {
        if let Some(path) = checker.discovery(property) {
            let violation = path.last_state().world.monitor.violation().map(str::to_owned);
            panic!("{text}: not {property}, {violation:?}: {:#?}", path.into_actions());
        }
    }
    checker
}

/// Finds what goes wrong without a rule; within larger bounds, also that nothing does with it.
#[track_caller]
fn is_found(model: Protocol) {
    let (begun, with_all) = (Instant::now(), Protocol { rules: Rules::ALL, ..model.clone() });
    let text = format!("{model:?}");
    let checker = model.clone().checker().spawn_bfs().join();
    let states = checker.unique_state_count();
    let property = if model.has_to_go_on { "goes on" } else { "right" };
    let path = checker.discovery(property).unwrap_or_else(|| panic!("nothing found in {states} states: {text}"));
    let violation = path.last_state().world.monitor.violation();
    eprintln!("found in {states} states, {:?}: {violation:?}: {text}", begun.elapsed());
    eprintln!("{:?}", path.into_actions());
    if is_long() {
        is_safe(with_all);
    }
}

fn is_long() -> bool {
    std::env::var_os("CORECAST_MODEL_LONG").is_some()
}

/// The larger bounds where `CORECAST_MODEL_LONG` is set, as `ci/replica-long.sh` does.
fn bounds(short: Protocol, long: Protocol) -> Protocol {
    if is_long() { long } else { short }
}

#[test]
fn shared_separate_is_safe() {
    let model = Protocol { crashes: 1, suspicions: 2, ..Protocol::new(SEPARATE, Rules::ALL) };
    is_safe(bounds(Protocol { suspecting: &[1, 2], ..model.clone() }, Protocol { suspicions: 3, ..model }));
}

#[test]
fn shared_fused_is_safe() {
    let model = Protocol { crashes: 1, suspicions: 2, ..Protocol::new(FUSED, Rules::ALL) };
    is_safe(bounds(model.clone(), Protocol { epochs: 4, suspicions: 3, ..model }));
}

#[test]
fn shared_trimming_is_safe() {
    let model = Protocol { trims: true, suspicions: 1, expulsions: 1, ..Protocol::new(SEPARATE, Rules::ALL) };
    is_safe(bounds(Protocol { requests: 1, ..model.clone() }, Protocol { suspicions: 2, ..model }));
}

/// Founders take a node in, and die. It goes on with all that was decided.
fn joining(transport: Transport, rules: Rules) -> Protocol {
    let model = Protocol { nodes: 2, epochs: 2, crashes: 2, joins: 2, trims: true, ..Protocol::new(transport, rules) };
    Protocol { suspicions: 2, suspecting: &[1, 2], ..model }
}

#[test]
fn shared_joining_is_safe() {
    for transport in [SEPARATE, FUSED] {
        let model = joining(transport, Rules::ALL);
        let short = Protocol { requests: 1, joins: 1, suspicions: 1, suspecting: &[2], ..model.clone() };
        let checker = is_safe(bounds(short, model));
        assert!(checker.discovery("alone").is_some(), "the joiner leads alone, and decides");
    }
}

#[test]
fn messages_are_safe() {
    let model = Protocol { crashes: 1, suspicions: 2, ..Protocol::new(NET, Rules::ALL) };
    is_safe(bounds(model.clone(), Protocol { suspicions: 3, ..model }));
}

/// Three nodes, of which one dies at any time. Others are suspected wrongly.
fn handing_over(rules: Rules) -> Protocol {
    let model = Protocol { requests: 1, crashes: 1, epochs: 2, suspicions: 2, ..Protocol::new(NET, rules) };
    Protocol { has_to_go_on: true, ..model }
}

#[test]
fn groups_by_messages_go_on() {
    let model = handing_over(Rules::ALL);
    is_safe(bounds(model.clone(), Protocol { epochs: 3, ..model }));
}

/// The last node is put out, and has no vote from then on. It is alive, and hears of that late or never.
fn voting(rules: Rules) -> Protocol {
    let model = Protocol { requests: 1, expulsions: 1, suspicions: 2, ..Protocol::new(NET, rules) };
    Protocol { epochs: 2, suspecting: &[0, 2], ..model }
}

#[test]
fn other_voters_are_safe() {
    let model = Protocol { renewals: 1, ..voting(Rules::ALL) };
    is_safe(bounds(model.clone(), Protocol { epochs: 3, requests: 2, renewals: 2, crashes: 1, ..model }));
}

#[test]
fn messages_that_overtake_are_safe() {
    let model = Protocol { suspicions: 1, reorders: true, ..Protocol::new(NET, Rules::ALL) };
    is_safe(bounds(model.clone(), Protocol { suspicions: 2, ..model }));
}

const NET: Transport = Transport::Messages;

/// A majority of the voters lives.
#[test]
fn five_nodes_by_messages_are_safe() {
    let model = Protocol { nodes: 5, requests: 1, crashes: 2, suspicions: 2, ..Protocol::new(NET, Rules::ALL) };
    let short = Protocol { crashes: 1, suspicions: 1, epochs: 2, suspecting: &[2], ..model.clone() };
    is_safe(bounds(short, model));
}

/// One is left, which may have been no more than a learner.
#[test]
fn five_nodes_with_shared_memory_are_safe() {
    for transport in [SEPARATE, FUSED] {
        let model =
            Protocol { nodes: 5, requests: 1, crashes: 4, suspicions: 2, ..Protocol::new(transport, Rules::ALL) };
        let short = Protocol { crashes: 1, suspicions: 1, epochs: 2, suspecting: &[2], ..model.clone() };
        is_safe(bounds(short, model));
    }
}

/// A session is opened and has a request, both of which may be ordered twice.
#[test]
fn requests_are_run_once() {
    for transport in [SEPARATE, NET] {
        let model = Protocol { retries: 2, suspicions: 2, ..Protocol::new(transport, Rules::ALL) };
        let short = Protocol { retries: 1, suspicions: 1, suspecting: &[2], ..model.clone() };
        let checker = is_safe(bounds(short, model));
        assert!(checker.discovery("twice").is_some(), "a request is decided twice");
    }
}

/// With one rule left out.
fn without(transport: Transport, leave_out: impl Fn(&mut Rules)) -> Protocol {
    let mut rules = Rules::ALL;
    leave_out(&mut rules);
    Protocol::new(transport, rules)
}

#[test]
fn f1() {
    is_found(without(NET, |rules| rules.adopt_before_acceptor_change = false));
}

#[test]
fn f2() {
    let model = without(NET, |rules| rules.chosen_holds_learned = false);
    is_found(Protocol { suspecting: &[1, 2], ..model });
}

#[test]
fn f3() {
    let model = without(NET, |rules| rules.leader_starts_from_chosen = false);
    is_found(Protocol { epochs: 2, suspicions: 2, suspecting: &[0, 2], reorders: true, ..model });
}

#[test]
fn f4() {
    let model = without(NET, |rules| rules.restart_is_new_incarnation = false);
    is_found(Protocol { crashes: 1, restarts: 1, suspicions: 1, suspecting: &[2], ..model });
}

#[test]
fn f5() {
    let model = without(NET, |rules| rules.prepare_answers_commands = false);
    is_found(Protocol { reorders: true, suspicions: 1, suspecting: &[2], ..model });
}

#[test]
fn f6() {
    is_found(without(SEPARATE, |rules| rules.recheck_epoch = false));
}

#[test]
fn f7() {
    is_found(without(SEPARATE, |rules| rules.adopt_uncommitted = false));
}

#[test]
fn f8() {
    let model = without(SEPARATE, |rules| rules.skip_older_slots = false);
    // Node 1 stops between writing a slot and looking for the epoch.
    let is_left_out = |world: &World, action: &Action| match action {
        Action::Execute(1) if world.memory.configuration.epoch < 5 => {
            matches!(world.processes[1].pending.front(), Some(Effect::CheckEpoch { .. }))
        }
        Action::See(1) => world.memory.configuration.epoch < 5,
        Action::Learn(1 | 2) => true,
        _ => false,
    };
    is_found(Protocol { epochs: 5, suspicions: 4, suspecting: &[0, 2], is_left_out, ..model });
}

#[test]
fn f9() {
    let model = without(SEPARATE, |rules| rules.respect_stable = false);
    let is_left_out = |world: &World, action: &Action| match action {
        Action::Learn(2) => world.memory.configuration.epoch == 0,
        _ => false,
    };
    is_found(Protocol { expulsions: 1, suspicions: 1, suspecting: &[2], trims: true, is_left_out, ..model });
}

#[test]
fn f10() {
    let model = without(NET, |rules| rules.configuration_carries_stable = false);
    // Node 2 hears nothing of the first acceptor, and only it has a client. The acceptor answers new leaders.
    let is_left_out = |world: &World, action: &Action| match action {
        Action::Deliver(from, to, _) => from.slot == 1 && to.slot == 2,
        Action::Request(at) => *at != 2,
        Action::Suspect(at, node) => {
            let suspecting = &world.processes[*at].node;
            suspecting.leads() && !suspecting.orders() && suspecting.configuration().acceptor == *node
        }
        _ => false,
    };
    let model = Protocol { epochs: 3, requests: 1, expulsions: 1, suspicions: 3, suspecting: &[0, 2], ..model };
    is_found(Protocol { trims: true, is_left_out, ..model });
}

#[test]
fn f11() {
    is_found(without(SEPARATE, |rules| rules.all_raise_visible = false));
}

#[test]
fn f12() {
    let model = without(SEPARATE, |rules| rules.raise_by_maximum = false);
    is_found(Protocol { suspicions: 0, ..model });
}

#[test]
fn f13() {
    for transport in [SEPARATE, FUSED] {
        let rules = Rules { joiners_bound_stable: false, ..Rules::ALL };
        is_found(Protocol { joins: 1, suspicions: 0, ..joining(transport, rules) });
    }
}

#[test]
fn f14() {
    is_found(voting(Rules { voters_of_entry: false, ..Rules::ALL }));
}

#[test]
fn f15() {
    is_found(handing_over(Rules { former_leaders_answer: false, ..Rules::ALL }));
}

/// A node leads, is deposed, and leads again; meanwhile another one has led, and had a command decided.
fn leading_twice(rules: Rules) -> Protocol {
    // The acceptor hears nothing of the node that leads twice.
    let is_left_out = |world: &World, action: &Action| match action {
        Action::Deliver(from, to, _) => from.slot == 0 && to.slot == 1,
        Action::Request(at) => world.processes[*at].node.configuration().epoch == 0,
        _ => false,
    };
    let model = Protocol { suspicions: 3, suspecting: &[0, 2], is_left_out, ..Protocol::new(NET, rules) };
    Protocol { epochs: 3, ..model }
}

#[test]
fn former_leaders_are_asked_safely() {
    is_safe(leading_twice(Rules::ALL));
}

#[test]
fn f16() {
    is_found(leading_twice(Rules { all_owners_answer: false, ..Rules::ALL }));
}
