//! Words from one sender to one receiver, eight to a cache line.
//!
//! **When to take it:** indices, addresses and tokens of 8 bytes, as many per second as possible. **When not:** anything
//! longer, or words that may be 0: [`ump`](crate::ump).
//!
//! **How it works.** A cell that is 0 is empty. The sender stores a word into the next cell when that is empty; the
//! receiver takes it and stores 0. There are no counters to look at: the word itself says that it is there. A message
//! cannot be 0, as 0 means empty, and a [`NonZeroU64`](std::num::NonZeroU64) is never 0, so nothing is lost silently.
//!
//! Two refinements keep the ends from working on one line at the same time. With [`Slip::Line`] the receiver takes whole
//! lines, and parts of one only after a while or when the sender flushes. With [`Probe::Line`] the sender looks at one cell
//! per line and the receiver clears a line when it has read all of it; up to 16 cells fewer can be in use.
//!
//! **Guarantees.** First in, first out, each word exactly once. `try_` methods never wait and are wait-free; the others wait
//! as their [`Wait`] policy says. The sender's writes before sending are visible to the receiver after receiving. The
//! receiver did before receiving word n is visible to the sender when it has sent word n + cells (Release, Acquire both
//! ways), so buffers that words stand for can be used again without asking.
//!
//! **Source:** Giacomoni, Moseley, Vachharajani, FastForward for efficient pipeline parallelism, PPoPP 2008; clearing a line
//! at a time: Maffione, Lettieri, Rizzo, Cache-aware design of general-purpose single-producer-single-consumer queues,
//! Software: Practice and Experience 2019.
//!
//! ```
//! use corecast_channel::ff;
//! use std::num::NonZeroU64;
//! let (mut tx, mut rx) = ff::channel(1024);
//! let sum = std::thread::spawn(move || std::iter::from_fn(|| rx.recv().ok()).map(NonZeroU64::get).sum::<u64>());
//! for word in 1..=1000 {
//!     tx.send(NonZeroU64::new(word).expect("not zero"))?;
//! }
//! drop(tx);
//! assert_eq!(sum.join().expect("it does not panic"), 500_500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
#[cfg(not(loom))]
mod inspect;
mod receiver;
mod recv_position;
#[cfg(not(loom))]
mod region;
mod send_position;
mod sender;

use std::time::Duration;

use corecast_base::sync::Arc;
use corecast_base::wait::{CpuSharing, Wait, Waiter, WakeWord};

#[cfg(not(loom))]
pub(crate) use inspect::inspect;
pub use receiver::Receiver;
#[cfg(not(loom))]
pub use region::{receiver, sender, spec};
pub use sender::Sender;

use cells::Shared;
use recv_position::RecvPosition;
use send_position::SendPosition;

/// The cells of a line. Few in models, where each one adds states.
const LINE_CELLS: usize = if cfg!(loom) { 2 } else { 8 };
/// The fewest cells of a channel.
pub const MIN_CELLS: usize = if cfg!(loom) { 4 } else { 32 };
/// The most cells of a channel, 64 MiB.
pub const MAX_CELLS: usize = 1 << 23;

/// The layout and the waiting of a channel.
#[derive(Debug, Clone)]
pub struct Config {
    /// Cells of 8 bytes; rounded up to a power of two, to at least [`MIN_CELLS`].
    pub cells: usize,
    /// How the receiver takes words.
    pub slip: Slip,
    /// How the sender looks for empty cells.
    pub probe: Probe,
    /// How both ends wait.
    pub wait: Wait,
    /// The cost of sleeping and waking up on this machine, where it has been measured.
    pub wake_cost: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self { cells: 1024, slip: Slip::None, probe: Probe::Cell, wait: Wait::default(), wake_cost: None }
    }
}

/// How the receiver takes words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slip {
    /// As soon as the words are there.
    #[default]
    None,
    /// By the line. A part of a line waits for at most this long, from when the receiver sees it, or until the sender
    /// flushes or leaves.
    Line(Duration),
}

/// How the sender looks for empty cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Probe {
    /// The sender looks at each cell before it writes there.
    #[default]
    Cell,
    /// The sender looks at one cell for a whole line, which the receiver clears at once. Up to 16 cells fewer can be in
    /// use.
    Line,
}

/// A channel of `cells` words with the default configuration; see [`Config`] for what `cells` may be.
///
/// # Panics
/// If it would have more than [`MAX_CELLS`] cells.
#[track_caller]
#[must_use]
pub fn channel(cells: usize) -> (Sender, Receiver) {
    channel_with(Config { cells, ..Config::default() })
}

/// A channel with this configuration, among the threads of one process.
///
/// # Panics
/// If it would have more than [`MAX_CELLS`] cells.
#[track_caller]
#[must_use]
pub fn channel_with(config: Config) -> (Sender, Receiver) {
    let shared = Arc::new(Shared::new(&config, cells(&config), WakeWord::new(config.wait), WakeWord::new(config.wait)));
    let waiter = Waiter::new(config.wait, CpuSharing::unpinned(2), config.wake_cost);
    let sender =
        Sender { shared: Arc::clone(&shared), position: SendPosition::default(), waiter: waiter.clone(), peer: None };
    (sender, Receiver { shared, position: RecvPosition::default(), waiter, peer: None })
}

/// The number of cells that a channel gets.
///
/// # Panics
/// If it is more than [`MAX_CELLS`].
#[track_caller]
fn cells(config: &Config) -> usize {
    let wanted = config.cells.max(MIN_CELLS);
    assert!(wanted <= MAX_CELLS, "a channel has at most {MAX_CELLS} cells, and this one would need {wanted}");
    wanted.next_power_of_two()
}
