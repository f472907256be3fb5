//! The flags on which the waiters of barriers look for the end of their round.
//!
//! The 32 bytes of a `pthread_barrier_t` are one line, and every thread that arrives takes it from all that look there. So the
//! thread that ends a round also says so in a flag on another line, which arriving threads do not write. 16 threads on 16 CPUs
//! took 4.9 us for a barrier without flags, and 2.3 with them; 8 took 2.4 and 1.2.
//!
//! The flags are a table that all barriers of the process share. A flag names the barrier that has set it last, so two barriers
//! with one flag only cost each other the gain: a waiter that finds another name there looks at its barrier.

#[cfg(not(loom))]
use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

/// The bits of a round that a flag tells.
const ROUND_BITS: u32 = 28;
/// The most rounds by which a flag may be ahead for its lower bits to tell. A thread may be kept from its CPU for more: then the
/// barrier's word tells.
const AHEAD: i32 = 1 << (ROUND_BITS - 4);
/// The most rounds by which it may be behind: no thread draws a ticket of a later round, as fewer than this many threads wait.
const BEHIND: i32 = 1 << 15;
/// The bits of an address that a place in the table and a name tell together: all but the upper ones, which are zero in programs
/// on x86-64, and the lowest three.
const ADDRESS_BITS: u32 = 44;
const LOWEST_BITS: u32 = 3;
/// The bits of a place.
const PLACE_BITS: u32 = ADDRESS_BITS - (u64::BITS - ROUND_BITS);

#[cfg(not(loom))]
static FLAGS: [CacheLine<AtomicU64>; 1 << PLACE_BITS] = [const { CacheLine::new(AtomicU64::new(0)) }; 1 << PLACE_BITS];

/// The flag of one barrier.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseFlag<'a> {
    /// The name of the barrier that has set it last, and the lower bits of the round that it is in. Written by the thread that
    /// ends a round before it opens the next one, and by one that makes a barrier.
    word: &'a AtomicU64,
    name: u64,
}

impl<'a> ReleaseFlag<'a> {
    /// The flag of the barrier at this address. `None` if the address is one of the few that have no name.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn of(address: usize) -> Option<ReleaseFlag<'static>> {
        let (place, name) = place_and_name(address)?;
        Some(ReleaseFlag { word: &FLAGS[place], name })
    }

    /// A flag in this word for the barrier of this name.
    #[cfg(loom)]
    #[must_use]
    pub fn within(word: &'a AtomicU64, name: u64) -> Self {
        Self { word, name }
    }

    /// Forgets what an earlier barrier at this address has said. Called before other threads know the barrier.
    #[cold]
    pub fn clear(&self) {
        // ORDERING: Relaxed, the program hands the new barrier to other threads, and the flag with it
        let said = self.word.load(Ordering::Relaxed);
        if said >> ROUND_BITS == self.name {
            // Fails if another barrier has just set it.
            // ORDERING: Relaxed, the program orders it, as above
            let _ = self.word.compare_exchange(said, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Says that the barrier is in this round now.
    #[inline]
    pub fn set(&self, round: u32) {
        let round = u64::from(round) & ((1 << ROUND_BITS) - 1);
        // ORDERING: Release, pairs with the Acquire in is_after [ticket-flag]
        self.word.store(self.name << ROUND_BITS | round, Ordering::Release);
    }

    /// Whether the barrier is in a later round than this. `None` if another barrier has set the flag since, or the rounds are so
    /// far apart that their lower bits do not tell.
    #[inline]
    #[must_use]
    pub fn is_after(&self, round: u32) -> Option<bool> {
        // ORDERING: Acquire, pairs with the Release in set [ticket-flag]
        let said = self.word.load(Ordering::Acquire);
        let later = ((said as u32).wrapping_sub(round) << (u32::BITS - ROUND_BITS)) as i32 >> (u32::BITS - ROUND_BITS);
        (said >> ROUND_BITS == self.name && (-BEHIND..=AHEAD).contains(&later)).then_some(later > 0)
    }
}

/// Differ for all addresses, and are spread over the table where those are not.
#[cfg(not(loom))]
#[inline]
fn place_and_name(address: usize) -> Option<(usize, u64)> {
    /// An odd number near 2^44 divided by the golden ratio: no two addresses have one product.
    const SPREAD: u64 = 0x9e3_779b_97f5;
    let address = address as u64 >> LOWEST_BITS;
    let spread = address.wrapping_mul(SPREAD) & ((1 << ADDRESS_BITS) - 1);
    let name_bits = ADDRESS_BITS - PLACE_BITS;
    let (place, name) = ((spread >> name_bits) as usize, spread & ((1 << name_bits) - 1));
    // A flag that nobody has set has the name 0.
    (address >> ADDRESS_BITS == 0 && name != 0).then_some((place, name))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn addresses_have_names_of_their_own() {
        let pages = (1..4097).map(|page| 0x7f00_0000_0000 + (page << 12));
        let lines = (0..4096).map(|line| 0x5500_0000_0040 + (line << 6));
        let high = (0..8).map(|bit| (1 << (39 + bit)) + 8);
        let all: Vec<usize> = pages.chain(lines).chain(high).collect();
        let named: HashSet<_> = all.iter().map(|&address| place_and_name(address).expect("a name")).collect();
        assert_eq!(named.len(), all.len());
        let places: HashSet<_> = named.iter().map(|&(place, _)| place).collect();
        assert_eq!(places.len(), 1 << PLACE_BITS);
        assert!(ReleaseFlag::of(1 << (ADDRESS_BITS + LOWEST_BITS)).is_none());
        assert!(ReleaseFlag::of(0).is_none(), "its name would be that of flags that nobody has set");
    }

    #[test]
    fn a_flag_tells_of_its_barrier_only() {
        let word = AtomicU64::new(0);
        let [mine, other] = [5, 6].map(|name| ReleaseFlag { word: &word, name });
        assert_eq!(mine.is_after(0), None);
        mine.set(1);
        assert_eq!([0, 1, 2].map(|round| mine.is_after(round)), [Some(true), Some(false), Some(false)]);
        assert_eq!(other.is_after(0), None);
        other.clear();
        assert_eq!(mine.is_after(0), Some(true), "the other one has cleared nothing");
        mine.clear();
        assert_eq!(mine.is_after(0), None);
        mine.set(0);
        assert_eq!(mine.is_after(u32::MAX), Some(true), "rounds wrap");
        let (ahead, behind) = (AHEAD as u32, BEHIND as u32);
        assert_eq!([0u32.wrapping_sub(ahead), behind].map(|round| mine.is_after(round)), [Some(true), Some(false)]);
        assert_eq!([0u32.wrapping_sub(ahead + 1), behind + 1].map(|round| mine.is_after(round)), [None; 2]);
    }
}
