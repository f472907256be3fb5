//! The word that names the process which has a participant: 0 for none. One process has it at a time, and finds the participant
//! as its last owner left it.

use corecast_base::sync::{AtomicU64, Ordering};

/// The name in place of a participant that died or, as a server, ended, and cannot have a successor.
pub const GONE: u64 = u64::MAX;

/// The place of one participant.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a>(&'a AtomicU64);

impl<'a> Seat<'a> {
    /// The place that this word is.
    #[must_use]
    pub fn of(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// Takes the place for a process, if it is free.
    #[must_use]
    pub fn try_take(self, name: u64) -> bool {
        // ORDERING: Acquire, pairs with the Release in leave: the last status is visible, whose epoch goes on; Relaxed where it
        // ORDERING: Relaxed fails, another one has it [seat]
        self.0.compare_exchange(0, name, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the place up, for its owner, which runs no attempt, or for the one that has ended what a dead owner was doing:
    /// with 0, or with [`GONE`] if nobody may have it any more.
    pub fn leave(self, next: u64) {
        // ORDERING: Release, pairs with the Acquire in try_take [seat]
        self.0.store(next, Ordering::Release);
    }

    /// The name of the process that has it; 0 or [`GONE`] if none does.
    #[must_use]
    pub fn owner(self) -> u64 {
        // ORDERING: Relaxed, a name; what its process has written is found by the kernel's evidence of its death
        self.0.load(Ordering::Relaxed)
    }
}
