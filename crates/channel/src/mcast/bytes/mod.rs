//! Messages of bytes: among the threads of one process, or among the participants of a region.
//!
//! ```
//! use corecast_channel::mcast::{Config, Policy, bytes};
//! let (mut tx, source) = bytes::channel(Config::default());
//! let rx = source.subscribe(Policy::Reliable)?;
//! tx.send(b"news")?;
//! assert_eq!(rx.recv()?.to_vec(), b"news");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod exchange;
#[cfg(not(loom))]
mod inspect;
mod msg;
mod receiver;
#[cfg(not(loom))]
mod region;
mod sender;
mod slots;
mod source;

use corecast_base::sync::Arc;

use crate::mcast::config::Config;
use crate::mcast::ring::Ring;

#[cfg(not(loom))]
pub(crate) use inspect::inspect;
pub use msg::Msg;
pub use receiver::Receiver;
#[cfg(not(loom))]
pub use region::{receiver, sender, spec};
pub use sender::{Loan, Sender};
pub use source::Source;

use slots::ByteSlots;

/// A channel for messages of bytes among the threads of this process.
///
/// # Panics
/// If a size of the configuration is out of its range.
#[must_use]
#[track_caller]
pub fn channel(config: Config) -> (Sender, Source) {
    let config = config.rounded();
    let slots = ByteSlots::on_heap(&config);
    let source = Source { ring: Arc::new(Ring::on_heap(config, slots)) };
    (source.sender().expect("a channel has a place for a sender"), source)
}
