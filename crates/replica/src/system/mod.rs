//! The replicated part of the group itself: who is a member, and which requests of which sessions were done.
//!
//! - [`System`] decides about each command of the log before the state machine sees it;
//! - [`Members`] is the part that the protocol has to know as well.
//!
//! Both change by the log alone, so that they are equal in all replicas at equal counts.

mod codec;
mod hash;
mod members;
mod sessions;
mod state;

pub use members::{JoinRefusal, Members};
pub use state::{Outcome, RequestStatus, System};
