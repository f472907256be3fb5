//! A rank that leads its node when the leader is lost, where the library goes on without it.
//!
//! Only all ranks together can make a communicator with a rank that was in none of the leaders', so all that live do: they
//! leave the lost ones behind on a communicator of all ranks, which carries nothing else, and those that lead are split from it.
//! A rank that has an error in between is waited for by others, on the communicator of those that live or on that of the
//! leaders. So it revokes that one, which ends their waiting, and all agree after each step: [`leave`](Leaving::leave) begins
//! again if one has failed.
//!
//! A rank that has ended its part waits for the others at the end of its process, and so meets them on the communicator of all
//! ranks as well: a rank that leaves lost ones behind revokes it first, and the one that waits ends. Otherwise they would wait
//! for each other.

use std::process;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use corecast_collective::nodes::{Candidate, Engine, Facts, Fault, NodeSet, Remade, Standing, Survival};

use crate::abi::Handle;
use crate::control::Control;
use crate::engine::{Communicators, MpiEngine, wrong_thread};
use crate::error::MpiError;
use crate::library::Library;
use crate::living::{LAST_STEPS, Leaving, Living, is_past};
use crate::session::Session;

/// The time between two turns of the library in a wait: some hundred polls, so that a turn costs a few percent of it.
const BETWEEN: Duration = Duration::from_micros(10);
/// The longest sleep between two turns.
const NAP: Duration = Duration::from_millis(1);

/// The knowledge of one rank by which it can lead its node.
pub(crate) struct RankCandidate {
    session: Arc<Session>,
    /// The communicator of all ranks that are left, and their numbers among those of the beginning, ascending.
    comm: Handle,
    ranks: Vec<usize>,
    /// This rank, and its node.
    rank: usize,
    node: usize,
    /// The nodes of the beginning: their hosts and ranks.
    hosts: Vec<String>,
    nodes: Vec<Vec<usize>>,
    /// The nodes that are left, ascending.
    living_nodes: Vec<usize>,
    /// The engine's words about itself.
    engine: String,
    /// The communicators of this rank's engine, if it leads its node or a lane.
    operations: Vec<Handle>,
    only_thread: Option<ThreadId>,
    /// The process of this rank. One that is forked from it must not use its connections.
    process: u32,
}

/// A place among the ranks that are left.
enum Place {
    /// A node has to agree within itself again.
    Again,
    /// Behind the leader of the node.
    Follows,
    Leads(Communicators, Control),
}

impl RankCandidate {
    /// The candidate of the rank of these facts, with this communicator of all ranks and those of its engine, if it leads.
    pub(crate) fn new(
        session: &Arc<Session>,
        comm: Handle,
        rank: usize,
        facts: &Facts,
        nodes: &[Vec<usize>],
        operations: &[Handle],
    ) -> Self {
        session.meet_at_exit(comm, false);
        Self {
            comm,
            ranks: (0..nodes.iter().map(Vec::len).sum()).collect(),
            rank,
            node: facts.node,
            hosts: facts.hosts.clone(),
            nodes: nodes.to_vec(),
            living_nodes: (0..nodes.len()).collect(),
            engine: facts.engine.clone(),
            operations: operations.to_vec(),
            only_thread: session.is_for_one_thread().then(|| thread::current().id()),
            process: process::id(),
            session: Arc::clone(session),
        }
    }

    /// Notes the communicators of this rank's engine, as it leads a lane.
    pub(crate) fn lead_lane(&mut self, operations: &[Handle]) {
        self.operations = operations.to_vec();
    }

    fn may_call(&self) -> bool {
        let is_right = self.only_thread.is_none_or(|only| only == thread::current().id());
        is_right && self.process == process::id() && !self.session.library.has_left_call()
    }

    /// This rank's place among those that live.
    fn place(&self, living: &Living, standing: Standing, deadline: Option<Instant>) -> Result<Place, MpiError> {
        let library = &self.session.library;
        // All that live have met.
        let deadline = deadline.map(|deadline| deadline.max(Instant::now() + LAST_STEPS));
        let mut is_over = || is_past(deadline);
        // All take the same agreements in the same order, so that there is no way back from one that fails.
        let agree = |own| {
            let agreed = library.agree(living.comm, own, &mut || is_past(deadline));
            agreed.map_err(|error| MpiError { is_final: true, ..error })
        };
        let (ranks, leader) = (self.kept(living), self.nodes[self.node][standing.leader]);
        let is_led = standing.is_whole && ranks.binary_search(&leader).is_ok();
        if !agree(is_led)? {
            return Ok(Place::Again);
        }
        let leads = leader == self.rank;
        let split = self.split(living.comm, leads, deadline);
        if library.has_left_call() {
            return Err(MpiError::left_behind("MPI_Comm_split"));
        }
        if split.is_err() {
            library.revoke(living.comm);
        }
        // Every leader has to have the communicator, so that each can end the waiting of the others on it.
        let is_split = agree(split.is_ok())?;
        let comm = split?;
        if !is_split {
            return Err(MpiError::elsewhere("MPI_Comm_split"));
        }
        if !leads {
            return Ok(Place::Follows);
        }
        let made = self.connections(comm, &self.living_nodes(&ranks), &mut is_over);
        made.inspect_err(|_| library.revoke(comm)).map(|(comms, control)| Place::Leads(comms, control))
    }

