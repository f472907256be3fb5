//! The interface to the library that carries a group's messages between nodes.
//!
//! **When to implement it:** to run groups over a library for messages between machines. `corecast-mpi` does it for MPI, and
//! the engine `local` for nodes that are threads of one process.
//!
//! An engine is one leader's end. Nothing in it waits, except for [`remake`](Engine::remake) and [`close`](Engine::close): a
//! [`Step`] is started and then polled until it is done. The engine owns all buffers, so that a step that is abandoned has memory
//! to end in: a request over a borrowed slice, once forgotten, would be unsound.
//!
//! **Messages:** those of one node to another one arrive in the order in which their steps were started on a lane, and each is
//! received by the receives in their order. There are no tags.
//!
//! **Faults:** after an error of [`start`](Engine::start) or [`poll`](Engine::poll) all steps are abandoned, and nothing but
//! [`tell`](Engine::tell), [`listen`](Engine::listen), [`remake`](Engine::remake) and [`close`](Engine::close) may be called.
//! Only remake makes the engine of use again.

use std::any::TypeId;
use std::fmt;
use std::time::Duration;

use super::{Fault, FaultWord, NodeSet};
use crate::op::PredefinedOp;

/// One leader's end of the library that carries messages between nodes: see the [module](super).
pub trait Engine: Send {
    /// The nodes and the library. Changed by [`remake`](Self::remake) only.
    fn facts(&self) -> &Facts;

    /// The first `bytes` bytes of a buffer, which grows as needed and keeps what it holds. No step that uses the slot may be
    /// under way.
    fn room(&mut self, slot: Slot, bytes: usize) -> &mut [u8];

    /// Starts a step. The slots it names belong to the engine until [`poll`](Self::poll) says that it is done; only sends may
    /// share one.
    ///
    /// # Errors
    /// A [`Fault`], after which all steps are abandoned.
    fn start(&mut self, step: Step) -> Result<Ticket, Fault>;

    /// True if this step is done; its ticket is then of no use any more. Lets all steps proceed, those of other tickets too, and
    /// looks for words of other nodes.
    ///
    /// # Errors
    /// A [`Fault`], after which all steps are abandoned. [`Fault::Told`] with a word that another node has told, each word
    /// once: see [`tell`](Self::tell).
    fn poll(&mut self, ticket: Ticket) -> Result<bool, Fault>;

    /// The next word that another node has told, if there is one that neither this nor [`poll`](Self::poll) has returned. Lets
    /// all steps proceed. May be called after a fault as well, which it then need not return again.
    ///
    /// # Errors
    /// A [`Fault`] that it finds, after which all steps are abandoned.
    fn listen(&mut self) -> Result<Option<FaultWord>, Fault>;

    /// Sends a word to all other nodes, as far as they live, and returns before they have received it; it does not panic, as
    /// members that panic tell that, and an engine that can send nothing drops the word. A node that receives a word passes it
    /// on as the engine's way of telling asks for, from within its own calls. [`FaultWord::epoch`] is the number of times that
    /// the sender was [remade](Self::remake). A receiver drops a word of an earlier epoch than its own, and keeps one of a
    /// later epoch until it has been remade as often.
    fn tell(&mut self, word: FaultWord);

    /// Leaves lost nodes and all abandoned steps behind, so that steps can be started among the others; returns the nodes that
    /// go on, the same set at all of them. All living nodes call it. `living` are the nodes of which the caller has not heard
    /// that they are lost: the engine may know of others that are. Nodes keep their order and are numbered anew from 0;
    /// [`facts`](Self::facts) and the nodes of later steps and words are in the new numbers. All slots are free again and may
    /// hold anything. The others are waited for at most for about `limit`, if there is one; by an engine that survives the loss
    /// of nodes up to 5 s longer, once all living nodes have met.
    ///
    /// # Errors
    /// A [`Fault`] if the engine cannot go on, such as one that cannot survive the loss of a node, or if the time is over. The
    /// engine then ends: nothing but [`tell`](Self::tell) and [`close`](Self::close) may be called. A node that waits in this
    /// call for one that has told a word of the epoch to come ends it with an error as well. An engine that survives the loss of
    /// nodes may be unable to tell them; then they go on without this node once its process has ended, as the error says.
    fn remake(&mut self, living: &NodeSet, limit: Option<Duration>) -> Result<NodeSet, Fault>;

    /// Ends this node's part. `is_clean` says that all operations were completed; otherwise the engine must not wait for
    /// nodes that may never come.
    fn close(self: Box<Self>, is_clean: bool);
}

