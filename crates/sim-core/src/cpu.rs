//! A CPU: its store buffer, and the threads that it runs by turns.

use crate::costs::Ticks;
use crate::store_buffer::StoreBuffer;

/// A CPU.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) buffer: StoreBuffer,
    /// The threads that were put on it.
    pub(crate) threads: usize,
    /// The set of CPUs among which its threads may move.
    pub(crate) set: Option<usize>,
    /// The thread that it runs.
    pub(crate) running: Option<usize>,
    /// The thread that it ran last.
    pub(crate) last: Option<usize>,
    /// Threads that wait for it.
    pub(crate) ready: Vec<usize>,
    /// The begin of the slice.
    pub(crate) since: Ticks,
    /// The number of the slice's end. One that was announced with another number is void.
    pub(crate) slice: u32,
    /// True if the slice has ended while the thread waited for an access.
    pub(crate) is_late: bool,
    /// True if no thread comes before the stores of the last one have taken effect.
    pub(crate) is_draining: bool,
    /// The time since which it has nothing to run, where it has nothing.
    pub(crate) idle_since: Ticks,
    /// The most that a thread had run for when it came.
    pub(crate) ran: Ticks,
}

impl Cpu {
    /// True if it can run a thread at once.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_none() && !self.is_draining
    }

    pub(crate) fn is_slice(&self, number: u32) -> bool {
        self.slice == number
    }
}
