//! The served operations. Each returns what the MPI function is to return, or `None` if the call is to be passed on.
//!
//! - `barrier`, `broadcast`, `reduction`, `allgather`: the operations;
//! - `conversion`: data of types with gaps;
//! - `payoff`: whether a call is left to the library;
//! - `value`: bytes of a message in a value of fitting size.

mod allgather;
mod barrier;
mod broadcast;
mod conversion;
mod payoff;
mod reduction;
mod value;

pub(crate) use allgather::{Allgather, allgather};
pub(crate) use barrier::barrier;
pub(crate) use broadcast::{Broadcast, broadcast};
pub(crate) use reduction::{Reduction, allreduce, reduce};
