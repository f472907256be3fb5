//! A reader-writer lock of one word, which lets readers read again.
//!
//! glibc's default kind prefers readers: a thread that reads may read once more while a writer waits, and programs rely on it. Of
//! the registry's locks each makes that thread wait behind the writer, which waits for it. Here readers are only kept out by a
//! writer that writes. A waiter polls for about as long as a wake-up costs, marks the word, and sleeps on it.
//!
//! An unlock frees the word and clears the mark in one exchange, and wakes by the word's address: it touches nothing
//! afterwards, so the lock may be destroyed as soon as another thread has it.
//!
//! **Progress:** blocking; readers may overtake writers for as long as they overlap. **Memory ordering:** what happened before an
//! unlock is visible after the next lock, unless both are readers'. Source: U. Drepper, Futexes Are Tricky, 2004, for the mark.

use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::Spinner;

/// Somebody writes.
const WRITER: u32 = 1 << 31;
/// While it is held: somebody may sleep on the word.
const AWAITED: u32 = 1 << 30;
/// The other bits count readers: the largest number of them.
const MOST_READERS: u32 = AWAITED - 1;
/// No time passes in a model, which would never see a waiter go to sleep.
const IS_MODEL: bool = cfg!(loom);

/// The lock.
#[derive(Debug)]
#[repr(transparent)]
pub struct RwWord {
    /// [`WRITER`], [`AWAITED`] and the number of readers. Written by newcomers, waiters and holders.
    word: AtomicU32,
}

/// A try that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody is inside.
    Held,
    /// There are as many readers as can be counted.
    Full,
}

impl RwWord {
    /// A free lock.
    #[must_use]
    pub fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    fn look(&self) -> u32 {
        // ORDERING: Relaxed, the exchanges look again
        self.word.load(Ordering::Relaxed)
    }

    /// Reads if nobody writes.
    ///
    /// # Errors
    /// The reason for which it does not.
    #[inline]
    pub fn try_read(&self) -> Result<(), Refusal> {
        let mut word = self.look();
        loop {
            if word & WRITER != 0 {
                return Err(Refusal::Held);
            }
            if word & MOST_READERS == MOST_READERS {
                return Err(Refusal::Full);
            }
            // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [rw-word-free]
            match self.word.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => word = found,
            }
        }
    }

    /// Writes if nobody reads or writes.
    ///
    /// # Errors
    /// The reason for which it does not.
    #[inline]
    pub fn try_write(&self) -> Result<(), Refusal> {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [rw-word-free]
        let exchange = self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed);
        exchange.map(|_| ()).map_err(|_| Refusal::Held)
    }

    /// Waits until nobody writes, and reads. `left` says for how long it may sleep at once, `None` to give up.
    ///
    /// # Errors
    /// The last reason, when it has given up, or at once if it is full.
    pub fn read(&self, left: impl Fn() -> Option<Duration>) -> Result<(), Refusal> {
        self.wait(|| self.try_read(), |word| word & WRITER != 0, left)
    }

    /// As [`read`](Self::read), until nobody reads or writes, and writes.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn write(&self, left: impl Fn() -> Option<Duration>) -> Result<(), Refusal> {
        self.wait(|| self.try_write(), |word| word != 0, left)
    }

    fn wait(
        &self,
        attempt: impl Fn() -> Result<(), Refusal>,
        is_held: impl Fn(u32) -> bool,
        left: impl Fn() -> Option<Duration>,
    ) -> Result<(), Refusal> {
        let mut spinner = Spinner::new();
        loop {
            match attempt() {
                Err(Refusal::Held) => {}
                result => return result,
            }
            let Some(longest) = left() else { return Err(Refusal::Held) };
            if !IS_MODEL && !spinner.is_spent() {
                spinner.pause();
                continue;
            }
            let word = self.look();
            if is_held(word) && self.mark(word) {
                futex_wait(&self.word, word | AWAITED, longest, Scope::Process);
            }
        }
    }

    /// Marks the word, which was held like this; false if it has changed.
    fn mark(&self, word: u32) -> bool {
        // ORDERING: Relaxed, the mark publishes nothing
        let exchange = || self.word.compare_exchange(word, word | AWAITED, Ordering::Relaxed, Ordering::Relaxed);
        word & AWAITED != 0 || exchange().is_ok()
    }

    /// Whether somebody writes. True for a thread that writes.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.look() & WRITER != 0
    }

    /// Ends the writer, or else a reader. Does nothing to a free lock.
    pub fn unlock(&self) {
        let mut word = self.look();
        while word & !AWAITED != 0 {
            let is_last = word & WRITER != 0 || word & MOST_READERS == 1;
            let next = if is_last { 0 } else { word - 1 };
            // ORDERING: Release, pairs with the Acquire in try_read and try_write; Relaxed where it fails, as it looks again
            // [rw-word-free]
            match self.word.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    if is_last && word & AWAITED != 0 {
                        futex_wake(&self.word, u32::MAX, Scope::Process);
                    }
                    return;
                }
                Err(found) => word = found,
            }
        }
    }
}

impl Default for RwWord {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_read_again_though_a_writer_waits() {
        let lock = RwWord::new();
        assert_eq!(lock.try_read(), Ok(()));
        assert_eq!(lock.write(|| None), Err(Refusal::Held));
        assert!(lock.mark(1));
        assert_eq!((lock.try_read(), lock.try_write()), (Ok(()), Err(Refusal::Held)));
        lock.unlock();
        assert_eq!(lock.look(), 1 | AWAITED);
        lock.unlock();
        assert_eq!(lock.look(), 0);
        lock.unlock();
        assert_eq!((lock.try_write(), lock.try_read(), lock.is_written()), (Ok(()), Err(Refusal::Held), true));
        lock.unlock();
        assert_eq!(lock.look(), 0);
    }

    #[test]
    fn more_readers_than_can_be_counted_are_refused() {
        let lock = RwWord { word: AtomicU32::new(MOST_READERS) };
        assert_eq!((lock.try_read(), lock.read(|| None)), (Err(Refusal::Full), Err(Refusal::Full)));
    }
}
