//! The state that the nodes of a local network share: messages on their way, operations, words, and the nodes that live.
//!
//! Time counts the polls of all nodes. What is sent becomes visible after a random time, in the order of its sender and receiver.

use std::collections::{HashMap, VecDeque};

use fastrand::Rng;

use super::super::engine::Step;
use super::super::{Fault, FaultWord};
use super::arithmetic;

/// Messages of one node to another one, in one epoch and lane.
pub(super) type Route = (u32, usize, usize, usize);

/// See the [module](self). Nodes have the numbers here that they had at first.
#[derive(Debug)]
pub(super) struct State {
    now: u64,
    random: Rng,
    most_delay: u64,
    is_alive: Vec<bool>,
    /// Steps started by each node.
    started: Vec<u64>,
    /// The step at which a node dies.
    pub(super) deaths: Vec<(usize, u64)>,
    /// The step at which a node's engine reports an error.
    pub(super) errors: Vec<(usize, u64)>,
    messages: HashMap<Route, VecDeque<(u64, Vec<u8>)>>,
    operations: HashMap<(u32, u64), Operation>,
    words: Vec<VecDeque<(u64, FaultWord)>>,
    /// The nodes of each epoch.
    epochs: Vec<Vec<usize>>,
}

/// An operation of all nodes of an epoch.
#[derive(Debug)]
struct Operation {
    step: Step,
    /// The part that each node has given, by its number in the epoch.
    given: Vec<Option<Vec<u8>>>,
    ready: u64,
    taken: usize,
}

const DEAD: i32 = -1;
const BROKEN: i32 = 17;
const DIFFERENT: i32 = 18;

pub(super) fn error(class: i32, text: &str) -> Fault {
    Fault::Engine { class, text: text.to_owned() }
}

impl State {
    pub(super) fn new(nodes: usize, seed: u64, most_delay: u64) -> Self {
        Self {
            now: 0,
            random: Rng::with_seed(seed),
            most_delay,
            is_alive: vec![true; nodes],
            started: vec![0; nodes],
            deaths: Vec::new(),
            errors: Vec::new(),
            messages: HashMap::new(),
            operations: HashMap::new(),
            words: vec![VecDeque::new(); nodes],
            epochs: vec![(0..nodes).collect()],
        }
    }

    /// Counts a step that a node is about to start; this may be its last one.
    pub(super) fn count(&mut self, node: usize) -> Result<(), Fault> {
        self.check(node)?;
        self.started[node] += 1;
        let now = (node, self.started[node]);
        if self.deaths.contains(&now) {
            self.is_alive[node] = false;
        }
        self.check(node)?;
        if self.errors.contains(&now) { Err(error(BROKEN, "a link is broken")) } else { Ok(()) }
    }

    fn check(&self, node: usize) -> Result<(), Fault> {
        if self.is_alive[node] { Ok(()) } else { Err(error(DEAD, "this node has died")) }
    }

    /// Lets time pass for a node that polls.
    pub(super) fn pass(&mut self, node: usize) -> Result<(), Fault> {
        self.now += 1;
        self.check(node)
    }

    fn later(&mut self) -> u64 {
        self.now + self.random.u64(0..=self.most_delay)
    }

    pub(super) fn send(&mut self, route: Route, message: Vec<u8>) {
        let later = self.later();
        let queue = self.messages.entry(route).or_default();
        let ready = queue.back().map_or(later, |&(ready, _)| ready.max(later));
        queue.push_back((ready, message));
    }

    /// The next message on a route, if one has come; an error if none will.
    pub(super) fn receive(&mut self, route: Route) -> Result<Option<Vec<u8>>, usize> {
        let (now, sender) = (self.now, route.1);
        let queue = self.messages.entry(route).or_default();
        match queue.front() {
            Some(&(ready, _)) if ready <= now => Ok(queue.pop_front().map(|(_, message)| message)),
            None if !self.is_alive[sender] => Err(sender),
            _ => Ok(None),
        }
    }

