//! An engine whose nodes are threads of one process.
//!
//! **When to take it:** for tests of programs that run on several nodes, and of this library: messages come late, links break
//! and nodes die, as a seed says. **When not:** it is slow, and all nodes are in one process.
//!
//! Time counts the polls of all nodes, so the order in which threads run has a part in what happens beside the seed. A slot
//! that a step under way uses is kept as engines over a network keep it: whoever asks for its room, or lends it to a step that
//! may not have it, panics.
//!
//! ```
//! use corecast_collective::nodes::local::Network;
//! let engines = Network::of(3).seed(7).delays(100).engines();
//! assert_eq!(engines.len(), 3);
//! ```

mod arithmetic;
mod network;

use std::collections::HashMap;
use std::time::Duration;

use corecast_base::sync::{Arc, Mutex, MutexGuard};

use super::engine::{Engine, Facts, Slot, Step, Survival, Ticket};
use super::{Fault, FaultWord, NodeSet};
use network::{Route, State, error};

/// A network of nodes that are threads of this process.
#[derive(Clone, Debug)]
pub struct Network {
    nodes: usize,
    seed: u64,
    most_delay: u64,
    deaths: Vec<(usize, u64)>,
    errors: Vec<(usize, u64)>,
    survival: Survival,
}

impl Network {
    /// A network of this number of nodes, whose messages come at once and which survives the loss of nodes.
    ///
    /// # Panics
    /// If there are no nodes.
    #[must_use]
    #[track_caller]
    pub fn of(nodes: usize) -> Self {
        assert!(nodes > 0, "a network has nodes");
        Self { nodes, seed: 0, most_delay: 0, deaths: Vec::new(), errors: Vec::new(), survival: Survival::Nodes }
    }

    /// The seed of all delays.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Messages take up to this many polls of all nodes together.
    #[must_use]
    pub fn delays(mut self, most_polls: u64) -> Self {
        self.most_delay = most_polls;
        self
    }

    /// A node dies when it starts its `step`-th step, from 1; meeting the others when the group is built is the first one.
    #[must_use]
    pub fn death(mut self, node: usize, step: u64) -> Self {
        self.deaths.push((node, step));
        self
    }

    /// A node's engine reports an error instead of starting its `step`-th step, as if a link had broken.
    #[must_use]
    pub fn error(mut self, node: usize, step: u64) -> Self {
        self.errors.push((node, step));
        self
    }

    /// The losses after which the nodes can go on.
    #[must_use]
    pub fn survival(mut self, survival: Survival) -> Self {
        self.survival = survival;
        self
    }

    /// The ends of all nodes.
    #[must_use]
    pub fn engines(self) -> Vec<Box<dyn Engine>> {
        let mut state = State::new(self.nodes, self.seed, self.most_delay);
        (state.deaths, state.errors) = (self.deaths, self.errors);
        let state = Arc::new(Mutex::new(state));
        let hosts: Vec<String> = (0..self.nodes).map(|node| format!("host{node}")).collect();
        let engine = |node: usize| -> Box<dyn Engine> {
            let facts = Facts { survival: self.survival, ..Facts::new(node, hosts.clone(), "local") };
            Box::new(Local::new(node, facts, Arc::clone(&state)))
        };
        (0..self.nodes).map(engine).collect()
    }
}

/// One node's end.
#[derive(Debug)]
struct Local {
    /// The node's first number.
    id: usize,
    /// The first numbers of the nodes of this epoch.
    ids: Vec<usize>,
    epoch: u32,
    facts: Facts,
    state: Arc<Mutex<State>>,
    slots: HashMap<Slot, Vec<u8>>,
    pending: HashMap<u64, Pending>,
    /// Tickets given, and operations started in this epoch.
    tickets: u64,
    operations: u64,
}

/// A step under way.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Send { from: Slot },
    Receive { route: Route, into: Slot, bytes: usize },
    Operation { number: u64, from: Slot, into: Slot },
}

impl Pending {
    /// True if the step reads or writes the slot; with `is_written`, only if it writes it.
    fn uses(self, slot: Slot, is_written: bool) -> bool {
        match self {
            Self::Send { from } => from == slot && !is_written,
            Self::Receive { into, .. } => into == slot,
            Self::Operation { from, into, .. } => into == slot || (from == slot && !is_written),
        }
    }
}

const TRUNCATED: i32 = 15;

