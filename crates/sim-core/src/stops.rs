//! Stops that the program has not asked for: a thread that is taken off its CPU at some access, or killed there.
//!
//! Accesses of a thread are numbered from 0: loads, stores and read-modify-writes, lines of cells, and the calls that sleep and
//! wake. A stop comes before the access with its number. Rounds that a polling loop sleeps through have no numbers.

use crate::costs::Ticks;
use crate::random::Random;

/// When threads are taken off their CPUs, and for how long. The stores of such a thread go on, and threads that share its CPU run
/// meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// Each thread at random.
    Randomly {
        /// The same one gives the same stops.
        seed: u64,
        /// One access in this number has a stop.
        one_in: u64,
        /// The longest stop. Shorter ones are more frequent: half of all are shorter than a 300th of it at most.
        longest: Ticks,
    },
    /// One thread at one access.
    At {
        /// The thread.
        thread: usize,
        /// The number of the access.
        access: u64,
        /// The time.
        time: Ticks,
    },
}

/// The stores that a killed thread leaves in the buffer of its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastStores {
    /// They take effect, as on a machine whose power stays on.
    Land,
    /// They are lost. Bytes that the thread has written itself ([`Thread::store_line`](crate::Thread::store_line)) are not.
    Lost,
}

/// A stop of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    /// For this time.
    Pause(Ticks),
    /// For ever.
    Kill(LastStores),
}

/// The stops of a thread that are to come.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    planned: Vec<(u64, Stop)>,
    random: Option<RandomStops>,
}

#[derive(Clone, Copy, Debug)]
struct RandomStops {
    random: Random,
    one_in: u64,
    longest: Ticks,
}

impl Stops {
    pub(crate) fn plan(&mut self, access: u64, stop: Stop) {
        self.planned.push((access, stop));
    }

    pub(crate) fn at_random(&mut self, random: Random, one_in: u64, longest: Ticks) {
        self.random = Some(RandomStops { random, one_in, longest });
    }

    /// The first access that may have a stop.
    pub(crate) fn first(&self) -> u64 {
        let planned = self.planned.iter().map(|&(access, _)| access).min();
        if self.random.is_some() { 0 } else { planned.unwrap_or(u64::MAX) }
    }

    /// The stop before this access: a planned one, else one at random.
    pub(crate) fn before(&mut self, access: u64) -> Option<Stop> {
        let planned = self.planned.iter().find(|&&(at, _)| at == access);
        planned.map(|&(_, stop)| stop).or_else(|| self.random.as_mut()?.draw())
    }
}

impl RandomStops {
    fn draw(&mut self) -> Option<Stop> {
        let Self { random, one_in, longest } = self;
        if random.below(*one_in) > 0 {
            return None;
        }
        let most = *longest >> random.below(16);
        Some(Stop::Pause(random.below(most.saturating_add(1))))
    }
}
