//! The calm after the storm: every process runs, messages come, suspicions are right. Everything has to come to its end.

use corecast_replica::one_paxos::Input;

use crate::group::Group;

/// The most rounds until all requests have ended.
const ROUNDS: usize = 600;

pub(crate) fn run(group: &mut Group) {
    group.clients.iter_mut().for_each(|client| client.is_stopped = false);
    for round in 0..ROUNDS {
        for at in group.alive() {
            turn(group, at, round);
        }
        deliver_all(group);
        rejoin(group);
        if is_over(group) {
            return assert_eq!(group.lost_session(), None, "sessions of living processes stay open: {}", report(group));
        }
    }
    assert!(is_blocked(group), "requests do not end: {}", report(group));
}

fn turn(group: &mut Group, at: usize, round: usize) {
    for what in 0..4 {
        if group.world.is_shared() {
            group.poll(at, what);
        }
        group.execute_all(at);
    }
    if !group.has_survivor() && group.first_joiner() == Some(at) && !group.node(at).leads() {
        group.step(at, Input::Alone);
    }
    if group.has_time(at) {
        suspect(group, at, round);
        if round % 4 == 0 {
            group.retry(at);
            group.step(at, Input::Tick);
        }
    }
    group.execute_all(at);
    group.pass_on(at);
}

fn deliver_all(group: &mut Group) {
    for _ in 0..10_000 {
        if !group.deliver_one(false) {
            break;
        }
        for at in group.alive() {
            group.execute_all(at);
        }
    }
}

/// The suspicions of a runtime: dead nodes, a leader that has left or lags, each in its turn.
fn suspect(group: &mut Group, at: usize, round: usize) {
    let configuration = *group.node(at).configuration();
    let members = Vec::from_iter(group.node(at).members().iter());
    for node in members.into_iter().chain([configuration.leader]) {
        let other = group.world.at(node);
        let (is_dead, is_idle) = (!group.is_alive(node), group.has_left(other));
        let is_due = node != configuration.leader
            || group.node(at).rank().is_some_and(|rank| (round + 1) % (4 * (rank + 1)) == 0);
        if (is_dead || is_idle) && is_due && other != at {
            group.step(at, group.suspicion(node, is_dead));
        }
    }
}

/// Nodes that were put out come back.
fn rejoin(group: &mut Group) {
    for at in group.alive() {
        if group.has_left(at) {
            group.restart(at, true);
        }
    }
}

fn is_over(group: &Group) -> bool {
    let alive = group.alive();
    let newest = alive.iter().map(|&at| group.node(at).applied_count()).max();
    // With messages, a voter that was put out may not come back: its vote is needed.
    let is_done = |&at: &usize| match group.has_left(at) && !group.world.is_shared() {
        true => true,
        false => {
            let is_newest = Some(group.node(at).applied_count()) == newest;
            group.is_member(at) && group.outstanding(at).is_empty() && is_newest
        }
    };
    group.has_survivor() && alive.iter().all(is_done) && are_roles_apart(group)
}

/// Messages: a leader accepts itself only where it is the last member, since its death takes both roles.
fn are_roles_apart(group: &Group) -> bool {
    let newest = group.newest();
    let is_other = |&at: &usize| group.is_member(at) && group.node(at).id() != newest.leader;
    group.world.is_shared() || newest.leader != newest.acceptor || !group.alive().iter().any(is_other)
}

/// True if the protocol waits for the dead: nobody is left that lacks nothing, or, with messages, a majority is gone, or the
/// acceptor and a node that has led with it.
fn is_blocked(group: &Group) -> bool {
    let has_lost_both_roles =
        !group.is_alive(group.newest().acceptor) && group.world.owners().any(|owner| !group.is_alive(owner));
    let is_mute = has_lost_both_roles || !group.has_majority_without(None);
    let has_survivor = group.has_survivor() || group.first_joiner().is_some();
    !has_survivor || (!group.world.is_shared() && is_mute)
}

fn report(group: &Group) -> String {
    let decided = group
        .world
        .monitor
        .decided()
        .iter()
        .rev()
        .take(12)
        .map(|(index, command)| format!("{index} {:?}\n", command.op));
    let mut text = format!("{:?}\n{}", group.newest(), String::from_iter(decided));
    for at in group.alive() {
        let node = group.node(at);
        text += &format!(
            "{} epoch {} leads {} orders {} member {} lagging {} applied {} learned {} outstanding {:?} waiting {}\n{:?}\n",
            node.id(),
            node.configuration().epoch,
            node.leads(),
            node.orders(),
            group.is_member(at),
            node.is_lagging(),
            node.applied_count(),
            node.learned_end(),
            group.outstanding(at),
            node.waiting(),
            node,
        );
    }
    text
}
