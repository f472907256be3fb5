//! Why there is no such machine, and why a run has no outcome.

use crate::costs::Ticks;

/// Why there is no such machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// No CPUs, or more than can be simulated.
    #[error("a simulated machine has from 1 to {most} CPUs, and not {cpus}")]
    Cpus {
        /// CPUs asked for.
        cpus: usize,
        /// The limit, [`MAX_CPUS`](crate::MAX_CPUS).
        most: usize,
    },
    /// A node without a CPU.
    #[error("no CPU is of node {node}: nodes are numbered from 0 without a gap")]
    EmptyNode {
        /// The node.
        node: usize,
    },
    /// Times that are missing.
    #[error("{name} has times for {times} distances of {distances}")]
    Times {
        /// The costs.
        name: &'static str,
        /// The distances that have a time.
        times: usize,
        /// The distances of the machine.
        distances: usize,
    },
    /// A machine on which a polling loop takes no time, so that nothing else ever happens.
    #[error("a pause takes time: a polling loop would keep all other threads from going on")]
    NoPause,
    /// A machine whose CPUs would change threads all the time.
    #[error("a slice takes time: threads that share a CPU would never go on")]
    NoSlice,
    /// A machine on which no store can be made.
    #[error("a store buffer has room for one store at least")]
    NoStoreBuffer,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The limit of virtual time.
    #[error("the program had not ended after {limit} ticks of virtual time")]
    Limit {
        /// The limit.
        limit: Ticks,
    },
    /// All threads wait for each other.
    #[error("all threads that are left wait for a change that no thread can make: {}", waiting_text(.waiting))]
    Deadlock {
        /// The threads that are left.
        waiting: Vec<Waiting>,
    },
    /// A thread panicked.
    #[error("the thread on CPU {cpu} panicked: {message}")]
    Panicked {
        /// Its CPU.
        cpu: usize,
        /// Its words.
        message: String,
    },
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its CPU.
    pub cpu: usize,
    /// The lines that it polls, numbered by their first access.
    pub lines: Vec<usize>,
}

fn waiting_text(waiting: &[Waiting]) -> String {
    let words = |&Waiting { cpu, ref lines }: &Waiting| {
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        format!("CPU {cpu} polls line {}", lines.join(" and "))
    };
    waiting.iter().map(words).collect::<Vec<_>>().join(", ")
}