/// A message or a result, and the slot that it goes to, if any.
type Arrived = (Vec<u8>, Option<Slot>);

impl Local {
    fn new(id: usize, facts: Facts, state: Arc<Mutex<State>>) -> Self {
        let ids = (0..facts.nodes()).collect();
        let (slots, pending) = (HashMap::new(), HashMap::new());
        Self { id, ids, epoch: 0, facts, state, slots, pending, tickets: 0, operations: 0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no node panics while it holds the network")
    }

    fn bytes(&self, slot: Slot, bytes: usize) -> Vec<u8> {
        self.slots.get(&slot).map_or(vec![0; bytes], |room| room[..bytes].to_vec())
    }

    fn put(&mut self, slot: Slot, bytes: &[u8]) {
        let room = self.slots.entry(slot).or_default();
        room.resize(room.len().max(bytes.len()), 0);
        room[..bytes.len()].copy_from_slice(bytes);
    }

    /// Keeps the rules of slots: a slot that is read may be read by others, one that is written belongs to its step.
    fn check_free(&self, slot: Slot, is_to_be_written: bool) {
        let is_used = self.pending.values().any(|pending| pending.uses(slot, !is_to_be_written));
        assert!(!is_used, "{slot:?} is used by a step under way");
    }

    fn check_slots(&self, step: Step) {
        match step {
            Step::Send { from, .. } => self.check_free(from, false),
            Step::Receive { into, .. } | Step::Broadcast { slot: into, .. } => self.check_free(into, true),
            Step::Allreduce { from, into, .. } | Step::Gather { from, into, .. } => {
                self.check_free(from, false);
                self.check_free(into, true);
            }
        }
    }

    /// A fault ends all steps.
    fn abandon(&mut self, fault: Fault) -> Fault {
        self.pending.clear();
        fault
    }

    fn begin(&mut self, step: Step) -> Result<Pending, Fault> {
        self.state().count(self.id)?;
        let route = |from: usize, to: usize, slot: Slot| (self.epoch, self.ids[from], self.ids[to], slot.lane);
        Ok(match step {
            Step::Send { to, from, bytes } => {
                let (message, route) = (self.bytes(from, bytes), route(self.facts.node, to, from));
                self.state().send(route, message);
                Pending::Send { from }
            }
            Step::Receive { from, into, bytes } => {
                Pending::Receive { route: route(from, self.facts.node, into), into, bytes }
            }
            Step::Allreduce { kind, values, from, into, .. } => {
                self.operate(step, from, values * kind.bytes(), into)?
            }
            Step::Broadcast { slot, bytes, .. } => self.operate(step, slot, bytes, slot)?,
            Step::Gather { from, bytes, into } => self.operate(step, from, bytes, into)?,
        })
    }

    fn look(&mut self, ticket: Ticket) -> Result<bool, Fault> {
        self.state().pass(self.id)?;
        if let Some(word) = self.listen()? {
            return Err(Fault::Told(word));
        }
        let pending = *self.pending.get(&ticket.0).expect("a step is polled until it is done, and no longer");
        let Some((bytes, into)) = self.come(ticket.0, pending)? else { return Ok(false) };
        if let Some(into) = into {
            self.put(into, &bytes);
        }
        self.pending.remove(&ticket.0);
        Ok(true)
    }

    /// The fault for a node that will send nothing more: a word that is on the way, as it may be the last one of that node, or
    /// that it is lost.
    fn lost(&self, id: usize) -> Fault {
        let node = || self.ids.iter().position(|&other| other == id).unwrap_or(0);
        let word = self.state().hear_early(self.id, self.epoch);
        word.map_or_else(|| Fault::NodeLost { node: node() }, Fault::Told)
    }

    /// Begins an operation of all nodes with this node's part.
    fn operate(&mut self, step: Step, from: Slot, bytes: usize, into: Slot) -> Result<Pending, Fault> {
        let (part, number, place) = (self.bytes(from, bytes), self.operations, self.facts.node);
        self.operations += 1;
        self.state().give(self.epoch, number, place, step, part)?;
        Ok(Pending::Operation { number, from, into })
    }

    /// True if a receive that was started before this one waits for a message on its route.
    fn is_behind(&self, ticket: u64, route: Route) -> bool {
        let is_before = |(&other, pending): (&u64, &Pending)| {
            other < ticket && matches!(pending, Pending::Receive { route: theirs, .. } if *theirs == route)
        };
        self.pending.iter().any(is_before)
    }

    /// The message or the result of a step and the slot that it goes to, once it has come.
    fn come(&mut self, ticket: u64, pending: Pending) -> Result<Option<Arrived>, Fault> {
        let found = match pending {
            Pending::Send { .. } => return Ok(Some((Vec::new(), None))),
            Pending::Receive { route, .. } if self.is_behind(ticket, route) => return Ok(None),
            Pending::Receive { route, into, bytes } => {
                let found = self.state().receive(route);
                if found.as_ref().is_ok_and(|message| message.as_ref().is_some_and(|message| message.len() > bytes)) {
                    return Err(error(TRUNCATED, "a message is too long"));
                }
                found.map(|message| message.map(|message| (message, Some(into))))
            }
            Pending::Operation { number, into, .. } => {
                let found = self.state().take(self.epoch, number);
                found.map(|result| result.map(|result| (result, Some(into))))
            }
        };
        found.map_err(|id| self.lost(id))
    }
}

impl Engine for Local {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn room(&mut self, slot: Slot, bytes: usize) -> &mut [u8] {
        self.check_free(slot, true);
        let room = self.slots.entry(slot).or_default();
        room.resize(room.len().max(bytes), 0);
        &mut room[..bytes]
    }

