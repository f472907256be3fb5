//! Why a simulation has no outcome.

use std::io;

use corecast_sim_core::Stopped;

/// Why a simulation has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// No threads, or more than the machine has CPUs.
    #[error("{threads} threads on a machine with {cpus} CPUs: expected from 1 to {most}")]
    Threads {
        /// Threads asked for.
        threads: usize,
        /// CPUs of the machine.
        cpus: usize,
        /// The most threads that have a place on them.
        most: usize,
    },
    /// A thread of this program cannot be killed.
    #[error("no thread is killed: {reason}")]
    Kill {
        /// The reason.
        reason: &'static str,
    },
    /// The run has no outcome.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A trace with more events than are kept.
    #[error(
        "a trace has at most {most} events, and there are more in this window: expected a shorter one, or fewer CPUs"
    )]
    Events {
        /// The limit.
        most: usize,
    },
    /// No memory for the stack of a thread.
    #[error("there is no memory for the stack of a simulated thread: {reason}")]
    Stack {
        /// The system's words.
        reason: String,
    },
    /// A change was lost: two threads held the lock at a time, or the operation was not atomic.
    #[error("a change was lost: the sum is {counted} where {total} were counted")]
    Lost {
        /// The sum.
        counted: u64,
        /// The changes that threads counted.
        total: u64,
    },
    /// A sum of all accounts of a bank was wrong: a transaction was half done, or one was lost.
    #[error("a sum of all accounts was {seen}, and they hold {total}")]
    Total {
        /// The sum.
        seen: i64,
        /// The money of the bank.
        total: i64,
    },
    /// There is no such transactional memory.
    #[error("no transactional memory for the simulated machine: {reason}")]
    Memory {
        /// The reason.
        reason: String,
    },
    /// There is no such group.
    #[error("no group for the simulated machine: {reason}")]
    Group {
        /// The reason, in the group's words.
        reason: String,
    },
    /// Replicas differ, or a command was lost or done twice.
    #[error("replicas do not agree: {reason}")]
    Replicas {
        /// The place where they do not.
        reason: String,
    },
    /// No channel has this name.
    #[error("no channel is called '{name}'")]
    Channel {
        /// The name.
        name: String,
    },
    /// An episode was not over when the next one was to begin.
    #[error("an operation took longer than the window of {window_us} us that was set for each episode")]
    Window {
        /// The window.
        window_us: u64,
    },
}

impl SimError {
    /// True if threads that are left wait for one that was killed, or did not come to their ends beside it.
    #[must_use]
    pub fn waits_for_killed(&self) -> bool {
        matches!(self, Self::Stopped(stopped) if stopped.has_killed())
    }

    pub(crate) fn group(error: impl std::fmt::Display) -> Self {
        Self::Group { reason: error.to_string() }
    }

    pub(crate) fn memory(error: impl std::fmt::Display) -> Self {
        Self::Memory { reason: error.to_string() }
    }

    pub(crate) fn stack(error: io::Error) -> Self {
        Self::Stack { reason: error.to_string() }
    }
}
