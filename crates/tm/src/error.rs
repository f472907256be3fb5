//! The errors of instances and of transactions.

use corecast_base::region::{AttachError, CreateError, Forked, RegionPlanError, SectionError};
use corecast_base::rendezvous::RendezvousError;
use corecast_channel::OpenChannelError;
use corecast_lock::Algorithm;

use crate::client_set::MAX_PARTICIPANTS;
use crate::status::ClientId;

/// Why an instance could not be made or joined, or a participant could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A number of participants that no instance has.
    #[error(
        "an instance of {0} participants, expected 1 to {MAX_PARTICIPANTS} for the shared form and 2 or more for messages"
    )]
    Participants(usize),
    /// A server at every `every`-th participant is impossible.
    #[error("one server for every {every} of {participants} participants, expected 2 to {participants}")]
    ServersEvery {
        /// The distance that was asked for.
        every: usize,
        /// The participants.
        participants: usize,
    },
    /// A number of variables that no instance has.
    #[error("an instance of {0} variables, expected 1 to 2^31")]
    Variables(usize),
    /// The lock cannot guard buckets that processes share.
    #[error("buckets shared among processes need a lock that survives its holder, such as word; {0} does not")]
    Lock(Algorithm),
    /// The machine's model does not hold together.
    #[error("participants cannot be placed: {0}")]
    Machine(String),
    /// Two options exclude each other.
    #[error("{0}")]
    Options(&'static str),
    /// The region cannot hold so much.
    #[error("the memory of the instance cannot be planned: {0}")]
    Plan(#[from] RegionPlanError),
    /// There is no memory for it.
    #[error("the memory of the instance could not be made: {0}")]
    Create(#[from] CreateError),
    /// The memory cannot be joined.
    #[error("the memory of the instance could not be joined: {0}")]
    Attach(#[from] AttachError),
    /// The name could not be hosted or found.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The memory is not that of an instance, or of another version.
    #[error("this is no transactional memory that this program can join: {0}")]
    Version(String),
    /// A part of the memory cannot be reached.
    #[error("the memory of the instance is damaged: {0}")]
    Section(#[from] SectionError),
    /// A channel between two participants could not be opened.
    #[error(transparent)]
    Channel(#[from] OpenChannelError),
    /// There is no participant with this number.
    #[error("participant {id} of {participants}")]
    NoParticipant {
        /// The number that was asked for.
        id: usize,
        /// The participants.
        participants: usize,
    },
    /// The participant was given out already.
    #[error("participant {0} is taken")]
    Taken(usize),
    /// A participant died while it stored values that nobody can complete, or a server died.
    #[error("the instance is poisoned: participant {by} died in the middle of its work")]
    Poisoned {
        /// The participant that died.
        by: ClientId,
    },
    /// A thread could not be started.
    #[error("no thread for participant {id}: {cause}")]
    Thread {
        /// The participant.
        id: usize,
        /// The reason.
        cause: String,
    },
    /// A forked child of the process that joined.
    #[error(transparent)]
    Forked(#[from] Forked),
}

/// Why a transaction has no result, for ever: it is not tried again. Its writes were not done; of
/// [`Participant::fetch_add`](crate::Participant::fetch_add) and [`swap`](crate::Participant::swap) that is not always known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A participant died while it stored values that nobody can complete, or a server died.
    #[error("the instance is poisoned: participant {by} died in the middle of its work")]
    Poisoned {
        /// The participant that died.
        by: ClientId,
    },
    /// All variables are in use.
    #[error("all {variables} variables are in use")]
    Full {
        /// The words that the instance has.
        variables: u32,
    },
    /// A variable of another instance.
    #[error("variable {index} belongs to another instance")]
    Foreign {
        /// Its index there.
        index: u32,
    },
    /// A variable that the memory does not have.
    #[error("variable {index} is beyond the {variables} of the instance")]
    Beyond {
        /// Its index.
        index: u32,
        /// The words that the instance has.
        variables: u32,
    },
    /// The servers have ended.
    #[error("the servers of the instance have ended")]
    Stopped,
    /// The closure returned an `Abort` that it had kept from another attempt.
    #[error("the closure returned an abort, though its attempt was not aborted")]
    StrayAbort,
    /// A channel returned nonsense.
    #[error("a server's channel is damaged: {0}")]
    Channel(String),
    /// The values are with the servers, so that only transactions can read them.
    #[error("values at servers are read in transactions only")]
    AtServers,
    /// A forked child of the process that joined.
    #[error(transparent)]
    Forked(#[from] Forked),
}
