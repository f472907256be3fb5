//! The dissemination barrier with the flags of its most cited description: booleans of two parities and a sense that
//! turns every second episode, so that flags are never reset and need no numbers.
//!
//! Padded, each member's flags have lines of their own; unpadded, all of them lie side by side, and members share lines
//! by accident, as they do in many a program.
//!
//! Source: J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.

use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicBool, Ordering};

use super::bodies::{BarrierEnd, barrier_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Patience};

/// Flags on one line, were each of a byte's length.
const FLAGS_PER_LINE: usize = size_of::<CacheLine<AtomicBool>>();

pub(super) struct McsDissemination {
    pub(super) is_padded: bool,
}

/// All flags, in lines only so that the first one begins a line. A flag is written by the member 2^round before its
/// owner, and polled by its owner.
struct Flags {
    lines: Vec<CacheLine<[AtomicBool; FLAGS_PER_LINE]>>,
    members: usize,
    rounds: usize,
    /// Flags from one member's first to the next one's.
    stride: usize,
}

struct End {
    rank: usize,
    parity: usize,
    sense: bool,
    flags: Arc<Flags>,
    patience: Patience,
    abort: Arc<Abort>,
}

impl Contender for McsDissemination {
    fn name(&self) -> String {
        if self.is_padded { "mcs-dissemination" } else { "mcs-dissemination-unpadded" }.to_owned()
    }

    fn about(&self) -> String {
        let place = if self.is_padded { "each member's flags on lines of their own" } else { "all flags side by side" };
        format!("dissemination with parity and sense, {place}; yields after 50 us, at once if oversubscribed")
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let members = setting.participants();
        let flags = Arc::new(Flags::of(members, self.is_padded));
        let end = |rank| End {
            rank,
            parity: 0,
            sense: true,
            flags: Arc::clone(&flags),
            patience: setting.patience(),
            abort: Arc::clone(abort),
        };
        Ok(barrier_bodies((0..members).map(end).collect()))
    }
}

impl Flags {
    fn of(members: usize, is_padded: bool) -> Self {
        let rounds = members.next_power_of_two().trailing_zeros() as usize;
        let own = 2 * rounds;
        let stride = if is_padded { own.next_multiple_of(FLAGS_PER_LINE) } else { own };
        let lines = (members * stride).div_ceil(FLAGS_PER_LINE);
        let line = |_| CacheLine::new(std::array::from_fn(|_| AtomicBool::new(false)));
        Self { lines: (0..lines).map(line).collect(), members, rounds, stride }
    }

    #[inline(always)]
    fn flag(&self, member: usize, parity: usize, round: usize) -> &AtomicBool {
        let index = member * self.stride + parity * self.rounds + round;
        &self.lines[index / FLAGS_PER_LINE][index % FLAGS_PER_LINE]
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        let mut distance = 1;
        for round in 0..self.flags.rounds {
            let next = self.rank + distance;
            let partner = if next >= self.flags.members { next - self.flags.members } else { next };
            // ORDERING: Release, pairs with the Acquire of the partner below [mcs-dissemination]
            self.flags.flag(partner, self.parity, round).store(self.sense, Ordering::Release);
            let mine = self.flags.flag(self.rank, self.parity, round);
            // ORDERING: Acquire, pairs with the Release of the member before above [mcs-dissemination]
            self.patience.until(&self.abort, || mine.load(Ordering::Acquire) == self.sense)?;
            distance *= 2;
        }
        // A flag is written again two episodes on, with the other sense: by then its owner has read it.
        self.sense ^= self.parity == 1;
        self.parity = 1 - self.parity;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_padding_keeps_members_off_each_others_lines() {
        for (is_padded, lines) in [(true, 5), (false, 1)] {
            let flags = Flags::of(5, is_padded);
            let places: std::collections::HashSet<*const AtomicBool> = (0..5)
                .flat_map(|member| [0, 1].map(|parity| (member, parity)))
                .flat_map(|(member, parity)| {
                    [0, 1, 2].map(|round| std::ptr::from_ref(flags.flag(member, parity, round)))
                })
                .collect();
            assert_eq!((places.len(), flags.lines.len()), (30, lines));
        }
    }
}
