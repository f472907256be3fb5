//! A write-ahead log: the only protection of acknowledged commands against power loss.
//!
//! - [`Wal`]: opens, appends, syncs, replays and trims;
//! - [`WalOptions`], [`Fsync`]: when records become durable;
//! - [`WalError`]: the reasons for which a log is not opened or written;
//! - [`mod@format`]: the bytes of a segment file.

mod error;
pub mod format;
mod log;
mod options;
mod recovery;
mod replay;
mod segment;

pub use error::WalError;
pub use log::Wal;
pub use options::{Fsync, WalOptions};
pub use recovery::TornTail;
pub use replay::{Record, Replay};
