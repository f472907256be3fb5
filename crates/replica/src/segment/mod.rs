//! Shared memory of a group whose nodes read each other's logs: what lies where, and how it is written and read.
//!
//! A node owns one segment, which only it writes: what it proposed, what it accepted, the requests of its sessions. All
//! others read it, also when its process is dead. One control page is written by all: the word that names the newest
//! configuration, and the count of commands whose effect anyone may have seen. Nothing here decides anything; that is
//! [`one_paxos`](crate::one_paxos).
//!
//! - [`Control`], [`ConfigurationWord`], [`NodeRecord`]: the control page, and what a node says there about itself;
//! - [`SegmentLayout`], [`SegmentWriter`], [`SegmentReader`], [`ReadWords`]: a segment, the owner's and the readers' ends;
//! - [`Body`], [`BulkPlace`], [`BulkWriter`], [`BulkError`]: bodies of operations, in their slot or in an arena;
//! - [`SlotRead`], [`RunRead`], [`CellRead`], [`Held`], [`NodeState`]: what readers find;
//! - [`create_segment`], [`open_segment`], [`OpenSegmentError`]: segments of processes;
//! - [`LayoutError`], [`ControlError`]: memory that is not what it should be.
//!
//! Every method is wait-free.
//!
//! An acceptor writes a command, checks that no newer configuration came up meanwhile, and commits; a learner reads it:
//!
//! ```
//! use corecast_base::wait::Wait;
//! use corecast_replica::segment::{Body, ConfigurationWord, Control, SegmentLayout, SegmentWriter, SlotRead};
//! use corecast_replica::{Command, NodeId, Op, SessionId};
//! let (node, layout) = (NodeId::new(0, 1), SegmentLayout::new(1, 1024, 0));
//! let control = Control::on_heap(layout, Wait::Adaptive);
//! control.swap(ConfigurationWord::NONE, ConfigurationWord::new(1, node, 0)).expect("nobody else is there");
//!
//! let mut acceptor = SegmentWriter::on_heap(layout, node);
//! let learner = acceptor.reader();
//! let body = Body::inline(b"set x").expect("at most 32 bytes");
//! let command = Command { session: SessionId::new(node, 1), rid: 1, op: Op::User(body) };
//! acceptor.write_accepted(1, 0, &[command]);
//! if control.is_newest_after_fence(1) {
//!     acceptor.commit(1, 0);
//! }
//! assert_eq!(learner.commit(), 1);
//! assert_eq!(learner.accepted(0), SlotRead::Command { epoch: 1, command });
//! ```

mod body;
mod bulk;
mod cell;
mod checksum;
mod control;
mod cut;
mod error;
mod gift;
mod header;
mod held;
mod layout;
#[cfg(not(loom))]
mod open;
mod reader;
mod record;
mod ring;
mod slot;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod words;
mod writer;

pub use body::{Body, BulkPlace, INLINE_BYTES};
pub use bulk::{BulkError, BulkWriter, MAX_BULK_BYTES};
pub use cell::CellRead;
pub use control::{Claim, ConfigurationWord, Control, NodeRecord};
pub use cut::{CUT_BYTES, Cut};
pub use error::{ControlError, LayoutError};
pub use gift::Gift;
pub use held::Held;
pub use layout::{CELLS, SegmentLayout};
#[cfg(not(loom))]
pub use open::{OpenSegmentError, create_segment, open_segment};
pub use reader::{RunRead, SegmentReader};
pub use slot::SlotRead;
pub use state::NodeState;
pub use words::ReadWords;
pub use writer::SegmentWriter;
