//! One run of a group.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering, spin_hint, yield_now};
use corecast_replica::Level;
use corecast_replica::net::{Group, Node, Session};
use corecast_sim_core::{Machine, Random, Report, Run, Thread, Ticks};

use super::group::{Placed, place};
use super::ledger::{Entry, Ledger, Write, check};
use super::{MOST_OUTSTANDING, ReplicaOutcome, Replicas};
use crate::disturbance::Disturbed;
use crate::error::SimError;
use crate::rounds::alone;

/// Sessions are opened, and the last commands are answered and applied everywhere, within this time: changes of roles, and
/// replicas that stood still, are in it.
const LONGEST: Duration = Duration::from_secs(5);
/// The time between two looks at a replica that has not applied all.
const LOOK_AGAIN_NS: u64 = 1000;

/// The parts of a run that its threads share.
struct Shared {
    group: Group<Ledger>,
    /// The number of nodes that have joined, one after another. Written by the last of them, polled by the next one and by
    /// clients.
    joined: CacheLine<AtomicU64>,
    nodes: RefCell<Vec<Node<Ledger>>>,
    /// The node that is killed.
    killed: Option<usize>,
    /// The number of clients that have a session. Written by them, polled by them.
    opened: CacheLine<AtomicU64>,
    /// When all had one, as the first of them has seen it.
    first: Cell<Option<Ticks>>,
    /// Clients that have not had all their answers.
    unfinished: Cell<usize>,
    /// By client: its commands, with those of the warm-up.
    counts: RefCell<Vec<u64>>,
    latencies: RefCell<Vec<Ticks>>,
    /// The sessions of clients that have come to their ends: they are closed after the run.
    sessions: RefCell<Vec<Session<Ledger>>>,
}

/// Plays a run in which node `n` writes commands down by `write(n)`.
pub(super) fn play(
    machine: &Machine,
    asked: &Replicas,
    write: impl Fn(usize) -> Write,
) -> Result<ReplicaOutcome, SimError> {
    check_input(machine, asked)?;
    let _alone = alone();
    let Placed { group, cpus, tree } = place(machine, asked)?;
    let shared = Rc::new(Shared {
        group,
        joined: CacheLine::default(),
        nodes: RefCell::default(),
        killed: asked.disturbance.kill_at.map(|_| asked.victim),
        opened: CacheLine::default(),
        first: Cell::new(None),
        unfinished: Cell::new(asked.clients),
        counts: RefCell::new(vec![0; asked.clients]),
        latencies: RefCell::default(),
        sessions: RefCell::default(),
    });
    let outcome = run(machine, asked, &shared, (&cpus, &write));
    if shared.killed.is_some() {
        // The thread that was killed may have held a lock, for which the end of its node would wait for ever.
        mem::forget(Rc::clone(&shared));
    }
    outcome.map(|outcome| ReplicaOutcome { tree, ..outcome })
}

fn check_input(machine: &Machine, asked: &Replicas) -> Result<(), SimError> {
    let Replicas { replicas, clients, outstanding, disturbance, victim, .. } = *asked;
    if disturbance.threads_per_cpu > 1 || disturbance.unpinned {
        return Err(SimError::group("each replica has a CPU, which its node and its client share"));
    }
    disturbance.cpus_of(machine, replicas)?;
    if clients == 0 || clients > replicas {
        return Err(SimError::group(format!(
            "{clients} clients of {replicas} replicas, expected from 1 to {replicas}"
        )));
    }
    if !(1..=MOST_OUTSTANDING).contains(&outstanding) {
        let words = format!("{outstanding} commands without an answer, expected from 1 to {MOST_OUTSTANDING}");
        return Err(SimError::group(words));
    }
    if disturbance.kill_at.is_some() && victim + clients >= replicas {
        return Err(SimError::group(format!("node {victim} is to be killed, which has a client or is none")));
    }
    Ok(())
}

