//! An operation on a line: what it does, how it is timed, and the result it must have.

use corecast::base::Clock;
use corecast::base::sync::{AtomicU64, Ordering};

use super::instruction;
use super::lines::Line;

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
    /// Compare and swap of 16 bytes, as [`Cas`](Self::Cas).
    WideCas,
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
    /// The value that a compare and swap expects.
    pub(super) compare: u64,
    /// The value that is written.
    pub(super) value: u64,
}

/// The values that an operation found and left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The value before, as the operation returns it; `None` if it returns none.
    pub(super) seen: Option<u64>,
    /// The value afterwards.
    pub(super) left: u64,
}

/// The value that test and set writes.
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
            Self::WideCas => "wide-cas",
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

    /// Why it cannot be done here, if that is so.
    pub(super) fn impossible(self) -> Option<&'static str> {
        let is_missing = self == Self::WideCas && !instruction::knows_wide_cas();
        is_missing
            .then_some("needs an x86-64 core that knows CMPXCHG16B: the CASP of other architectures is not timed here")
    }

    /// The result that it must have where `before` was.
    pub(super) fn outcome(self, before: u64, with: Operands) -> Outcome {
        let (seen, left) = match self {
            Self::Load | Self::FailingCas => (Some(before), before),
            Self::Store => (None, with.value),
            Self::Cas | Self::WideCas => (Some(before), if before == with.compare { with.value } else { before }),
            Self::Fai => (Some(before), before.wrapping_add(1)),
            Self::Tas => (Some(before), SET),
            Self::Swap => (Some(before), with.value),
            Self::Or => (None, before | BIT),
        };
        Outcome { seen, left }
    }

    /// Does it between two looks at the clock. Returns the ticks between them, and what was there before if it says so.
    #[inline(always)]
    pub(super) fn perform(self, line: &Line, with: Operands) -> (u64, Option<u64>) {
        let word: &AtomicU64 = &line[0];
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
            Self::WideCas => {
                let (ticks, [seen, rest]) = timed(|| instruction::wide_cas(line, [with.compare, 0], [with.value, 0]));
                (ticks, (rest == 0).then_some(seen))
            }
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

    const ALL: [Operation; 9] = [
        Operation::Load,
        Operation::Store,
        Operation::Cas,
        Operation::FailingCas,
        Operation::WideCas,
        Operation::Fai,
        Operation::Tas,
        Operation::Swap,
        Operation::Or,
    ];

    fn line(low: u64, high: u64) -> Line {
        Line::new([low, high].map(AtomicU64::new))
    }

    #[test]
    fn a_wide_compare_and_swap_is_of_both_words() {
        if Operation::WideCas.impossible().is_some() {
            return;
        }
        let line = line(1, 2);
        assert_eq!(instruction::wide_cas(&line, [1, 3], [7, 8]), [1, 2]);
        assert_eq!(instruction::wide_cas(&line, [3, 2], [7, 8]), [1, 2]);
        assert_eq!(instruction::wide_cas(&line, [1, 2], [7, 8]), [1, 2]);
        assert_eq!([0, 1].map(|word: usize| line[word].load(Ordering::Relaxed)), [7, 8]);
        let (_, seen) = Operation::WideCas.perform(&line, Operands { compare: 7, value: 9 });
        assert_eq!((seen, line[0].load(Ordering::Relaxed)), (None, 7), "the other word is not 0");
    }

    #[test]
    fn each_operation_has_the_result_it_must_have() {
        for operation in ALL.into_iter().filter(|operation| operation.impossible().is_none()) {
            for compare in [64, 65] {
                let (line, with) = (line(64, 0), Operands { compare, value: 77 });
                let (_, seen) = operation.perform(&line, with);
                let found = Outcome { seen, left: line[0].load(Ordering::Relaxed) };
                assert_eq!(found, operation.outcome(64, with), "{operation:?}, expecting {compare}");
            }
        }
    }
}