    /// Adds a node's part to an operation, the `number`-th of an epoch.
    pub(super) fn give(
        &mut self,
        epoch: u32,
        number: u64,
        place: usize,
        step: Step,
        bytes: Vec<u8>,
    ) -> Result<(), Fault> {
        let (later, nodes) = (self.later(), self.epochs[epoch as usize].len());
        let new = || Operation { step, given: vec![None; nodes], ready: 0, taken: 0 };
        let operation = self.operations.entry((epoch, number)).or_insert_with(new);
        if operation.step != step {
            return Err(error(DIFFERENT, "nodes have started different operations"));
        }
        operation.given[place] = Some(bytes);
        operation.ready = operation.ready.max(later);
        Ok(())
    }

    /// The result of an operation, once all nodes have given their part and it has come; the node that never will, as an error.
    pub(super) fn take(&mut self, epoch: u32, number: u64) -> Result<Option<Vec<u8>>, usize> {
        let key = (epoch, number);
        let Some(operation) = self.operations.get_mut(&key) else { return Ok(None) };
        if let Some(missing) = operation.given.iter().position(Option::is_none) {
            let node = self.epochs[epoch as usize][missing];
            return if self.is_alive[node] { Ok(None) } else { Err(node) };
        }
        if operation.ready > self.now {
            return Ok(None);
        }
        operation.taken += 1;
        let (result, is_last) = (operation.result(), operation.taken == operation.given.len());
        if is_last {
            self.operations.remove(&key);
        }
        Ok(Some(result))
    }

    /// Sends a word to all other nodes of its epoch.
    pub(super) fn tell(&mut self, node: usize, word: FaultWord) {
        if !self.is_alive[node] {
            return;
        }
        for other in self.epochs[word.epoch as usize].clone() {
            if other != node {
                let ready = self.later();
                self.words[other].push_back((ready, word));
            }
        }
    }

    /// The next word of this epoch for a node.
    pub(super) fn hear(&mut self, node: usize, epoch: u32) -> Option<FaultWord> {
        self.hear_until(node, epoch, self.now)
    }

    /// The same, though it has not come yet.
    pub(super) fn hear_early(&mut self, node: usize, epoch: u32) -> Option<FaultWord> {
        self.hear_until(node, epoch, u64::MAX)
    }

    fn hear_until(&mut self, node: usize, epoch: u32, now: u64) -> Option<FaultWord> {
        let words = &mut self.words[node];
        words.retain(|&(_, word)| word.epoch >= epoch);
        let place = words.iter().position(|&(ready, word)| word.epoch == epoch && ready <= now)?;
        words.remove(place).map(|(_, word)| word)
    }

    /// The nodes of the epoch behind this one: those that live when the first of them asks.
    pub(super) fn next_epoch(&mut self, epoch: u32) -> Vec<usize> {
        let next = epoch as usize + 1;
        if self.epochs.len() == next {
            let living = self.epochs[epoch as usize].iter().copied().filter(|&node| self.is_alive[node]).collect();
            self.epochs.push(living);
        }
        self.epochs[next].clone()
    }

    /// A node that leaves is missed like one that dies.
    pub(super) fn leave(&mut self, node: usize) {
        self.is_alive[node] = false;
    }
}

impl Operation {
    fn result(&self) -> Vec<u8> {
        let mut given = self.given.iter().flatten();
        match self.step {
            Step::Allreduce { kind, op, .. } => {
                let mut sum = given.next().cloned().unwrap_or_default();
                let are_known = given.all(|bytes| arithmetic::combine(kind, op, &mut sum, bytes));
                assert!(are_known, "no engine combines {kind:?} by {op:?}");
                sum
            }
            Step::Broadcast { root, .. } => self.given[root].clone().unwrap_or_default(),
            _ => self.given.iter().flatten().flatten().copied().collect(),
        }
    }
}