fn run(
    machine: &Machine,
    asked: &Replicas,
    shared: &Rc<Shared>,
    (cpus, write): (&[usize], &dyn Fn(usize) -> Write),
) -> Result<ReplicaOutcome, SimError> {
    let mut run = Run::new(machine);
    for (node, &cpu) in cpus.iter().enumerate() {
        let (shared, ledger) = (Rc::clone(shared), Ledger::new(write(node), asked.own_ns));
        run.spawn(cpu, 0, move |_: &Thread| shared.live(node, ledger)).map_err(SimError::stack)?;
    }
    let [warm_up, duration] = [asked.warm_up_us, asked.duration_us].map(|us| machine.ticks(us * 1000));
    for client in 0..asked.clients {
        let node = asked.replicas - asked.clients + client;
        let mut client = Client {
            client,
            node,
            outstanding: asked.outstanding,
            pause_ns: asked.pause_ns,
            random: Random::new(asked.seed, client),
            window: (warm_up, warm_up + duration),
            number: 0,
            shared: Rc::clone(shared),
        };
        run.spawn(cpus[node], 0, move |me: &Thread| client.live(me)).map_err(SimError::stack)?;
    }
    asked.disturbance.apply(&mut run, machine, asked.seed);
    // SAFETY: the thread has references to what it shares on its stack, and no other thread to that stack.
    unsafe { asked.disturbance.kill(&mut run, asked.victim + 1) };
    let limit = machine.ticks(asked.warm_up_us.saturating_add(asked.duration_us).saturating_mul(1000));
    let report = run.finish(limit.saturating_add(machine.ticks(3 * LONGEST.as_nanos() as u64)))?;
    shared.check()?;
    Ok(shared.outcome(machine, machine.ns(duration), &report))
}

impl Shared {
    /// The life of a node's own thread. It joins in the run, as the node looks at the clock.
    fn live(&self, number: usize, ledger: Ledger) {
        self.await_nodes(number);
        let node = self.group.join(number, ledger).unwrap_or_else(|error| panic!("node {number} cannot join: {error}"));
        let work = node.own_work().expect("nobody has taken it");
        self.nodes.borrow_mut().push(node);
        // ORDERING: Release, pairs with the Acquire in await_nodes [sim-joined]
        self.joined.store(number as u64 + 1, Ordering::Release);
        work();
    }

    /// Waits until this number of nodes has joined.
    fn await_nodes(&self, number: usize) {
        // ORDERING: Acquire, pairs with the Release in live [sim-joined]
        while self.joined.load(Ordering::Acquire) < number as u64 {
            spin_hint();
        }
    }

    /// Called by each client once it has a session: waits until all have, and drives its node meanwhile. A client that did not
    /// would leave that, and the CPU, to the node's own thread, which may keep both until its slice is over.
    fn await_clients(&self, node: &Node<Ledger>) {
        // ORDERING: Relaxed, as clients wait for nothing but the number
        self.opened.fetch_add(1, Ordering::Relaxed);
        let all = self.counts.borrow().len() as u64;
        // Opening a session is a command.
        let caught_up = node.catch_up(Level::AtLeast(all - 1), LONGEST);
        caught_up.unwrap_or_else(|error| panic!("{all} sessions were not opened: {error}"));
        // ORDERING: Relaxed, as clients wait for nothing but the number
        while self.opened.load(Ordering::Relaxed) < all {
            yield_now();
        }
    }

    /// The nodes that are not killed, by number.
    fn living(&self) -> Vec<(usize, Node<Ledger>)> {
        let nodes = self.nodes.borrow();
        nodes.iter().cloned().enumerate().filter(|&(number, _)| Some(number) != self.killed).collect()
    }

    /// The outcome of a run in which commands counted for this time.
    fn outcome(&self, machine: &Machine, ns: f64, report: &Report) -> ReplicaOutcome {
        let counts = self.counts.borrow();
        let commands = counts.iter().sum();
        let mut latencies_ns: Vec<f64> = self.latencies.borrow().iter().map(|&ticks| machine.ns(ticks)).collect();
        latencies_ns.sort_by(f64::total_cmp);
        ReplicaOutcome {
            ns,
            latencies_ns,
            commands,
            least_commands: counts.iter().copied().min().unwrap_or(0),
            transfers: report.counts.transfers_each(commands),
            tree: None,
            role_changes: self.living().iter().map(|(_, node)| node.status().epoch).max().unwrap_or(0),
            rejoins: self.living().iter().map(|(_, node)| node.status().counters.rejoins).sum(),
            disturbed: Disturbed::of(machine, report),
        }
    }

