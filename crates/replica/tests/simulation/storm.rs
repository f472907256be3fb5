//! The storm: anything may happen at any time.

use corecast_replica::one_paxos::Input;

use crate::group::Group;

/// Runs some hundred events.
pub(crate) fn run(group: &mut Group) {
    let events = group.rng.usize(100..1200);
    let kills = group.rng.u32(..40);
    let reorders = group.rng.bool();
    for _ in 0..events {
        let running = group.running();
        let Some(at) = group.rng.choice(running) else { continue };
        event(group, at, kills, reorders);
        group.check();
    }
}

fn event(group: &mut Group, at: usize, kills: u32, reorders: bool) {
    // The effects of a step come first; others act between them.
    if !group.world.processes[at].pending.is_empty() && group.rng.u32(..100) < 95 {
        return group.world.execute(at);
    }
    match group.rng.u32(..1000) {
        0..380 => group.begin_request(at),
        380..400 => group.retry(at),
        400..420 => group.pass_on(at),
        420..438 if !group.has_time(at) => {}
        420..435 => suspect(group, at),
        435..438 => group.step(at, Input::Tick),
        438..440 => prefer(group, at),
        440..447 => stop_or_continue(group),
        447..450 => jump_clock(group, at),
        n if n >= 1000 - kills / 4 => kill(group, at),
        950..980 => restart(group),
        _ if group.world.is_shared() => {
            let what = group.rng.u8(..4);
            group.poll(at, what);
        }
        _ => {
            group.deliver_one(reorders);
        }
    }
    if !group.world.is_shared() {
        group.execute_all(at);
    }
}

fn suspect(group: &mut Group, at: usize) {
    let configuration = *group.node(at).configuration();
    let members = Vec::from_iter(group.node(at).members().iter());
    let any = group.rng.choice(members).unwrap_or(configuration.leader);
    let node = group.rng.choice([configuration.leader, configuration.acceptor, any]).expect("three");
    let is_dead = !group.is_alive(node);
    group.step(at, group.suspicion(node, is_dead));
}

/// The clock of a process is put forward, so that it has waited too long for everything; or back, so that no time passes until
/// it shows what it did.
fn jump_clock(group: &mut Group, at: usize) {
    if group.rng.bool() {
        group.clients[at].clock_behind = group.rng.u32(..100);
        return;
    }
    let configuration = *group.node(at).configuration();
    let others = group.node(at).members().iter().chain([configuration.leader, configuration.acceptor]);
    for node in Vec::from_iter(others.filter(|&node| node != group.node(at).id())) {
        let is_dead = !group.is_alive(node);
        group.step(at, group.suspicion(node, is_dead));
    }
    for _ in 0..8 {
        group.step(at, Input::Tick);
    }
    group.retry(at);
}

/// A plan wants other roles.
fn prefer(group: &mut Group, at: usize) {
    let members = Vec::from_iter(group.node(at).members().iter());
    let roles = group.rng.choice(members.clone()).zip(group.rng.choice(members));
    if let Some(roles) = roles {
        group.execute_all(at);
        group.world.prefer(at, roles);
    }
}

fn stop_or_continue(group: &mut Group) {
    let alive = group.alive();
    if let Some(at) = group.rng.choice(alive) {
        group.clients[at].is_stopped = group.rng.bool();
    }
}

/// Kills a process. Shared: a member is left, or one that joins. Messages: a majority of the voters is left, and while one of
/// leader and acceptor is dead the protocol may wait for it.
fn kill(group: &mut Group, at: usize) {
    let is_last = !group.alive().into_iter().any(|other| other != at && group.may_go_on(other));
    let me = group.node(at).id();
    // One that joins goes on without members, if the log has all that it needs.
    let is_needed = is_last && (group.first_joiner().is_none_or(|joiner| joiner == at) || group.rng.u8(..4) > 0);
    if is_needed || (!group.world.is_shared() && !group.has_majority_without(Some(at))) {
        return;
    }
    group.world.kill(at);
    if !group.world.is_shared() {
        let lost = group.rng.bool();
        group.world.links.retain(|from, to, _| to != me && !(lost && from == me));
    }
}

fn restart(group: &mut Group) {
    // One that is about to join may begin anew, too: then its `Join` comes late.
    let (joins_anew, shared) = (group.rng.u8(..4) == 0, group.world.is_shared());
    let is_candidate = |&at: &usize| {
        !group.world.processes[at].is_alive || group.has_left(at) || (joins_anew && shared && !group.is_member(at))
    };
    let candidates = Vec::from_iter((0..group.clients.len()).filter(is_candidate));
    if let Some(at) = group.rng.choice(candidates) {
        let is_same_process = group.world.processes[at].is_alive;
        group.restart(at, is_same_process);
    }
}
