//! The engine over MPI: one leader's end, with requests of nonblocking messages and collectives behind its steps.
//!
//! Four communicators of the leaders carry it: one for the operations of each of two lanes, one for control, and a spare. A
//! request of a nonblocking collective cannot be taken back, so after a fault the engine abandons the communicators of the
//! operations together with the buffers of its steps, and goes on with the spare one and duplicates of it. All of its calls are
//! made by one thread at a time, which is what MPI calls serialized.

use std::fmt;
use std::process;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use corecast_collective::nodes::{Engine, Facts, Fault, FaultKind, FaultWord, NodeSet, Slot, Step, Survival, Ticket};

use crate::abi::Handle;
use crate::buffer::Slots;
use crate::control::Control;
use crate::error::MpiError;
use crate::library::Library;
use crate::living::{Leaving, is_past};
use crate::session::{End, Session};
use crate::steps::Steps;

/// The polls of a step between two looks at the control communicator. A look costs as much as a poll.
const POLLS_PER_LOOK: u32 = 16;
/// The longest time for which words that were told are given to leave when the engine is closed.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The longest time for which a word is awaited that explains a revoked communicator.
const REASON: Duration = Duration::from_secs(1);

/// The communicator of each lane.
type ByLane = [Handle; Slot::LANES];

/// The communicators of the leaders.
#[derive(Debug)]
pub(crate) struct Communicators {
    pub(crate) operations: ByLane,
    pub(crate) control: Handle,
    pub(crate) spare: Handle,
}

/// One leader's end of MPI.
pub(crate) struct MpiEngine {
    session: Arc<Session>,
    facts: Facts,
    operations: ByLane,
    spare: Handle,
    control: Control,
    slots: Slots,
    steps: Steps,
    polls: u32,
    /// Set by a fault, until the engine is remade.
    has_failed: bool,
    /// True once a node is lost. It stays so when the engine is remade.
    has_lost: bool,
    /// The number of times that it was remade.
    epoch: u32,
    /// The only thread that may call, if the library was initialised for one.
    only_thread: Option<ThreadId>,
    /// The process of this end. One that is forked from it has a copy, and must not use the connections of its parent.
    process: u32,
}

impl MpiEngine {
    /// The engine of the node of these facts.
    pub(crate) fn open(session: Arc<Session>, facts: Facts, comms: Communicators) -> Result<Self, MpiError> {
        let control = Control::open(&session.library, comms.control, facts.node, facts.nodes(), 0)?;
        Ok(Self::with(session, facts, comms, control))
    }

    /// The same, with this end of control.
    pub(crate) fn with(session: Arc<Session>, facts: Facts, comms: Communicators, control: Control) -> Self {
        let only_thread = session.is_for_one_thread().then(|| thread::current().id());
        Self {
            slots: Slots::default(),
            steps: Steps::default(),
            operations: comms.operations,
            spare: comms.spare,
            control,
            polls: 0,
            has_failed: false,
            has_lost: false,
            epoch: 0,
            only_thread,
            process: process::id(),
            facts,
            session,
        }
    }

    /// Notes that there were more nodes, or more processes of one.
    pub(crate) fn behind_a_loss(self) -> Self {
        Self { has_lost: true, ..self }
    }

    /// True if this thread may call the library.
    #[inline]
    fn may_call(&self) -> bool {
        self.only_thread.is_none_or(|only| only == thread::current().id()) && !self.session.library.has_left_call()
    }

    /// An error on a thread that may not call the library.
    #[inline]
    fn check_thread(&self) -> Result<(), Fault> {
        if self.may_call() { Ok(()) } else { Err(wrong_thread(self.session.library.has_left_call())) }
    }

    #[cold]
    fn fail(&mut self, error: MpiError) -> Fault {
        self.abandon();
        if error.is_revoked {
            if let Some(fault) = self.reason_of_revocation() {
                return fault;
            }
        }
        if error.is_failure {
            let comms = self.operations.iter().copied().chain([self.control.comm]);
            let failed =
                comms.flat_map(|comm| self.session.library.failed_ranks(comm)).find(|&node| node != self.facts.node);
            if let Some(node) = failed {
                self.note_lost(node as u32);
                return Fault::NodeLost { node };
            }
        }
        Fault::Engine { class: error.class, text: error.to_string() }
    }

    /// The word that another node has told before it revoked the communicator of the operations to leave it. The word is under
    /// way on the communicator of control, which nobody revokes.
    fn reason_of_revocation(&mut self) -> Option<Fault> {
        let begin = Instant::now();
        while begin.elapsed() < REASON {
            match self.control.listen(&self.session.library) {
                Ok(Some(word)) => {
                    if word.kind == FaultKind::Node {
                        self.note_lost(word.node);
                    }
                    return Some(Fault::Told(word));
                }
                Ok(None) => thread::yield_now(),
                // A node is lost, which the caller finds out.
                Err(_) => return None,
            }
        }
        None
    }

