//! 1Paxos as one function: a [`Node`] takes an [`Input`] and gives [`Effect`]s. No threads, clocks, atomics or files.

mod io;

pub use io::{Adopted, Effect, Input, Rules, Transport};
