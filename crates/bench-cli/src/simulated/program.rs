//! The programs that run on a simulated machine, and the figure by which the contenders of each are judged.

use corecast_sim::Operation;
use serde::{Deserialize, Serialize};

/// A program, with its own options. Times are virtual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Program {
    /// Threads that compete for locks.
    Locks {
        /// The number of locks.
        locks: usize,
        /// The time before acquisitions count, microseconds.
        warm_up_us: u64,
        /// The time in which they do, microseconds.
        duration_us: u64,
        /// The time that a holder computes for, ns.
        inside_ns: u64,
        /// The time for which a thread computes between two acquisitions, ns.
        outside_ns: u64,
    },
    /// Members that meet at a barrier.
    Barriers {
        /// Episodes before those that count.
        warm_up: usize,
        /// Episodes that count.
        episodes: usize,
        /// True if the group plans with little effort.
        plans_quickly: bool,
    },
    /// Members that call an operation, along a tree.
    Collectives {
        /// The operation.
        operation: Operation,
        /// The bytes of each member's values.
        bytes: usize,
        /// Episodes before those that count.
        warm_up: usize,
        /// Episodes that count.
        episodes: usize,
        /// True if the group plans with little effort.
        plans_quickly: bool,
    },
    /// Messages through a channel.
    Messages {
        /// The time or rate that is wanted.
        figure: MessageFigure,
        /// Messages before those that count, and again as many that do.
        messages: u64,
    },
    /// Threads that work on a hash table with a lock on each bucket, or with servers that own the buckets.
    Table {
        /// The buckets.
        buckets: usize,
        /// The keys that are in a bucket on average, of twice as many.
        mean: usize,
        /// The time for which a thread computes in each operation besides its accesses, ns.
        own_ns: u64,
        /// The time before operations count, microseconds.
        warm_up_us: u64,
        /// The time in which they do, microseconds.
        duration_us: u64,
    },
    /// Participants of a transactional memory, of which applications work at a bank.
    Tm {
        /// One of this number of participants is a server, by messages.
        every: usize,
        /// The accounts.
        accounts: usize,
        /// Transactions in 100 that sum two accounts; the others transfer.
        checks_percent: u32,
        /// Transactions in 100 that sum all accounts.
        scans_percent: u32,
        /// Applications that only sum all accounts.
        readers: usize,
        /// The time for which an application computes before each transaction, ns.
        own_ns: u64,
        /// The time before transactions count, microseconds.
        warm_up_us: u64,
        /// The time in which they do, microseconds.
        duration_us: u64,
    },
    /// Replicas that agree on the order of their clients' commands.
    Replica {
        /// The rate or time that is wanted.
        figure: ReplicaFigure,
        /// The most clients, one at a replica each.
        clients: usize,
        /// The commands of a client that have no answer.
        outstanding: usize,
        /// How nodes and clients wait.
        wait: String,
        /// The time for which each replica computes to apply a command, ns.
        own_ns: u64,
        /// The time before commands count, microseconds.
        warm_up_us: u64,
        /// The time in which they do, microseconds.
        duration_us: u64,
    },
    /// Threads that call an atomic operation.
    Atomics {
        /// The words, each on a line of its own.
        words: usize,
        /// The time for which a thread computes after each call, ns.
        pause_ns: u64,
        /// The time before calls count, microseconds.
        warm_up_us: u64,
        /// The time in which they do, microseconds.
        duration_us: u64,
    },
}

/// A time or rate of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MessageFigure {
    /// From the begin of a send until the waiting receiver has the message.
    OneWay,
    /// From the begin of a send until the answer is there.
    RoundTrip,
    /// From message to message of a stream.
    Stream,
    /// The messages of one server by its clients.
    Server,
    /// The same, where each client waits for an answer.
    Answers,
}

impl MessageFigure {
    /// True if a server has clients, instead of a sender a receiver.
    pub(crate) fn is_of_server(self) -> bool {
        matches!(self, Self::Server | Self::Answers)
    }
}

/// A rate or time of replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReplicaFigure {
    /// The commands of all clients.
    Commands,
    /// The time within which half of the commands have their answers.
    Median,
    /// That of 99 in a hundred.
    P99,
}

/// The figure by which the contenders of a program are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The program, as the command line has it.
    pub(crate) program: &'static str,
    /// The events that are counted, or the time that is taken.
    pub(crate) figure: &'static str,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// True if a contender with a higher figure is better.
    pub(crate) higher_is_better: bool,
    /// The event for which `transfers` are counted; `None` where they are not.
    pub(crate) transfers_per: Option<&'static str>,
    /// The meaning of a row's `step`.
    pub(crate) steps: &'static str,
}