    fn abandon(&mut self) {
        self.has_failed = true;
        self.steps.abandon();
        self.slots.abandon();
    }

    /// The next word from the control communicator, or the failure of a node that it shows.
    fn look(&mut self) -> Result<Option<FaultWord>, Fault> {
        let heard = self.control.listen(&self.session.library);
        let word = heard.map_err(|error| self.fail(error))?;
        if let Some(FaultWord { node, kind: FaultKind::Node, .. }) = word {
            self.note_lost(node);
        }
        Ok(word)
    }

    fn note_lost(&mut self, node: u32) {
        let node = node as usize;
        if node < self.facts.nodes() && node != self.facts.node {
            self.control.note_lost(node);
            self.has_lost = true;
        }
    }

    /// Goes on with the spare communicator, and makes a further one of it.
    fn take_spare(&mut self, deadline: Option<Instant>) -> Result<(), MpiError> {
        let (library, control) = (&self.session.library, &mut self.control);
        // A node that has given up, at its own limit or for another reason, has told a word of the epoch to come.
        let mut is_over = || is_past(deadline) || control.is_told_of_next(library);
        let made = duplicates::<{ Slot::LANES }>(library, self.spare, &mut is_over)?;
        // Those that are abandoned may have requests that never end, so they are not freed.
        self.operations = made;
        std::mem::swap(&mut self.operations[0], &mut self.spare);
        self.control.next_epoch();
        Ok(())
    }

    /// Goes on without the nodes that are lost, and returns the others in the old numbers.
    fn shrink(&mut self, deadline: Option<Instant>) -> Result<NodeSet, MpiError> {
        let session = Arc::clone(&self.session);
        let library = &session.library;
        // Nodes that have not heard of the fault may wait in an operation.
        self.operations.iter().for_each(|&comm| library.revoke(comm));
        let leaving = Leaving { library, comm: self.spare, has_one_thread: self.only_thread.is_some(), deadline };
        let (living, made) = leaving.leave(
            self.facts.nodes(),
            |living, deadline| self.connections(living.comm, &living.kept, deadline),
            |(_, mut control)| control.close(library),
        )?;
        Ok(self.adopt(made, &living.kept))
    }

    /// The communicators of these nodes, and this one's end of control.
    fn connections(
        &self,
        comm: Handle,
        kept: &[usize],
        deadline: Option<Instant>,
    ) -> Result<(Communicators, Control), MpiError> {
        let library = &self.session.library;
        let comms = Communicators::of(library, comm, &mut || is_past(deadline))?;
        let control = Control::open(library, comms.control, self.place_among(kept), kept.len(), self.epoch + 1)?;
        Ok((comms, control))
    }

    fn place_among(&self, kept: &[usize]) -> usize {
        kept.iter().position(|&node| node == self.facts.node).expect("this node lives")
    }

    /// Goes on with these connections of the nodes with these old numbers.
    fn adopt(&mut self, (comms, control): (Communicators, Control), kept: &[usize]) -> NodeSet {
        let node = self.place_among(kept);
        (self.operations, self.spare, self.control) = (comms.operations, comms.spare, control);
        self.has_lost |= kept.len() < self.facts.nodes();
        let mut living = NodeSet::none(self.facts.nodes());
        kept.iter().for_each(|&node| living.insert(node));
        self.facts.node = node;
        self.facts.hosts = kept.iter().map(|&node| self.facts.hosts[node].clone()).collect();
        living
    }

    /// Lets words that were told leave.
    fn send_last_words(&mut self) {
        let begin = Instant::now();
        while !self.control.has_sent_all(&self.session.library) && begin.elapsed() < LAST_WORDS {
            let _ = self.control.listen(&self.session.library);
            thread::yield_now();
        }
    }
}

impl Communicators {
    /// Duplicates of a communicator. All of its processes have to call it before `is_over` says that the time is.
    pub(crate) fn of(library: &Library, comm: Handle, is_over: &mut dyn FnMut() -> bool) -> Result<Self, MpiError> {
        let [control, spare] = duplicates(library, comm, is_over)?;
        Ok(Self { operations: duplicates(library, comm, is_over)?, control, spare })
    }
}

fn duplicates<const N: usize>(
    library: &Library,
    comm: Handle,
    is_over: &mut dyn FnMut() -> bool,
) -> Result<[Handle; N], MpiError> {
    let mut made = [comm; N];
    for made in &mut made {
        *made = duplicate(library, comm, is_over)?;
    }
    Ok(made)
}

