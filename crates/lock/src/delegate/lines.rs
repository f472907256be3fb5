//! The lines of all clients, and how one of them gets its own.

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicUsize, Ordering};

use super::line::{Claim, Line};
use crate::seat;
use crate::three_states::IS_MODEL;

/// The least number of lines, a power of two, and no more than the server looks at in no time.
const FEWEST: usize = if IS_MODEL { 1 } else { 16 };
const MOST: usize = if IS_MODEL { 1 } else { 64 };
/// How many lines a client tries.
const TRIES: usize = 4;

pub(super) struct Lines<T> {
    lines: Box<[CacheLine<Line<T>>]>,
    /// How many have been used, from the first one on. Written by clients, seldom.
    used: AtomicUsize,
}

impl<T> Lines<T> {
    /// For this number of clients, within reason.
    pub(super) fn new(clients: usize) -> Self {
        let lines = (0..clients.clamp(FEWEST, MOST).next_power_of_two()).map(|_| Line::new()).collect();
        Self { lines, used: AtomicUsize::new(0) }
    }

    /// How many there are.
    pub(super) fn most(&self) -> usize {
        self.lines.len()
    }

    /// A line for the calling thread, most often the same; `None` if those that it tries are others'.
    #[inline]
    pub(super) fn claim(&self) -> Option<Claim<'_, T>> {
        let seat = seat::of_this_thread();
        (0..TRIES.min(self.lines.len())).find_map(|offset| {
            let number = (seat + offset) & (self.lines.len() - 1);
            let claim = self.lines[number].claim()?;
            self.use_up_to(number + 1);
            Some(claim)
        })
    }

    #[inline]
    fn use_up_to(&self, count: usize) {
        // ORDERING: Relaxed, the bell's fences order it before the server's last look
        if self.used.load(Ordering::Relaxed) < count {
            // ORDERING: Relaxed, it comes before that of the request, which the fences order
            self.used.fetch_max(count, Ordering::Relaxed);
        }
    }

    /// For the server: all that clients may have.
    #[inline]
    pub(super) fn used(&self) -> &[CacheLine<Line<T>>] {
        // ORDERING: Relaxed, the bell's fences order it after what the clients did
        &self.lines[..self.used.load(Ordering::Relaxed)]
    }
}
