//! The multi-participant harness: pinned threads, blocks, start windows, robust statistics.
//!
//! - [`Abort`], [`Patience`], [`Rendezvous`]: how participants wait, meet and give up;
//! - `crowded`: whether there are too many of them;
//! - `crew`, `task`: the threads, and what each does in a block;
//! - [`Body`]: one participant's loop, which a contender lends;
//! - `placement`, `clock_offset`: what the machine is like meanwhile;
//! - `span`, `statistics`, `evenness`: from time stamps and counts to numbers;
//! - `budget`, `pace`: how long all this may take.

mod abort;
mod body;
mod budget;
mod clock_offset;
mod cpu_time;
mod crew;
mod crowded;
mod evenness;
mod pace;
mod patience;
mod placement;
mod rendezvous;
mod span;
mod statistics;
mod task;

pub use budget::Budget;
pub use clock_offset::{LARGEST_ACCEPTED, largest_ns as largest_clock_offset_ns};
pub use cpu_time::{
    of_ended_children as cpu_time_of_ended_children, of_process as cpu_time_of_process,
    of_this_thread as cpu_time_of_this_thread,
};
pub(crate) use crew::Block;
pub use crew::Crew;
pub use crowded::is_crowded;
pub use evenness::{jain, most_to_fewest};
pub use pace::{Pace, iterations_that_fill};
pub(crate) use placement::{Placement, steady_rounds};
pub use span::of as ticks_of;
pub(crate) use span::of_windows as ticks_of_windows;
pub use statistics::{median, percentile, sorted};
pub use task::{LEAD, Share, TOLERANCE, empty_steps, wait_for};

pub use abort::Abort;
pub use body::Body;
pub use patience::Patience;
pub use rendezvous::Rendezvous;
pub use statistics::Summary;
pub use task::{Stamps, Task};
