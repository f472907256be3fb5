//! The ways in which nodes can do an operation, and what each should cost.

use std::fmt;

/// A way of the messages between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FarScheme {
    /// Trees of earliest completion, tier by tier.
    Tree,
    /// Recursive doubling: each node exchanges the whole value in every round.
    Doubling,
    /// Reduce-scatter by halving and allgather by doubling, as MPI libraries do for long values: what the engine's own
    /// collective is assumed to do.
    Halving,
}

impl FarScheme {
    /// The name in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Doubling => "doubling",
            Self::Halving => "halving",
        }
    }
}

impl fmt::Display for FarScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A way to do an operation, with its cost by the model: simulated, never measured. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The way of the messages between nodes.
    pub scheme: FarScheme,
    /// Leaders of each node that share the values; 1 is the leader alone.
    pub lanes: u32,
    /// The length of the pieces that go one behind the other; `None` if the values go at once.
    pub chunk_bytes: Option<u64>,
    /// The longest reduction inside a node, of one piece.
    pub near_up_ns: f64,
    /// The messages between nodes, of one piece.
    pub far_ns: f64,
    /// The longest broadcast inside a node, of one piece.
    pub near_down_ns: f64,
    /// The pieces behind the first one.
    pub chunks_ns: f64,
    /// All of that, with every node punctual.
    pub quiet_ns: f64,
    /// Waits for the later side of each message, on average.
    pub mean_wait_ns: f64,
    /// Waits for nodes that were interrupted: the expected maximum.
    pub tail_wait_ns: f64,
    /// Messages of the longest chain.
    pub depth: u32,
    /// The deviation of the sum, if the latencies of the chain's messages deviate independently by the tiers' spread.
    pub spread_ns: f64,
    /// False if `far_ns` is an upper bound, as it is for halving in uneven units or among nodes whose number is no power of
    /// two, and for recursive doubling among more than 131,072 nodes in uneven units.
    pub is_exact: bool,
    /// True if a group over several nodes can do it so today: with one leader of each node, or several for longer values, and
    /// pieces of 60 KiB for each of them, or 120 KiB by halving, or as a whole by the engine's own operation where each node has
    /// one member.
    pub is_of_groups: bool,
}

impl Candidate {
    /// The cost with all waits.
    #[must_use]
    pub fn expected_ns(&self) -> f64 {
        self.quiet_ns + self.mean_wait_ns + self.tail_wait_ns
    }
}

impl fmt::Display for Candidate {
    /// The scheme with its lanes and pieces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scheme)?;
        if self.lanes > 1 {
            write!(f, ", {} lanes", self.lanes)?;
        }
        match self.chunk_bytes {
            Some(bytes) => write!(f, ", pieces of {} KiB", bytes >> 10),
            None => Ok(()),
        }
    }
}
