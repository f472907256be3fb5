//! The steps of the operations at one member, over the edges of a tree or memory that a few members share.
//!
//! An operation takes its steps in one call or in several: a wait that ends at a limit leaves the progress as it is, and
//! the next call goes on there. Nothing here knows of groups or of [`Member`](crate::Member), which calls these steps.
//!
//! - [`steps`]: from one to all and from all to one, for everything that is a [`Message`]: a [`Value`] or a [`Slice`];
//! - [`reduce`]: the orders of combining;
//! - [`gather`], [`scatter`]: values and slices that stay apart;
//! - [`all_read`], [`exchange`], [`allgather`]: a few members show each other a value or a slice;
//! - [`in_place`]: threads read each other's long slices where they lie.

pub(crate) mod all_read;
pub(crate) mod allgather;
pub(crate) mod cluster_read;
pub(crate) mod exchange;
pub(crate) mod gather;
pub(crate) mod heading;
pub(crate) mod in_place;
pub(crate) mod order;
mod part;
pub(crate) mod reduce;
pub(crate) mod scatter;
pub(crate) mod slice;
pub(crate) mod slice_exchange;
pub(crate) mod steps;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod value;

pub(crate) use gather::Gathering;
pub use order::Order;
pub(crate) use reduce::{Reduction, reduce};
pub(crate) use scatter::Scattering;
pub(crate) use slice::Slice;
pub(crate) use steps::{Message, Progress, broadcast};
pub(crate) use value::Value;