    fn start(&mut self, step: Step) -> Result<Ticket, Fault> {
        self.check_slots(step);
        let pending = self.begin(step).map_err(|fault| self.abandon(fault))?;
        self.tickets += 1;
        self.pending.insert(self.tickets, pending);
        Ok(Ticket(self.tickets))
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, Fault> {
        self.look(ticket).map_err(|fault| self.abandon(fault))
    }

    fn listen(&mut self) -> Result<Option<FaultWord>, Fault> {
        Ok(self.state().hear(self.id, self.epoch))
    }

    fn tell(&mut self, word: FaultWord) {
        self.state().tell(self.id, word);
    }

    fn remake(&mut self, living: &NodeSet, _limit: Option<Duration>) -> Result<NodeSet, Fault> {
        let (nodes, ids) = (self.ids.clone(), self.state().next_epoch(self.epoch));
        let is_in = |id: usize| ids.contains(&id);
        if !is_in(self.id) {
            return Err(error(TRUNCATED, "this node has died"));
        }
        if self.facts.survival < Survival::Nodes && (ids.len() < nodes.len() || living.len() < nodes.len()) {
            return Err(error(TRUNCATED, "a node was lost"));
        }
        let mut stay = NodeSet::none(nodes.len());
        (0..nodes.len()).filter(|&node| is_in(nodes[node])).for_each(|node| stay.insert(node));
        self.facts.hosts = stay.iter().map(|node| self.facts.hosts[node].clone()).collect();
        self.facts.node = ids.iter().position(|&id| id == self.id).expect("it is in");
        (self.ids, self.epoch, self.operations) = (ids, self.epoch + 1, 0);
        self.pending.clear();
        Ok(stay)
    }

    fn close(self: Box<Self>, is_clean: bool) {
        if !is_clean {
            self.state().leave(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 0 of two, with a step under way.
    fn with(step: Step) -> Box<dyn Engine> {
        let mut engine = Network::of(2).engines().swap_remove(0);
        engine.start(step).expect("both nodes live");
        engine
    }

    const SEND: Step = Step::Send { to: 1, from: Slot::outgoing(0), bytes: 0 };
    const RECEIVE: Step = Step::Receive { from: 1, into: Slot::incoming(0), bytes: 0 };

    #[test]
    fn sends_share_a_slot_and_another_one_is_free() {
        let mut engine = with(SEND);
        let other = engine.start(SEND).expect("both nodes live");
        engine.room(Slot::outgoing(1), 8).fill(1);
        assert_eq!(engine.poll(other), Ok(true));
    }

    #[test]
    #[should_panic(expected = "is used by a step under way")]
    fn a_slot_that_is_sent_has_no_room() {
        with(SEND).room(Slot::outgoing(0), 8);
    }

    #[test]
    #[should_panic(expected = "is used by a step under way")]
    fn a_slot_is_received_into_once() {
        let _ = with(RECEIVE).start(RECEIVE);
    }

    #[test]
    #[should_panic(expected = "is used by a step under way")]
    fn a_slot_that_is_received_into_is_not_sent() {
        let _ = with(RECEIVE).start(Step::Send { to: 1, from: Slot::incoming(0), bytes: 0 });
    }
}