const MOPS: &str = "M/s";
const KOPS: &str = "k/s";
const NS: &str = "ns";

impl Program {
    /// The figure of its contenders.
    pub(crate) fn figure(&self) -> Figure {
        let of = |program, figure, unit, transfers_per, steps| Figure {
            program,
            figure,
            unit,
            higher_is_better: unit == MOPS || unit == KOPS,
            transfers_per: Some(transfers_per),
            steps,
        };
        match self {
            Self::Locks { .. } => of("locks", "acquisitions of all threads", MOPS, "acquisition", "threads"),
            Self::Barriers { .. } => {
                of("barriers", "time from the last entry to the last exit", NS, "barrier", "members")
            }
            Self::Collectives { operation, .. } => of("collectives", figure_of(*operation), NS, "operation", "members"),
            Self::Messages { figure, .. } => {
                let (words, unit) = figure.words();
                let steps = if figure.is_of_server() { "clients" } else { "distance" };
                let counts = !matches!(figure, MessageFigure::OneWay | MessageFigure::RoundTrip);
                Figure { transfers_per: counts.then_some("message"), ..of("messages", words, unit, "message", steps) }
            }
            Self::Table { .. } => of("table", "operations of all threads", MOPS, "operation", "threads"),
            Self::Tm { .. } => {
                of("tm", "transfers and checks of all applications", MOPS, "transaction", "participants")
            }
            Self::Replica { figure, .. } => {
                let (words, unit) = figure.words();
                of("replica", words, unit, "command", "replicas")
            }
            Self::Atomics { .. } => of("atomics", "calls of all threads", MOPS, "call", "threads"),
        }
    }
}

impl Program {
    /// Why its threads have a CPU each in any case; `None` where they can share.
    pub(crate) fn keeps_cpus(&self) -> Option<&'static str> {
        match self {
            Self::Messages { figure, .. } if !figure.is_of_server() => {
                Some("a message goes between two CPUs, with a thread on each; clients of a server share CPUs")
            }
            Self::Replica { .. } => Some("each replica has a CPU, which its node and its client share"),
            _ => None,
        }
    }

    /// Why the order in which CPUs are taken means nothing; `None` where it means something.
    pub(crate) fn chooses_cpus(&self) -> Option<&'static str> {
        match self {
            Self::Messages { figure, .. } if !figure.is_of_server() => {
                Some("a message goes between the first two CPUs at each distance")
            }
            Self::Replica { .. } => Some("replicas are placed over the whole machine by its costs"),
            _ => None,
        }
    }

    /// Why none of its threads can be killed; `None` where one can.
    pub(crate) fn keeps_lives(&self) -> Option<&'static str> {
        match self {
            Self::Barriers { .. } | Self::Collectives { .. } => Some(
                "the other members would wait for ever; sim check --collectives kills members of groups that wait with a limit",
            ),
            Self::Messages { .. } => Some(
                "the other end would wait for ever; sim check --channels kills ends of channels that wait with a limit",
            ),
            Self::Tm { .. } => Some("the others would wait for its locks: among threads nobody is told of a death"),
            Self::Replica { .. } => Some(
                "a client would wait for its node for ever, and nobody sees that a simulated node is dead; the tests of sim kill nodes",
            ),
            Self::Locks { .. } | Self::Table { .. } | Self::Atomics { .. } => None,
        }
    }
}

fn figure_of(operation: Operation) -> &'static str {
    match operation {
        Operation::Broadcast => "broadcast: time from the root's entry to the last exit",
        Operation::Reduce => "reduce: time from the last entry to the root's exit",
        Operation::Allreduce => "allreduce: time from the last entry to the last exit",
    }
}

impl ReplicaFigure {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Commands => ("commands of all clients", KOPS),
            Self::Median => ("time within which half of the commands have their answers", NS),
            Self::P99 => ("time within which 99 in 100 commands have their answers", NS),
        }
    }
}

impl MessageFigure {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::OneWay => ("time from the begin of a send until the receiver has the message", NS),
            Self::RoundTrip => ("time from the begin of a send until the answer is there", NS),
            Self::Stream => ("time from message to message of a stream", NS),
            Self::Server => ("messages that a server receives", MOPS),
            Self::Answers => ("messages that a server receives and answers", MOPS),
        }
    }
}