    /// Checks that all replicas that live have applied all commands, after the run.
    fn check(&self) -> Result<(), SimError> {
        let list = |(number, node): (usize, Node<Ledger>)| {
            let entries = node.read_with(Level::Local, |ledger| ledger.entries().to_vec());
            let reason = |error| SimError::Replicas { reason: format!("node {number} shows no state: {error}") };
            Ok((number, entries.map_err(reason)?.0))
        };
        let lists = self.living().into_iter().map(list).collect::<Result<Vec<_>, SimError>>()?;
        check(&lists, &self.counts.borrow())
    }

    /// Called by the last client: waits until all replicas that live have applied all commands or their time is up, and ends all
    /// nodes.
    fn finish(&self, me: &Thread) {
        let total: u64 = self.counts.borrow().iter().sum();
        let until = me.now_ns() + LONGEST.as_nanos() as u64;
        for (_, node) in self.living() {
            let applied = || node.read(Level::Local, &()).map_or(total as usize, |(applied, _)| applied);
            while (applied() as u64) < total && me.now_ns() < until {
                me.work_ns(LOOK_AGAIN_NS);
            }
        }
        self.nodes.borrow().iter().for_each(Node::stop);
    }
}

/// A client.
struct Client {
    client: usize,
    node: usize,
    outstanding: usize,
    /// The longest time between an answer and the next command.
    pause_ns: u64,
    random: Random,
    /// The time in which commands count, from when all clients are there.
    window: (Ticks, Ticks),
    /// The number of its next command.
    number: u64,
    shared: Rc<Shared>,
}

impl Client {
    fn live(&mut self, me: &Thread) {
        let shared = Rc::clone(&self.shared);
        shared.await_nodes(shared.group.nodes());
        let node = shared.nodes.borrow()[self.node].clone();
        let opened = node.session_timeout(LONGEST);
        let mut session = opened.unwrap_or_else(|error| panic!("client {} has no session: {error}", self.client));
        shared.await_clients(&node);
        shared.first.set(shared.first.get().or(Some(me.now())));
        self.propose(me, &mut session);
        shared.counts.borrow_mut()[self.client] = self.number;
        shared.sessions.borrow_mut().push(session);
        shared.unfinished.set(shared.unfinished.get() - 1);
        if shared.unfinished.get() == 0 {
            shared.finish(me);
        }
    }

    /// Proposes commands until the end of the time that counts, and waits for all answers.
    fn propose(&mut self, me: &Thread, session: &mut Session<Ledger>) {
        let (warm_up, end) = self.window;
        let mut asked = VecDeque::new();
        let first = self.shared.first.get().expect("all clients are there");
        let age = |now: Ticks| now.saturating_sub(first);
        loop {
            let now = me.now();
            if asked.len() < self.outstanding && age(now) < end {
                let entry = Entry { client: self.client as u64, number: self.number };
                let rid = session.start(&entry).unwrap_or_else(|error| panic!("{entry:?} was not begun: {error}"));
                self.number += 1;
                asked.push_back((rid, now));
                continue;
            }
            let Some((rid, begun)) = asked.pop_front() else { return };
            let answer = session.wait_timeout(rid, LONGEST);
            answer.unwrap_or_else(|error| panic!("client {} has no answer to {rid}: {error}", self.client));
            let now = me.now();
            if (warm_up..end).contains(&age(now)) {
                self.shared.latencies.borrow_mut().push(now - begun);
            }
            me.work_ns(self.random.below(self.pause_ns + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::published;

    use super::*;

    fn skips(list: &mut Vec<Entry>, entry: Entry) {
        if list.len() != 7 || entry.number % 5 == 0 {
            list.push(entry);
        }
    }

    fn swaps(list: &mut Vec<Entry>, entry: Entry) {
        let place = if list.len() == 11 { 10 } else { list.len() };
        list.insert(place, entry);
    }

    #[test]
    fn a_replica_that_skips_or_swaps_commands_is_found() {
        let machine = published::opteron_4x12();
        let asked = Replicas { replicas: 5, clients: 2, warm_up_us: 5, duration_us: 30, ..Replicas::default() };
        play(&machine, &asked, |_| Vec::push).expect("they agree");
        for write in [skips, swaps] {
            let played = play(&machine, &asked, |node| if node == 3 { write } else { Vec::push });
            let error = played.expect_err("node 3 differs").to_string();
            assert!(error.contains("node 3"), "{error}");
        }
        let error = play(&machine, &asked, |_| skips).expect_err("no replica has it").to_string();
        assert!(error.contains("of the client was to come"), "{error}");
    }
}
