//! Why no engine could be opened, and errors of the library.

use std::ffi::c_int;
use std::fmt;

use corecast_collective::nodes::Lanes;
use thiserror::Error;

/// An error that a function of the library returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiError {
    /// The function.
    pub call: &'static str,
    /// The class of the error, a number of the library's interface.
    pub class: i32,
    /// The library's words.
    pub text: String,
    /// True for classes that tell of a failed process.
    pub(crate) is_failure: bool,
    /// True for the class of operations on a communicator that another process has revoked.
    pub(crate) is_revoked: bool,
    /// True if the library has not reported it: other nodes were late.
    pub(crate) is_late: bool,
    /// True if this process can take no further part in what all do.
    pub(crate) is_final: bool,
}

impl MpiError {
    /// An operation of all nodes that some of them did not come to.
    pub(crate) fn late(call: &'static str) -> Self {
        Self { is_late: true, ..Self::of_no_class(call, "not all nodes have called it in time".to_owned()) }
    }

    /// The same, where the library cannot be told that this process does not wait any longer.
    pub(crate) fn left_behind(call: &'static str) -> Self {
        let text =
            "not all nodes have called it in time; the others wait for this process until it has ended".to_owned();
        Self { text, is_final: true, ..Self::late(call) }
    }

    /// A step of all processes that has failed at another one.
    pub(crate) fn elsewhere(call: &'static str) -> Self {
        Self::of_no_class(call, "it has failed at another process".to_owned())
    }

    /// The system has refused the thread that a call needs.
    pub(crate) fn no_thread(error: &std::io::Error) -> Self {
        Self::of_no_class("a thread for a call of MPI", error.to_string())
    }

    fn of_no_class(call: &'static str, text: String) -> Self {
        Self { call, class: 0, text, is_failure: false, is_revoked: false, is_late: false, is_final: false }
    }
}

impl fmt::Display for MpiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_late {
            return write!(f, "{}: {}", self.call, self.text);
        }
        write!(f, "{} returned error class {}: {}", self.call, self.class, self.text)
    }
}

impl std::error::Error for MpiError {}

/// The step that a set-up had come to when its time was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// All processes call `MPI_Init`.
    Init,
    /// Rank 0 collects the facts of all nodes.
    Facts,
    /// All nodes make communicators.
    Communicators,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Init => "MPI_Init_thread",
            Self::Facts => "the exchange of facts",
            Self::Communicators => "MPI_Comm_dup",
        })
    }
}

/// Why a cluster cannot be opened. Each is found before the first operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No MPI library was found.
    #[error("no MPI library was found ({tried}); install one, or set CORECAST_MPI to the file of its library")]
    NoLibrary {
        /// The loader's words about each file that was tried.
        tried: String,
    },
    /// A file is no complete MPI library.
    #[error("{path} is no complete MPI library: it lacks {lacks}")]
    Incomplete {
        /// The library's file.
        path: String,
        /// The name that it lacks.
        lacks: String,
    },
    /// Ranks have asked for different lanes.
    #[error(
        "rank {rank} on host {host} has asked for other lanes than another rank, and this rank for {here}: all need the same"
    )]
    OtherLanes {
        /// The lowest rank that differs from the one with the fewest.
        rank: usize,
        /// Its host.
        host: String,
        /// The lanes that this rank has asked for.
        here: Lanes,
    },
    /// A node has fewer ranks than lanes.
    #[error("node {node} on host {host} has {ranks} ranks, and {lanes} lanes need as many")]
    TooFewRanks {
        /// The node.
        node: usize,
        /// Its host.
        host: String,
        /// Its number of ranks.
        ranks: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// The launcher has started another number of processes than the library sees.
    #[error(
        "the launcher started {told} processes, and {library} sees {found}: it belongs to another launcher; start the program \
         with the launcher of that library, or set CORECAST_MPI to the library of the launcher ({launcher})"
    )]
    WrongLauncher {
        /// The number that the launcher told.
        told: usize,
        /// The size of `MPI_COMM_WORLD`.
        found: usize,
        /// The library's file.
        library: String,
        /// The launcher.
        launcher: String,
    },
    /// The time for the set-up was over.
    #[error("{stage} was not finished within {limit_ms} ms: {missing}; interfaces of this host: {interfaces}{hint}")]
    SetupTimeout {
        /// The step that was waited for.
        stage: Stage,
        /// The limit, in milliseconds.
        limit_ms: u64,
        /// The nodes that were missing, as far as this one knows.
        missing: String,
        /// The network interfaces of this host.
        interfaces: String,
        /// How this library is told which of them to use.
        hint: &'static str,
    },
    /// Two nodes run different versions of corecast.
    #[error(
        "{first} runs corecast {first_version}, and {other} runs {other_version}: start the same version on all nodes"
    )]
    OtherVersion {
        /// The name of node 0.
        first: String,
        /// Its version.
        first_version: String,
        /// The other node.
        other: String,
        /// Its version.
        other_version: String,
    },
    /// Two nodes store numbers in different byte orders.
    #[error("{first} and {other} have different byte orders; corecast's messages are not converted")]
    OtherByteOrder {
        /// The name of node 0.
        first: String,
        /// The other node.
        other: String,
    },
    /// A message of the set-up is none of corecast's.
    #[error(
        "{other} has sent no facts of corecast: all processes have to open the cluster at the same point of the program"
    )]
    Foreign {
        /// The node that sent it.
        other: String,
    },
    /// Two nodes use different MPI libraries.
    #[error("{first} uses {first_library}, and {other} uses {other_library}: start all nodes with the same library")]
    OtherLibrary {
        /// The name of node 0.
        first: String,
        /// Its library.
        first_library: String,
        /// The other node.
        other: String,
        /// Its library.
        other_library: String,
    },
    /// Ranks that are to share memory cannot.
    #[error("rank {rank} on {host} cannot join its node: {reason}")]
    Mixed {
        /// The rank in `MPI_COMM_WORLD`.
        rank: usize,
        /// Its host.
        host: String,
        /// Why it cannot.
        reason: String,
    },
    /// A variable of the environment has a value that is no time.
    #[error("{variable} is `{value}`, which is no time in seconds")]
    BadTime {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// The library was finalized, which is for good.
    #[error("MPI was finalized in this process already; a process opens a cluster once")]
    Finalized,
    /// The library does not let a second thread call it.
    #[error("the MPI library provides thread level {provided}, and corecast needs MPI_THREAD_SERIALIZED ({needed})")]
    ThreadLevel {
        /// The level that it provides.
        provided: c_int,
        /// The level that is needed.
        needed: c_int,
    },
    /// The library reported an error.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// The system refused something.
    #[error("cannot {action}: {reason}")]
    System {
        /// The refused action.
        action: &'static str,
        /// The system's words.
        reason: String,
    },
}
