//! Replicas that agree on the order of commands by 1Paxos over channels, on a simulated machine.
//!
//! Nodes, sessions, protocol, transport and channels are those of `corecast_replica::net`. Each replica is on a CPU of its own,
//! where its node's own thread is; a client of it, which waits for its answers and drives the node meanwhile, is a second
//! thread there. Memory is that of one process, so a node that is killed is one that stands still: nobody sees that it is dead.
//!
//! A node computes natively, which takes no virtual time: encoding, hashing and the protocol's own steps are free, accesses to
//! memory that others see are not. [`Replicas::own_ns`] stands for the rest.

mod group;
mod ledger;
mod play;

use corecast_base::wait::Wait;
use corecast_machine::Machine as Model;
use corecast_plan::Tree;
use corecast_sim_core::Machine;

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;

pub use self::group::Learning;
pub use corecast_replica::net::MAX_NODES as MAX_REPLICAS;

/// The most commands of a client without an answer, as sessions have it.
pub const MOST_OUTSTANDING: usize = 16;

/// A group of replicas, and clients that keep it busy.
#[derive(Clone, Debug)]
pub struct Replicas {
    /// The replicas, spread over the CPUs of the machine: 1 to 64, and at most as many as CPUs.
    pub replicas: usize,
    /// The clients, at most one for each replica: those of the last nodes, so that leader and acceptor have one last.
    pub clients: usize,
    /// The commands of a client that have no answer yet, 1 to 16.
    pub outstanding: usize,
    /// How nodes learn.
    pub learning: Learning,
    /// How nodes and clients wait.
    pub wait: Wait,
    /// The virtual time before commands count, from when all clients are there.
    pub warm_up_us: u64,
    /// The virtual time in which they do.
    pub duration_us: u64,
    /// The time for which each replica computes to apply a command, in nanoseconds.
    pub own_ns: u64,
    /// The longest time for which a client computes after an answer, in nanoseconds; it differs from command to command.
    pub pause_ns: u64,
    /// The model from which trees are planned; by default [`model`](crate::model()) of the machine.
    pub model: Option<Model>,
    /// The seed of these times.
    pub seed: u64,
    /// The disturbances of all threads; each replica keeps its CPU.
    pub disturbance: Disturbance,
    /// The node whose own thread is killed where the disturbance has a kill: it has no client.
    pub victim: usize,
}

impl Default for Replicas {
    fn default() -> Self {
        Self {
            replicas: 3,
            clients: 1,
            outstanding: 1,
            learning: Learning::Planned,
            wait: Wait::Adaptive,
            warm_up_us: 50,
            duration_us: 200,
            own_ns: 0,
            pause_ns: 100,
            model: None,
            seed: 1,
            disturbance: Disturbance::NONE,
            victim: 0,
        }
    }
}

/// The outcome of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaOutcome {
    /// The time in which commands counted, in nanoseconds.
    pub ns: f64,
    /// From the begin of each command that counted until its client had the answer, in nanoseconds, ascending.
    pub latencies_ns: Vec<f64>,
    /// The commands of all clients together, with those of the warm-up.
    pub commands: u64,
    /// The fewest commands of any client among these.
    pub least_commands: u64,
    /// Lines that moved for a command, by the distance that they came from.
    pub transfers: Vec<f64>,
    /// The tree along which nodes learned; its ranks are those of the replicas on ascending CPUs.
    pub tree: Option<Tree>,
    /// The number of times that a role has changed hands.
    pub role_changes: u32,
    /// The number of times that a node came back which the others had put out, as they held it for stuck.
    pub rejoins: u64,
    /// How the threads were disturbed.
    pub disturbed: Disturbed,
}

impl ReplicaOutcome {
    /// Commands in a second, in thousands.
    #[must_use]
    pub fn kops(&self) -> f64 {
        self.latencies_ns.len() as f64 / self.ns * 1e6
    }

    /// The latency within which this part of the commands had their answers, in nanoseconds; 0 without commands.
    #[must_use]
    pub fn latency_ns(&self, part: f64) -> f64 {
        let place = (self.latencies_ns.len() as f64 * part) as usize;
        self.latencies_ns.get(place.min(self.latencies_ns.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }
}

/// Lets clients propose commands, and replicas agree on their order and apply them. All replicas have applied the same commands
/// in the same order, each once.
///
/// # Errors
/// - [`SimError::Threads`] if the machine has fewer CPUs;
/// - [`SimError::Group`] if there are more clients than replicas, replicas are to share CPUs, the node of a client is to be
///   killed, or there is no such group or tree;
/// - [`SimError::Replicas`] if replicas differ, or a command was lost or done twice;
/// - [`SimError::Stopped`] if the run has no outcome, [`SimError::Stack`] if there is no memory for a thread.
pub fn replicas(machine: &Machine, asked: &Replicas) -> Result<ReplicaOutcome, SimError> {
    play::play(machine, asked, |_| Vec::push)
}
