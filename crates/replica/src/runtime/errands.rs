//! The queue of what the threads of a node want of the thread that drives it.
//!
//! Any thread adds, the thread with the driver takes all. A flag beside the queue saves the lock while there is nothing. The lock
//! orders everything: a taker that finds the flag set finds the errand, as the thread that set it had left the lock by then; and
//! a flag that is set behind an errand which the taker missed is set after the taker has cleared it.

use std::sync::PoisonError;

use corecast_base::sync::{AtomicBool, Mutex, Ordering};

/// Errands of type `E` that were not taken yet.
#[derive(Debug)]
pub struct Errands<E> {
    queue: Mutex<Vec<E>>,
    /// True if there may be errands. Set behind an errand, cleared before they are taken.
    is_filled: AtomicBool,
}

impl<E> Default for Errands<E> {
    fn default() -> Self {
        Self { queue: Mutex::new(Vec::new()), is_filled: AtomicBool::new(false) }
    }
}

impl<E> Errands<E> {
    /// Adds an errand.
    pub fn add(&self, errand: E) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(errand);
        // ORDERING: Relaxed, the lock orders it: see the module's text
        self.is_filled.store(true, Ordering::Relaxed);
    }

    /// Takes all errands.
    #[inline]
    pub fn take(&self, to: &mut Vec<E>) {
        // ORDERING: Relaxed, a look only: one that is missed is taken by the next turn, for which its thread asks
        if self.is_filled.load(Ordering::Relaxed) {
            self.take_filled(to);
        }
    }

    fn take_filled(&self, to: &mut Vec<E>) {
        // ORDERING: Relaxed, the lock orders it: see the module's text
        self.is_filled.store(false, Ordering::Relaxed);
        to.append(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