/// An engine's knowledge of its nodes and of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// This node's number.
    pub node: usize,
    /// The name of each node's host, by node; as many as there are nodes. Several nodes may have the same.
    pub hosts: Vec<String>,
    /// The name of the library and its version, for people.
    pub engine: String,
    /// Whether operations can go on after the loss of a member or a node.
    pub survival: Survival,
}

impl Facts {
    /// Those of the node of this number among nodes on these hosts, with a library of this name; it survives nothing.
    #[must_use]
    pub fn new(node: usize, hosts: Vec<String>, engine: impl Into<String>) -> Self {
        Self { node, hosts, engine: engine.into(), survival: Survival::Nothing }
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.hosts.len()
    }
}

/// The losses after which an engine can be [remade](Engine::remake).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Survival {
    /// None: the engine ends with the first one.
    Nothing,
    /// The loss of members that are no leaders.
    Members,
    /// The loss of nodes as well.
    Nodes,
}

/// A buffer of an engine. Each lane has two for each direction, so that one can be filled or read while the other one is on
/// its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The lane, below [`LANES`](Self::LANES). Steps of different lanes are independent.
    pub lane: usize,
    /// True for messages that arrive and results; false for those to be sent and combined.
    pub is_incoming: bool,
    /// 0 or 1.
    pub place: usize,
}

impl Slot {
    /// The lanes of an engine, so that two chunks can be between the nodes at a time. The [`Lanes`](super::Lanes) of a group are
    /// more leaders of a node, each with an engine of its own.
    pub const LANES: usize = 2;

    /// The bytes that a slot is made for; longer ones are allocated when they are asked for.
    pub const BYTES: usize = (120 << 10) + 64;

    /// The outgoing slot of this place on lane 0.
    #[must_use]
    pub const fn outgoing(place: usize) -> Self {
        Self { lane: 0, is_incoming: false, place }
    }

    /// The incoming slot of this place on lane 0.
    #[must_use]
    pub const fn incoming(place: usize) -> Self {
        Self { lane: 0, is_incoming: true, place }
    }
}

/// A message or an operation between nodes. Collective ones are started by all nodes in the same order on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Sends the first bytes of a slot to a node. Done when the slot may be changed.
    Send {
        /// The receiving node, another one than this.
        to: usize,
        /// The slot.
        from: Slot,
        /// The bytes to send, from the slot's beginning.
        bytes: usize,
    },
    /// Receives the next message of a node. A message that is longer than `bytes` is a [`Fault::Engine`].
    Receive {
        /// The sending node, another one than this.
        from: usize,
        /// The slot.
        into: Slot,
        /// The most bytes that the message may have.
        bytes: usize,
    },
    /// Combines the values of all nodes for all of them. Every engine combines values of all kinds.
    Allreduce {
        /// Their kind.
        kind: ValueKind,
        /// The operation.
        op: PredefinedOp,
        /// The number of values.
        values: usize,
        /// The slot with this node's values.
        from: Slot,
        /// The slot for the results.
        into: Slot,
    },
    /// Gives a node's bytes to all.
    Broadcast {
        /// The node that gives them.
        root: usize,
        /// The slot that they are in or come to.
        slot: Slot,
        /// Their number, the same at all nodes.
        bytes: usize,
    },
    /// Gives the bytes of all nodes to all of them, one node after the other.
    Gather {
        /// The slot with this node's bytes.
        from: Slot,
        /// The number of bytes of each node, the same at all.
        bytes: usize,
        /// The slot for the bytes of all nodes.
        into: Slot,
    },
}

/// Identifies a step under way. The engine chooses its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// The kinds of values that engines can combine, in the machine's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names are those of the types")]
pub enum ValueKind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl ValueKind {
    /// All of them.
    pub const ALL: [Self; 10] =
        [Self::U8, Self::U16, Self::U32, Self::U64, Self::I8, Self::I16, Self::I32, Self::I64, Self::F32, Self::F64];

    /// The kind of a type's values, if they are of one.
    #[must_use]
    pub fn of<T: 'static>() -> Option<Self> {
        let types = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<i8>(),
            TypeId::of::<i16>(),
            TypeId::of::<i32>(),
            TypeId::of::<i64>(),
            TypeId::of::<f32>(),
            TypeId::of::<f64>(),
        ];
        types.iter().position(|&id| id == TypeId::of::<T>()).map(|place| Self::ALL[place])
    }

    /// The size of a value.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// True for kinds on which every order of combining gives the same bits.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} of {} on {}", self.node, self.nodes(), self.engine)
    }
}