fn duplicate(library: &Library, comm: Handle, is_over: &mut dyn FnMut() -> bool) -> Result<Handle, MpiError> {
    library.duplicate_unless(comm, is_over)?.ok_or_else(|| MpiError::late("MPI_Comm_idup"))
}

impl Engine for MpiEngine {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn room(&mut self, slot: Slot, bytes: usize) -> &mut [u8] {
        self.slots.room(slot, bytes)
    }

    fn start(&mut self, step: Step) -> Result<Ticket, Fault> {
        self.check_thread()?;
        assert!(!self.has_failed, "no step can be started before the engine is remade");
        let comm = self.operations[lane_of(&step)];
        let nodes = self.facts.nodes();
        let started = self.steps.start(&self.session.library, comm, &mut self.slots, step, nodes);
        started.map_err(|error| self.fail(error))
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, Fault> {
        self.check_thread()?;
        let polled = self.steps.poll(&self.session.library, &mut self.slots, ticket);
        if polled.map_err(|error| self.fail(error))? {
            return Ok(true);
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls % POLLS_PER_LOOK == 0 {
            if let Some(word) = self.look()? {
                self.abandon();
                return Err(Fault::Told(word));
            }
        }
        Ok(false)
    }

    fn listen(&mut self) -> Result<Option<FaultWord>, Fault> {
        self.check_thread()?;
        self.look()
    }

    fn tell(&mut self, word: FaultWord) {
        if !self.may_call() {
            return;
        }
        if word.kind == FaultKind::Node {
            self.note_lost(word.node);
        }
        self.control.tell(&self.session.library, word);
    }

    fn remake(&mut self, living: &NodeSet, limit: Option<Duration>) -> Result<NodeSet, Fault> {
        // A limit beyond the range of times is none.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.check_thread()?;
        self.abandon();
        let nodes = if self.facts.survival == Survival::Nodes {
            // Another node may know of a loss that this one has not heard of, and all have to do the same.
            self.shrink(deadline).map_err(|error| match self.may_call() {
                true => self.fail(error),
                false => Fault::Engine { class: error.class, text: error.to_string() },
            })?
        } else if living.len() == self.facts.nodes() {
            self.take_spare(deadline).map_err(|error| self.fail(error))?;
            living.clone()
        } else {
            let why = self.session.library.survives_deaths().err().unwrap_or("a node is lost");
            return Err(Fault::Engine { class: 0, text: format!("cannot go on without a node: {why}") });
        };
        self.has_failed = false;
        self.epoch += 1;
        Ok(nodes)
    }

    fn close(mut self: Box<Self>, is_clean: bool) {
        if !self.may_call() || self.process != process::id() {
            // Its buffers and its receive stay with the library, which the program ends, or nobody.
            return;
        }
        self.send_last_words();
        self.control.close(&self.session.library);
        let is_clean = is_clean && !self.has_failed && self.steps.is_empty();
        let survives = self.facts.survival == Survival::Nodes;
        let has_lost = self.has_lost && survives;
        // No operation runs on the spare one, so that nodes can meet there that were interrupted in different operations.
        let meeting = (survives && self.session.ends_library()).then_some(self.spare);
        if is_clean && !has_lost {
            let comms = self.operations.iter().copied().chain([self.control.comm, self.spare]);
            // An error leaves a communicator to the library.
            let freed = comms.filter(|&comm| Some(comm) != meeting);
            freed.for_each(|comm| drop(self.session.library.free(comm)));
        }
        self.session.end(End { is_clean, has_lost, comm: meeting });
    }
}

impl fmt::Debug for MpiEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, facts, slots, has_failed, epoch, .. } = self;
        f.debug_struct("MpiEngine")
            .field("session", session)
            .field("facts", facts)
            .field("slots", slots)
            .field("has_failed", has_failed)
            .field("epoch", epoch)
            .finish_non_exhaustive()
    }
}

#[cold]
pub(crate) fn wrong_thread(has_left_call: bool) -> Fault {
    let text = match has_left_call {
        true => "a thread is in a call of MPI that was not finished in time",
        false => "MPI was initialised for one thread: the leader has to stay on the thread that opened the cluster",
    };
    Fault::Engine { class: 0, text: text.to_owned() }
}

/// The lane of a step, which is that of its slots.
fn lane_of(step: &Step) -> usize {
    match step {
        Step::Send { from, .. } | Step::Allreduce { from, .. } | Step::Gather { from, .. } => from.lane,
        Step::Receive { into, .. } => into.lane,
        Step::Broadcast { slot, .. } => slot.lane,
        _ => 0,
    }
}
