//! The machine's side: std's atomics, a futex to sleep on, PAUSE to spin with.
#![cfg_attr(
    simulated,
    allow(dead_code, unreachable_pub, unused_imports, reason = "only its calls of the host are used there")
)]

use std::time::Duration;

use rustix::thread::futex;

use super::Scope;
use crate::Clock;

use std::sync::atomic::compiler_fence;
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub use std::sync::{Arc, Mutex, MutexGuard};

/// A cell whose contents are reached through closures, so that loom can watch each access.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell holding `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The contents.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Gives a pointer for reading. A caller that reads through it promises that no thread writes meanwhile.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Gives a pointer for writing. A caller that writes through it promises that no other thread looks meanwhile.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Tells the core that this is a polling loop (PAUSE, YIELD). Measured on two cores of a Zen 5: without it the line
/// handed over arrives 2.5 to 4.7 times later.
#[inline(always)]
pub fn spin_hint() {
    std::hint::spin_loop();
}

/// Keeps the compiler from moving stores over this point. Then other threads find the stores of a killed thread in the
/// order of its program.
#[inline(always)]
pub fn keep_order() {
    // ORDERING: SeqCst, for the compiler alone; pairs with itself, forbids that a store is found without an earlier one: of
    // a killed thread all stores before the kill arrive [killed]
    compiler_fence(Ordering::SeqCst);
}

/// Adds, and lets no later access come before the addition. This rests on the architecture and not on the language's memory
/// model: a locked instruction is a full fence itself, and an MFENCE behind it would cost as much again.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub fn fetch_add_and_fence(word: &AtomicU64, count: u64) -> u64 {
    // ORDERING: SeqCst, a fence too; pairs with a fence behind what others write [add-fence]
    let before = word.fetch_add(count, Ordering::SeqCst);
    keep_order();
    before
}

/// Adds, and lets no later access come before the addition.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub fn fetch_add_and_fence(word: &AtomicU64, count: u64) -> u64 {
    // ORDERING: Relaxed, the fence orders it
    let before = word.fetch_add(count, Ordering::Relaxed);
    // ORDERING: SeqCst, pairs with a fence behind what others write [add-fence]
    fence(Ordering::SeqCst);
    before
}

/// Spins for about `duration`.
#[inline]
pub fn spin_for(duration: Duration) {
    let clock = Clock::get();
    let (start, ticks) = (clock.ticks(), clock.ticks_in(duration));
    while clock.ticks().wrapping_sub(start) < ticks {
        spin_hint();
    }
}

/// Gives the CPU to another thread that can run, if there is one.
#[inline]
pub fn yield_now() {
    rustix::thread::sched_yield();
}

/// Sleeps while the word is `seen`, for at most `longest`; may also return early for no reason. A thread that changes the
/// word calls [`futex_wake`] afterwards: the kernel looks at the word and puts the sleeper to sleep in one step.
pub fn futex_wait(word: &AtomicU32, seen: u32, longest: Duration, scope: Scope) {
    // Interrupted, timed out and already changed all mean the same to the caller: look again.
    let _ = futex::wait(word, flags(scope), seen, Some(&timespec(longest)));
}

/// Wakes at most `at_most` of the threads that sleep on the word.
pub fn futex_wake(word: &AtomicU32, at_most: u32, scope: Scope) {
    // The kernel takes a signed number, and wakes one for a negative one. A failed wake can only mean that no thread sleeps
    // here.
    let _ = futex::wake(word, flags(scope), at_most.min(i32::MAX.unsigned_abs()));
}

/// A number that only grows, on which threads can sleep until it changes.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct EventCount(AtomicU32);

impl EventCount {
    /// A count of zero.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The count now; a later [`wait`](Self::wait) with it returns at once if the count has moved on.
    #[inline]
    pub fn now(&self) -> u32 {
        // ORDERING: Acquire, pairs with the Release in advance [event-count]
        self.0.load(Ordering::Acquire)
    }

    /// Moves the count on and wakes every thread of `scope` that sleeps on it.
    pub fn advance(&self, scope: Scope) {
        // ORDERING: Release, pairs with the Acquire in now [event-count]
        self.0.fetch_add(1, Ordering::Release);
        futex_wake(&self.0, u32::MAX, scope);
    }

    /// Sleeps until the count differs from `seen`, for at most `longest`; may also return early for no reason. True if the
    /// count differs.
    pub fn wait(&self, seen: u32, longest: Duration, scope: Scope) -> bool {
        futex_wait(&self.0, seen, longest, scope);
        self.now() != seen
    }

    /// As [`wait`](Self::wait), until one of several counts differs from its seen value. Where the kernel cannot wait for
    /// several counts (before Linux 5.16), or not for that many, it sleeps on the first one in short slices.
    pub fn wait_any(counts: &[(&Self, u32, Scope)], longest: Duration) -> bool {
        let waiters: Vec<futex::Wait> = counts.iter().map(|&(count, seen, scope)| count.waiter(seen, scope)).collect();
        let until = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic) + timespec(longest);
        let waited = futex::waitv(&waiters, futex::WaitvFlags::empty(), Some(&until), futex::ClockId::Monotonic);
        let is_refused = matches!(waited, Err(rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL));
        if let (true, Some(&(first, seen, scope))) = (is_refused, counts.first()) {
            first.wait(seen, longest.min(SLICE), scope);
        }
        counts.iter().any(|(count, seen, _)| count.now() != *seen)
    }

    fn waiter(&self, seen: u32, scope: Scope) -> futex::Wait {
        let mut waiter = futex::Wait::new();
        waiter.val = seen.into();
        waiter.uaddr = futex::WaitPtr::new(self.0.as_ptr().cast());
        waiter.flags = match scope {
            Scope::Process => futex::WaitFlags::SIZE_U32 | futex::WaitFlags::PRIVATE,
            Scope::Machine => futex::WaitFlags::SIZE_U32,
        };
        waiter
    }
}

/// The time for which the other words go unwatched where the kernel can watch one only.
pub(super) const SLICE: Duration = Duration::from_millis(1);

fn timespec(time: Duration) -> rustix::time::Timespec {
    let tv_sec = i64::try_from(time.as_secs()).unwrap_or(i64::MAX / 2);
    rustix::time::Timespec { tv_sec, tv_nsec: time.subsec_nanos().into() }
}

/// The kernel finds sleepers of one process by address alone, and those of several by what the address maps.
fn flags(scope: Scope) -> futex::Flags {
    match scope {
        Scope::Process => futex::Flags::PRIVATE,
        Scope::Machine => futex::Flags::empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Each thread sleeps for an hour unless it is woken.
    #[test]
    fn a_wake_of_all_wakes_every_sleeper() {
        let (word, arrived) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            let sleep = || {
                for round in 0..200 {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    while word.load(Ordering::Relaxed) == round {
                        futex_wait(&word, round, Duration::from_secs(3600), Scope::Process);
                    }
                }
            };
            let threads = [scope.spawn(sleep), scope.spawn(sleep), scope.spawn(sleep)];
            for round in 0..200 {
                while arrived.load(Ordering::Relaxed) < 3 * (round + 1) {
                    yield_now();
                }
                // So that most of them sleep by then.
                (0..20).for_each(|_| yield_now());
                word.store(round + 1, Ordering::Relaxed);
                futex_wake(&word, u32::MAX, Scope::Process);
            }
            threads.into_iter().for_each(|thread| thread.join().expect("it was woken"));
        });
    }
}
