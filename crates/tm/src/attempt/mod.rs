//! One participant's attempts: begin, locks, the commit and the end, as plain words without types.
//!
//! ```text
//! begin:   epoch + 1, RUNNING
//! read:    what the attempt wrote itself; else a read lock, the value, and a look at the status AFTER the value was copied
//! commit:  the write locks; RUNNING -> PERSISTING, or aborted; the values; COMMITTED, which ends its locks
//! abort:   the status says so, which ends its locks; allocations undone
//! ```
//!
//! The look after the copy makes it opaque: whoever takes a read lock away aborts its owner first and stores later, so an owner
//! that sees the new value sees its own abort.
//!
//! - `state`: an attempt, its begin and its end;
//! - `locks`: the locks that it asks for;
//! - `accesses`: what its closure reads and writes;
//! - `commit`: how its writes become visible.

mod accesses;
mod commit;
mod counts;
mod locks;
mod state;

pub use counts::Counts;
pub(crate) use state::{Attempt, Failed, Failure};
