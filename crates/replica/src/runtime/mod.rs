//! The parts that a node needs whether it shares memory with the others or sends them messages.
//!
//! - `Node`, `Session`: what users have, for each `Medium`; `Member`: what they need of a node;
//! - `Callers`, `Waiters`, `Errands`: how the threads of a node wait, and what they want of the thread that drives it;
//! - `Mailbox`, `Outstanding`, `Submitted`, `Admission`: requests on their way to a result;
//! - `Ending`, `Patience`, `Joiners`: why a node does no more, when another counts as stuck, and for whom the log waits;
//! - `Checkpoint`, `Level`: cuts through the group, and how fresh a read is;
//! - `durable`: the files of a replica that survives power loss;
//! - `state_bytes`, `boot_number`: a replica's whole state as bytes, and a number that no other process has had as its own.
//!
//! - `AppliedCount`; and of `net/` alone, as models run them: `Slots`, `Reads`.
//!
//! `node/` and `net/` build on it. The models of `tests/loom` run `Callers`, `Errands`, and the parts in the last line.

#[cfg(not(loom))]
mod admission;
mod applied;
#[cfg(not(loom))]
mod boot;
mod callers;
#[cfg(not(loom))]
mod checkpoint;
#[cfg(not(loom))]
pub(crate) mod durable;
#[cfg(not(loom))]
mod ending;
mod errands;
#[cfg(not(loom))]
mod handle;
#[cfg(not(loom))]
mod joiners;
#[cfg(not(loom))]
mod level;
#[cfg(not(loom))]
mod mailbox;
#[cfg(not(loom))]
mod member;
#[cfg(not(loom))]
mod outstanding;
#[cfg(not(loom))]
#[cfg_attr(simulated, path = "own_thread_simulated.rs")]
mod own_thread;
#[cfg(not(loom))]
mod patience;
mod reads;
#[cfg(not(loom))]
mod reply;
#[cfg(not(loom))]
mod session;
mod slots;
#[cfg(not(loom))]
pub(crate) mod state_bytes;
#[cfg(not(loom))]
mod submitted;
mod waiters;

pub use applied::AppliedCount;
pub use callers::{Callers, WaitCalls};
#[cfg(not(loom))]
pub(crate) use callers::{EXPECTING, IDLE};
pub use errands::Errands;
pub use reads::Reads;
pub use slots::{ChannelPlace, Slots};
pub use waiters::Waiters;

#[cfg(not(loom))]
pub(crate) use admission::{Admission, Errand, admission};
#[cfg(not(loom))]
pub(crate) use boot::boot_number;
#[cfg(not(loom))]
pub(crate) use checkpoint::CUT_ASKED_AGAIN;
#[cfg(not(loom))]
pub use checkpoint::{Checkpoint, CheckpointError};
#[cfg(not(loom))]
pub(crate) use ending::{End, Ending};
#[cfg(not(loom))]
pub use handle::Node;
#[cfg(not(loom))]
pub(crate) use joiners::{Joiners, SHORTEST_HOLD};
#[cfg(not(loom))]
pub use level::Level;
#[cfg(not(loom))]
pub(crate) use mailbox::{Content, Letter, Mailbox};
#[cfg(not(loom))]
pub(crate) use member::{Applied, Member};
#[cfg(not(loom))]
pub use member::{Medium, SharedMemory};
#[cfg(all(test, not(loom)))]
pub(crate) use outstanding::LAST_BEFORE_RENEWAL;
#[cfg(not(loom))]
pub use outstanding::Rid;
#[cfg(simulated)]
pub use own_thread::OwnWork;
#[cfg(not(loom))]
pub(crate) use own_thread::cpus;
#[cfg(not(loom))]
pub(crate) use patience::Patience;
#[cfg(not(loom))]
pub(crate) use reply::Reply;
#[cfg(not(loom))]
pub use session::Session;
#[cfg(not(loom))]
pub(crate) use state_bytes::GroupState;
#[cfg(not(loom))]
pub(crate) use submitted::Submitted;
