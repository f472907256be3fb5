//! Whether a yield comes back soon, as the threads of this process have learnt for each CPU.
//!
//! A yield is the cheapest way to let another participant run that shares this CPU (1 to 2 us a switch), and the most
//! expensive one if a foreign thread wants the CPU too: current kernels then give the rest of the slice away, 1 to 4 ms. No
//! thread can know beforehand which it will be, so a waiter believes what was seen last: after a slow yield no thread
//! yields on that CPU for a while, which grows with every confirmation. All threads share what one has learnt. When each
//! thread learnt for itself, and from 4 ms on, eight members beside a foreign thread on each of two CPUs took 72 ms for 300
//! barriers, and 35 now. `docs/design/waiting.md` has more.
use std::time::Duration;

use crate::clock::Clock;
#[cfg(simulated)]
use crate::sync::PerRun;
use crate::sync::{AtomicU64, Ordering};
use crate::{CacheLine, CpuId};

/// The time without yields after a first slow yield, and the longest after many.
const DISTRUST: [Duration; 2] = [Duration::from_millis(32), Duration::from_secs(1)];

/// The record of one CPU, in ticks. Its words are hints: when two threads write at once, either outcome will do.
#[derive(Debug)]
struct SlowYields {
    /// Until then a yield is expected to be slow.
    until: AtomicU64,
    /// The length of that time; doubled by a slow yield that follows soon after.
    length: AtomicU64,
}

impl SlowYields {
    const fn new() -> Self {
        Self { until: AtomicU64::new(0), length: AtomicU64::new(0) }
    }

    /// True while a yield is expected to be slow.
    fn are_expected(&self, now: u64) -> bool {
        // ORDERING: Relaxed, a hint: nothing else is read because of it
        now < self.until.load(Ordering::Relaxed)
    }

    /// Takes in a slow yield that began at `before` and ended `now`.
    fn learn(&self, before: u64, now: u64) {
        // ORDERING: Relaxed, hints: nothing else is read because of them
        let (until, length) = (self.until.load(Ordering::Relaxed), self.length.load(Ordering::Relaxed));
        if before < until {
            // It began before another one made this known.
            return;
        }
        let [shortest, longest] = DISTRUST.map(|time| Clock::get().ticks_in(time));
        let is_confirmed = before < until + length;
        let length = if is_confirmed { (2 * length).clamp(shortest, longest) } else { shortest };
        // ORDERING: Relaxed, a hint: a thread that sees one of the two without the other waits a little more or less
        self.length.store(length, Ordering::Relaxed);
        // ORDERING: Relaxed, as the line before
        self.until.store(now + length, Ordering::Relaxed);
    }
}

/// The number of records. A CPU with a larger number shares the record of a smaller one.
const CPUS: usize = 1024;
/// Nothing else is on their lines, as what lies beside a static is by chance.
type OfCpus = CacheLine<[SlowYields; CPUS]>;

const fn unknown() -> OfCpus {
    CacheLine::new([const { SlowYields::new() }; CPUS])
}

/// Calls `f` with the record of this CPU.
#[cfg(not(simulated))]
fn with_here<R>(f: impl FnOnce(&SlowYields) -> R) -> R {
    static OF_CPUS: OfCpus = unknown();
    f(&OF_CPUS[place_here()])
}

/// Calls `f` with the record of this CPU. The clock of each run begins anew, and so does what its threads learn by it.
#[cfg(simulated)]
fn with_here<R>(f: impl FnOnce(&SlowYields) -> R) -> R {
    static OF_CPUS: PerRun<OfCpus> = PerRun::new(unknown);
    OF_CPUS.with(|of_cpus| f(&of_cpus[place_here()]))
}

fn place_here() -> usize {
    CpuId::of_this_thread().get() as usize % CPUS
}

/// True while a yield on this CPU is expected to be slow.
pub(super) fn are_expected_here(now: u64) -> bool {
    with_here(|yields| yields.are_expected(now))
}

/// Takes in a slow yield on this CPU that began at `before` and ended `now`.
pub(super) fn learn_here(before: u64, now: u64) {
    with_here(|yields| yields.learn(before, now));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(ms: u64) -> u64 {
        Clock::get().ticks_in(Duration::from_millis(ms))
    }

    #[test]
    fn distrust_grows_while_it_is_confirmed_and_begins_anew_when_it_was_not_for_long() {
        let yields = SlowYields::new();
        assert!(!yields.are_expected(0));
        let (mut now, mut lasted) = (ticks(20), Vec::new());
        for _ in 0..12 {
            yields.learn(now, now + ticks(3));
            let again = yields.until.load(Ordering::Relaxed);
            assert!(yields.are_expected(again - 1) && !yields.are_expected(again));
            lasted.push(again - now - ticks(3));
            now = again;
        }
        let [shortest, longest] = DISTRUST.map(|time| Clock::get().ticks_in(time));
        assert!(lasted[..6].windows(2).all(|two| two[1] == 2 * two[0] || two[1] == longest), "{lasted:?}");
        assert_eq!((lasted[0], lasted[11]), (shortest, longest));
        now += 2 * longest;
        yields.learn(now, now + ticks(3));
        assert_eq!(yields.length.load(Ordering::Relaxed), shortest);
    }

    #[test]
    fn two_that_were_slow_at_once_are_no_confirmation() {
        let yields = SlowYields::new();
        yields.learn(ticks(10), ticks(13));
        yields.learn(ticks(11), ticks(14));
        assert_eq!(yields.until.load(Ordering::Relaxed), ticks(13) + Clock::get().ticks_in(DISTRUST[0]));
    }
}