    /// The numbers at the beginning of the ranks that live.
    fn kept(&self, living: &Living) -> Vec<usize> {
        living.kept.iter().map(|&place| self.ranks[place]).collect()
    }

    /// The nodes that have one of these ranks.
    fn living_nodes(&self, ranks: &[usize]) -> Vec<usize> {
        let lives = |&node: &usize| self.nodes[node].iter().any(|rank| ranks.binary_search(rank).is_ok());
        (0..self.nodes.len()).filter(lives).collect()
    }

    /// A communicator of those that lead, in the order of their nodes, and another one of those that do not.
    fn split(&self, comm: Handle, leads: bool, deadline: Option<Instant>) -> Result<Handle, MpiError> {
        let (color, key) = (usize::from(leads), self.node);
        let deadline = deadline.filter(|_| self.only_thread.is_none());
        self.session.library.call_until(deadline, "MPI_Comm_split", move |library| library.split(comm, color, key))
    }

    /// The connections of a leader among those of these nodes.
    fn connections(
        &self,
        comm: Handle,
        nodes: &[usize],
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<(Communicators, Control), MpiError> {
        let library = &self.session.library;
        let node = place_among(nodes, self.node);
        if library.rank_and_size(comm)? != (node, nodes.len()) {
            return Err(MpiError::elsewhere("MPI_Comm_split"));
        }
        let comms = Communicators::of(library, comm, is_over)?;
        let control = Control::open(library, comms.control, node, nodes.len(), 0)?;
        Ok((comms, control))
    }

    /// Goes on with these ranks; returns the nodes that are left, in the numbers of the engine before.
    fn adopt(&mut self, living: &Living) -> NodeSet {
        self.ranks = self.kept(living);
        self.comm = living.comm;
        self.session.meet_at_exit(living.comm, true);
        let nodes = self.living_nodes(&self.ranks);
        let before = std::mem::replace(&mut self.living_nodes, nodes);
        let mut stay = NodeSet::none(before.len());
        let is_left = |node: &usize| self.living_nodes.binary_search(node).is_ok();
        (0..before.len()).filter(|&place| is_left(&before[place])).for_each(|place| stay.insert(place));
        stay
    }

    /// The engine of this rank, which leads.
    fn lead(&mut self, comms: Communicators, control: Control) -> Box<dyn Engine> {
        let hosts = self.living_nodes.iter().map(|&node| self.hosts[node].clone()).collect();
        let mut facts = Facts::new(place_among(&self.living_nodes, self.node), hosts, self.engine.clone());
        facts.survival = Survival::Nodes;
        self.operations = comms.operations.to_vec();
        Box::new(MpiEngine::with(Arc::clone(&self.session), facts, comms, control).behind_a_loss())
    }
}

impl Candidate for RankCandidate {
    fn remake(&mut self, standing: Standing, limit: Option<Duration>) -> Result<Option<Remade>, Fault> {
        // A limit beyond the range of times is none.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let session = Arc::clone(&self.session);
        let library = &session.library;
        if !self.may_call() {
            return Err(wrong_thread(library.has_left_call()));
        }
        // Leaders that have not heard of the fault may wait in an operation, and ranks that have left at their end.
        self.operations.iter().chain([&self.comm]).for_each(|&comm| library.revoke(comm));
        let leaving = Leaving { library, comm: self.comm, has_one_thread: self.only_thread.is_some(), deadline };
        let left = leaving.leave(
            self.ranks.len(),
            |living, deadline| self.place(living, standing, deadline),
            |place| {
                if let Place::Leads(_, mut control) = place {
                    control.close(library);
                }
            },
        );
        let (living, place) = left.map_err(|error| Fault::Engine { class: error.class, text: error.to_string() })?;
        if matches!(place, Place::Again) {
            return Ok(None);
        }
        let stay = self.adopt(&living);
        let engine = match place {
            Place::Leads(comms, control) => Some(self.lead(comms, control)),
            Place::Again | Place::Follows => None,
        };
        Ok(Some(Remade { stay, engine }))
    }

    fn while_waiting(&self) -> Box<dyn FnMut(Duration) -> Duration + Send> {
        Box::new(turns(Arc::clone(&self.session.library), self.only_thread))
    }
}

/// Lets the library proceed now and then in a wait, on the only thread that may call it, if there is one.
pub(crate) fn turns(
    library: Arc<Library>,
    only_thread: Option<ThreadId>,
) -> impl FnMut(Duration) -> Duration + Send + 'static {
    let mut last = Duration::ZERO;
    move |waited| {
        if waited < last {
            last = Duration::ZERO;
        }
        if waited - last >= BETWEEN && only_thread.is_none_or(|only| only == thread::current().id()) {
            last = waited;
            library.proceed();
        }
        NAP
    }
}

fn place_among(nodes: &[usize], node: usize) -> usize {
    nodes.binary_search(&node).expect("this node lives")
}
