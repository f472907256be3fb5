//! Key-value stores to replicate.
//!
//! - [`Store`]: the real one. Keys of 1 to 1,024 bytes, values of up to 16 MiB; [`Op`] and [`Out`] change it, [`Query`] and
//!   [`Answer`] look into it;
//! - [`Compact`]: keys of 8 bytes and values of 16 in a table of fixed capacity, which any thread of the process reads without
//!   locks through a [`CompactReader`].
//!
//! [`Key`] and [`Value`] are bytes whose length has been checked, so that an operation that exists can be applied.

mod bucket;
mod bytes;
mod compact;
mod compact_snapshot;
mod fingerprint;
mod key;
mod map_hasher;
mod operation;
mod pool;
mod query;
mod snapshot;
mod store;
mod table;
mod value;

pub use compact::{Compact, CompactOut, CompactReader, CompactSet, DEFAULT_CAPACITY, MAX_CAPACITY};
pub use key::{Key, MAX_KEY_BYTES, NoKey};
pub use operation::{Condition, Op, Out};
pub use query::{Answer, MAX_KEYS, Query};
pub use store::Store;
pub use value::{MAX_VALUE_BYTES, TooLong, Value};
