//! What is done to a line: the operation, how it is timed, and what must come of it.

use corecast::base::Clock;
use corecast::base::sync::{AtomicU64, Ordering};

use super::instruction;

/// An operation on one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Load,
    /// A store and a full fence, so that it is timed until the line is here. The timer it is corrected by has the fence too.
    Store,
    /// Compare and swap with the value that is there, but for lines left by the same operation.
    Cas,
    /// Compare and swap with a value that is not there.
    FailingCas,
    /// Fetch and increment.
    Fai,
    /// Test and set, as locks do it: swaps a one in.
    Tas,
    /// Swaps a value in.
    Swap,
    /// Sets a bit without asking what was there.
    Or,
}

/// The numbers that an operation works with; each takes what it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// What a compare and swap expects.
    pub(super) compare: u64,
    /// What is written.
    pub(super) value: u64,
}

/// What an operation found and left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// What it says was there before; `None` if it does not say.
    pub(super) seen: Option<u64>,
    /// What is there afterwards.
    pub(super) left: u64,
}

/// What test and set writes.
const SET: u64 = 1;
/// The bit that [`Operation::Or`] sets.
const BIT: u64 = 1 << 62;
/// Makes a value that is never there.
const ABSENT: u64 = 1 << 63;

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Cas => "cas",
            Self::FailingCas => "failing-cas",
            Self::Fai => "fai",
            Self::Tas => "tas",
            Self::Swap => "swap",
            Self::Or => "or",
        }
    }

    /// Whether a full fence is timed with it.
    pub(super) fn is_fenced(self) -> bool {
        self == Self::Store
    }

    /// What must come of it where `before` was.
    pub(super) fn outcome(self, before: u64, with: Operands) -> Outcome {
        let (seen, left) = match self {
            Self::Load | Self::FailingCas => (Some(before), before),
            Self::Store => (None, with.value),
            Self::Cas => (Some(before), if before == with.compare { with.value } else { before }),
            Self::Fai => (Some(before), before.wrapping_add(1)),
            Self::Tas => (Some(before), SET),
            Self::Swap => (Some(before), with.value),
            Self::Or => (None, before | BIT),
        };
        Outcome { seen, left }
    }

    /// Does it between two looks at the clock. Returns the ticks between them, and what was there before if it says so.
    #[inline(always)]
    pub(super) fn perform(self, word: &AtomicU64, with: Operands) -> (u64, Option<u64>) {
        // ORDERING: Relaxed throughout, the fenced clock keeps each in its place, and the meetings around order the rest
        let order = Ordering::Relaxed;
        let exchange = |compare: u64| match word.compare_exchange(compare, with.value, order, order) {
            Ok(seen) | Err(seen) => seen,
        };
        let some = |(ticks, seen): (u64, u64)| (ticks, Some(seen));
        match self {
            Self::Load => some(timed(|| word.load(order))),
            Self::Store => {
                let stored = timed(|| {
                    word.store(with.value, order);
                    instruction::full_fence();
                });
                (stored.0, None)
            }
            Self::Cas => some(timed(|| exchange(with.compare))),
            Self::FailingCas => some(timed(|| exchange(with.compare ^ ABSENT))),
            Self::Fai => some(timed(|| word.fetch_add(1, order))),
            Self::Tas => some(timed(|| word.swap(SET, order))),
            Self::Swap => some(timed(|| word.swap(with.value, order))),
            Self::Or => {
                let set = timed(|| {
                    word.fetch_or(BIT, order);
                });
                (set.0, None)
            }
        }
    }
}

/// Ticks that `work` takes, the timer's own included, and its result.
#[inline(always)]
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (u64, R) {
    let clock = Clock::get();
    let begin = clock.ticks_in_order();
    let result = work();
    let end = clock.ticks_in_order();
    (end.wrapping_sub(begin), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Operation; 8] = [
        Operation::Load,
        Operation::Store,
        Operation::Cas,
        Operation::FailingCas,
        Operation::Fai,
        Operation::Tas,
        Operation::Swap,
        Operation::Or,
    ];

    #[test]
    fn what_is_done_is_what_must_come_of_it() {
        for operation in ALL {
            for compare in [64, 65] {
                let (word, with) = (AtomicU64::new(64), Operands { compare, value: 77 });
                let (_, seen) = operation.perform(&word, with);
                let found = Outcome { seen, left: word.load(Ordering::Relaxed) };
                assert_eq!(found, operation.outcome(64, with), "{operation:?}, expecting {compare}");
            }
        }
    }
}
