//! Waiting that is fast when alone and not stuck when there are more threads than CPUs.
//!
//! - [`Wait`]: the policy a user chooses;
//! - [`Waiter`]: one participant's waiting, with what it has learnt so far;
//! - [`WakeWord`]: what a waiter sleeps on and a publisher rings;
//! - [`Crowd`]: whether the participants have a CPU each.
//!
//! Every loop of corecast that polls goes through [`Waiter::until`]. It spins for about as long as putting the thread
//! to sleep and waking it would cost (which is never worse than twice the best choice made with foresight), yields a few
//! times, and sleeps. With more participants than CPUs it does not spin at all: the thread it waits for may need this
//! very CPU. Measured on 2 CPUs, a barrier of 4 threads takes 4.8 us when polls are left out and 99 us with 2000 of them.

mod budget;
mod crowd;
mod policy;
mod waiter;
mod wake_word;

pub use crowd::Crowd;
pub use policy::Wait;
pub use waiter::{LONGEST_NAP, WaitCounts, Waiter};
pub use wake_word::WakeWord;
