//! The errors of groups, operations and reads.

use std::io;
use std::path::PathBuf;

use corecast_base::region::{AttachError, CreateError, Forked};
use corecast_base::rendezvous::RendezvousError;

use crate::snapshot::SnapshotError;
use crate::wal::WalError;
use crate::{Index, NodeId};

/// Why a group could not be made or joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The configuration asks for something that is not possible.
    #[error("{0}")]
    Config(String),
    /// The memory of the group could not be made: among others, there is no room for it.
    #[error("the memory of the group could not be made: {0}")]
    Create(#[from] CreateError),
    /// The memory of the group could not be joined.
    #[error("the memory of the group could not be joined: {0}")]
    Attach(#[from] AttachError),
    /// The name could not be hosted or found.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The memory of one node could not be made or opened.
    #[error("the segment of node {node} could not be used: {cause}")]
    Segment {
        /// The node.
        node: u16,
        /// The reason.
        cause: String,
    },
    /// The memory is not that of a group, or of another version, or has other state in it.
    #[error("this is not a group that this program can join: {0}")]
    Version(String),
    /// Every slot is taken.
    #[error("all {0} slots of the group are taken")]
    NoSlot(usize),
    /// No member answered within the time allowed.
    #[error("no member of the group took this node in within {0:?}")]
    NotTakenIn(std::time::Duration),
    /// All members are gone; nothing is left to join.
    #[error("all members of the group are gone")]
    Lost,
    /// A member's state could not be read.
    #[error("the state of a member could not be read: {0}")]
    State(io::Error),
    /// The log or the snapshots in the folder could not be used.
    #[error("the files of the group could not be used: {0}")]
    Files(io::Error),
    /// The files of one replica of a group that is to be made anew could not be used. The group starts from those of the others
    /// once the folder is moved elsewhere; a result that only this replica has handed out is lost then.
    #[error(
        "the files of a replica in {} could not be used: {cause}; without that folder, the group starts from the files of its other \
         replicas, and results that only this one has handed out are lost",
        folder.display()
    )]
    Replica {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        cause: Box<OpenError>,
    },
    /// The state that a member gave is older than the files that an earlier node has left in this slot, in which a result may be
    /// that no other files hold. Members that run catch up: join again.
    #[error("the state that was taken shows {taken} commands, and the files of its slot hold {kept}")]
    Behind {
        /// The count of commands in the files.
        kept: Index,
        /// The count that the state shows.
        taken: Index,
    },
    /// The write-ahead log could not be used.
    #[error(transparent)]
    Wal(#[from] WalError),
    /// The snapshots in files could not be used.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The group has stopped.
    #[error("the group has stopped: all replicas panicked at command {0}")]
    Poisoned(Index),
    /// The state machine panicked at a command that the files hold, or does not know it. Mend it: replicas that ran have applied
    /// the command.
    #[error("the state machine panicked at command {index} in {}, or does not know it", folder.display())]
    Panicked {
        /// The folder of the replica whose files were read.
        folder: PathBuf,
        /// The place of the command, as the files count.
        index: Index,
    },
    /// A thread could not be started.
    #[error("no thread for the node: {0}")]
    Thread(io::Error),
    /// A forked child of the process that joined.
    #[error(transparent)]
    Forked(#[from] Forked),
}

/// Why an operation has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The time was up. The operation may be done or not: ask again with `resume`.
    #[error("no answer within the time allowed to request {rid}: it may have been done or not")]
    Unknown {
        /// The number of the request.
        rid: u32,
    },
    /// The session has ended; requests without an answer stay unknown.
    #[error("the session has expired")]
    SessionExpired,
    /// This node is no longer a member.
    #[error("node {0} is no longer a member")]
    Expelled(NodeId),
    /// The session has as many requests without an answer as it may have.
    #[error("{0} requests of this session have no answer yet, the most that it may have")]
    Full(u32),
    /// There was no room for a long operation within the time allowed, as some nodes have not applied earlier ones. It was not
    /// begun: it may be executed anew.
    #[error("no room for the operation within the time allowed: it was not begun")]
    NoRoom,
    /// The operation is larger than the group allows.
    #[error("the operation has {bytes} bytes, at most {most} were expected")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        most: usize,
    },
    /// Over messages: a role of a dead node cannot be filled: too many of those who vote on that are gone, or leader and acceptor
    /// together, with what only they knew.
    #[error("too few nodes live to go on: half of the voters, or leader and acceptor, are gone")]
    NoMajority,
    /// All replicas panicked at this command.
    #[error("the group has stopped: all replicas panicked at command {index}")]
    Poisoned {
        /// The index of the command.
        index: Index,
    },
    /// The state differed from that of the other replicas.
    #[error("the state of this replica differed from that of the others: it was put out after {index} commands")]
    Diverged {
        /// The count of commands that it had applied when it was put out, some time after the cut.
        index: Index,
    },
    /// The memory of a node is damaged.
    #[error("the log in the memory of node {slot} is damaged")]
    Corrupt {
        /// The slot of the node.
        slot: u16,
    },
    /// The write-ahead log cannot be written.
    #[error("the write-ahead log cannot be written: {0}")]
    Files(String),
    /// This node had been put out as too slow when the last member died. What the others did last is gone with them, but for
    /// files of a durable group.
    #[error("all members of the group are gone, and this node lacks what they did last")]
    Lost,
    /// A forked child of the process that joined.
    #[error("{0}")]
    Forked(#[from] ForkedNode),
}

/// This process is a forked child of the one that joined the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this process is a forked child of the one that joined the group")]
pub struct ForkedNode;

/// Why a read has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The replica is behind and did not catch up within the time allowed. A `Local` read still works.
    #[error("this replica has applied {applied} of {wanted} commands, and did not catch up within the time allowed")]
    Lagging {
        /// The count of applied commands.
        applied: Index,
        /// The count that the read needs.
        wanted: Index,
    },
    /// This node is no longer a member.
    #[error("node {0} is no longer a member")]
    Expelled(NodeId),
    /// Over messages: the log did not get as far as this read within the time allowed. A `Local` read still works.
    #[error(
        "leader and acceptor did not confirm within the time allowed that the {applied} commands applied here are all"
    )]
    Unconfirmed {
        /// The count of applied commands.
        applied: Index,
    },
    /// Over messages: a role of a dead node cannot be filled, as too many of those who vote on that are gone, or leader and
    /// acceptor together. A `Local` read still works.
    #[error("too few nodes live to go on: half of the voters, or leader and acceptor, are gone")]
    NoMajority,
    /// All replicas panicked at this command.
    #[error("the group has stopped: all replicas panicked at command {index}")]
    Poisoned {
        /// The index of the command.
        index: Index,
    },
    /// The state machine of this replica panicked at this command, and has perhaps done a part of it: nobody may see that.
    #[error("the state machine of this replica panicked at command {index}")]
    Panicked {
        /// The index of the command.
        index: Index,
    },
    /// The state differed from that of the other replicas: no answer from it would be right.
    #[error("the state of this replica differed from that of the others: it was put out after {index} commands")]
    Diverged {
        /// The count of commands that it had applied when it was put out, some time after the cut.
        index: Index,
    },
    /// This node had been put out as too slow when the last member died. A `Local` read still works.
    #[error("all members of the group are gone, and this node lacks what they did last")]
    Lost,
    /// A forked child of the process that joined.
    #[error("{0}")]
    Forked(#[from] ForkedNode),
}
