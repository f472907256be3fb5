//! Why there is no such machine, and why a run has no outcome.

use std::fmt;

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
    /// CPUs that share a core and make each other faster.
    #[error("CPUs that share a core slow each other down by a factor of 1 or more")]
    Slowdown,
    /// A machine on which no store can be made.
    #[error("a store buffer has room for one store at least")]
    NoStoreBuffer,
}

/// Why a run has no outcome. Each has the seed of the stops, if they came at random.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The limit of virtual time.
    #[error("the program had not ended after {limit} ticks of virtual time: {}{}", texts(.waiting), seed_text(*.seed))]
    Limit {
        /// The limit.
        limit: Ticks,
        /// The threads that are left.
        waiting: Vec<Waiting>,
        /// The seed.
        seed: Option<u64>,
    },
    /// All threads wait for each other.
    #[error(
        "all threads that are left wait for a change that no thread can make: {}{}", texts(.waiting), seed_text(*.seed)
    )]
    Deadlock {
        /// The threads that are left.
        waiting: Vec<Waiting>,
        /// The seed.
        seed: Option<u64>,
    },
    /// A thread panicked.
    #[error("thread {thread} on CPU {cpu} panicked: {message}{}", seed_text(*.seed))]
    Panicked {
        /// The thread.
        thread: usize,
        /// Its CPU.
        cpu: usize,
        /// Its words.
        message: String,
        /// The seed.
        seed: Option<u64>,
    },
}

impl Stopped {
    /// True if a thread was killed, for which those that are left may wait.
    #[must_use]
    pub fn has_killed(&self) -> bool {
        match self {
            Self::Limit { waiting, .. } | Self::Deadlock { waiting, .. } => {
                waiting.iter().any(|thread| thread.reason == Reason::Killed)
            }
            Self::Panicked { .. } => false,
        }
    }
}

/// A thread that has not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub thread: usize,
    /// Its CPU.
    pub cpu: usize,
    /// The reason for which it has not ended.
    pub reason: Reason,
    /// The lines that it polls, or the one that it accessed last; numbered by their first access.
    pub lines: Vec<usize>,
}

/// The reason for which a thread has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It runs.
    Runs,
    /// It polls its lines.
    Polls,
    /// It sleeps until it is woken.
    Sleeps,
    /// It waits for its line.
    Line,
    /// It waits for its stores.
    Stores,
    /// It waits for its CPU, which another thread has.
    Cpu,
    /// It was taken off its CPU.
    Stopped,
    /// It was killed.
    Killed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "runs at",
            Self::Polls => "polls",
            Self::Sleeps => "sleeps at",
            Self::Line => "waits for",
            Self::Stores => "waits for its stores at",
            Self::Cpu => "waits for its CPU at",
            Self::Stopped => "is stopped at",
            Self::Killed => "was killed at",
        })
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, cpu, reason, lines } = self;
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let lines = if lines.is_empty() { "no line".to_owned() } else { format!("line {}", lines.join(" and ")) };
        write!(f, "thread {thread} on CPU {cpu} {reason} {lines}")
    }
}

/// Threads that a message names at most.
const NAMED: usize = 16;

fn texts(waiting: &[Waiting]) -> String {
    let named: Vec<String> = waiting.iter().take(NAMED).map(Waiting::to_string).collect();
    let more = waiting.len().saturating_sub(NAMED);
    named.join(", ") + &if more > 0 { format!(", and {more} more") } else { String::new() }
}

fn seed_text(seed: Option<u64>) -> String {
    seed.map_or_else(String::new, |seed| format!(" (seed {seed})"))
}
