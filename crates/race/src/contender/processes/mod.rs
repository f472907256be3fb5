//! Members that are processes: one of this program for each rank, which forms the contender's group with the others.
//!
//! The processes meet in memory of their own before every block, take the times themselves, with the harness's clock and by
//! the harness's rules, and are [`Child`](crate::child::Child)ren of a thread of the harness each, which sleeps meanwhile. So
//! the way to the processes and back is not timed. Between blocks they sleep in the kernel.
//!
//! - `founder`: the harness's side, which makes what they share and starts them;
//! - `member`: the side of the process;
//! - `seat`: a member's part, as a contender is told it.

mod founder;
mod member;
mod seat;

use corecast::base::Arena;
use corecast::base::region::SharedRegion;
use serde::{Deserialize, Serialize};

use super::bodies::Witness;
use crate::failure::Failure;
use crate::harness::{Patience, Rendezvous};

pub use founder::bodies;
pub use member::member;
pub use seat::Seat;

/// The reason of a contender that has no members but threads.
pub(super) const THREADS_ONLY: &str = "for threads only";

/// The name of what the members share, in its region.
const GROUND: &str = "ground";

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
struct Assignment {
    contender: String,
    op: String,
    bytes: usize,
    rank: usize,
    members: usize,
    root: usize,
    /// `None` if the system may move it.
    cpu: Option<u32>,
    oversubscribed: bool,
}

fn arena_of(region: &SharedRegion) -> Option<Arena> {
    region.entry(GROUND).map(|entry| Arena::within(region.section(&entry)))
}

/// Where members meet, and how often each has come to a barrier that is checked.
fn lay_out(arena: &mut Arena, members: usize, patience: Patience) -> Result<(Rendezvous, Witness), Failure> {
    let rendezvous = Rendezvous::lay_out(arena, members, patience).map_err(Failure::refused)?;
    Ok((rendezvous, Witness::lay_out(arena, members).map_err(Failure::refused)?))
}
