//! Which participant of the region is which member, and whether it lives.
//!
//! A member's word is taken by a compare and exchange, and never given back: what its rings hold belongs to whoever wrote
//! it. A word that names no participant, as a stranger may have written, counts as that of a dead one.

use std::time::Duration;

use corecast_base::region::{Liveness, ParticipantId, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::{Affinity, Crew, LONGEST_NAP};
use corecast_base::{CacheLine, Clock, PlaceSlice};

use crate::error::{Error, Loss};

/// The members of a group of processes: one for each process, over the same memory.
#[derive(Debug)]
pub(crate) struct Census {
    region: SharedRegion,
    /// For each member its participant of the region as a word; 0 while nobody has joined. Changed once, by who joins.
    members: PlaceSlice<CacheLine<AtomicU64>>,
    /// Before this time, in ticks, nobody of this process asks again. Written by who asks.
    next_look: AtomicU64,
}

impl Census {
    pub(crate) fn new(region: SharedRegion, members: PlaceSlice<CacheLine<AtomicU64>>) -> Self {
        Self { region, members, next_look: AtomicU64::new(0) }
    }

    /// True in a forked child, where the memory is not.
    #[inline(always)]
    pub(crate) fn is_copy(&self) -> bool {
        self.region.check_fork().is_err()
    }

    /// Takes the place of member `rank` for this process.
    pub(crate) fn join(&self, rank: usize) -> Result<(), Error> {
        let members = self.members.len();
        let word = self.members.get(rank).ok_or(Error::BadRank { rank, members })?;
        let me = self.region.me().to_word();
        // ORDERING: Relaxed, the word is all there is to say: a fresh region is zeroes, which nobody has to publish
        word.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).map_err(|_| self.taken(rank)).map(drop)
    }

    /// Takes the place of the first member that nobody has.
    pub(crate) fn join_any(&self) -> Result<usize, Error> {
        let free = (0..self.members.len()).find(|&rank| self.join(rank).is_ok());
        free.ok_or_else(|| self.taken(0))
    }

    /// Why a place cannot be had.
    fn taken(&self, rank: usize) -> Error {
        if self.is_dead(rank) { Error::MemberLost { rank, loss: Loss::Died } } else { Error::AlreadyJoined { rank } }
    }

    /// The ranks that nobody has joined as.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.members.len()).filter(|&rank| self.participant(rank) == 0)
    }

    /// A member that died without leaving. At most every [`LONGEST_NAP`] in this process: it takes a system call for each
    /// member, and a waiter that spins asks all the time.
    pub(crate) fn first_dead(&self, has_left: impl Fn(usize) -> bool) -> Option<usize> {
        self.is_time_to_look().then(|| {
            // In this order: who leaves says so to the group before it does to the region.
            (0..self.members.len()).find(|&rank| self.is_dead(rank) && !has_left(rank))
        })?
    }

    fn is_time_to_look(&self) -> bool {
        let (clock, nap) = (Clock::get(), LONGEST_NAP - Duration::from_millis(1));
        let now = clock.ticks();
        // ORDERING: Relaxed, who looks once more than needed does no harm
        let is_time = now >= self.next_look.load(Ordering::Relaxed);
        if is_time {
            // ORDERING: Relaxed, who looks once more than needed does no harm
            self.next_look.store(now + clock.ticks_in(nap), Ordering::Relaxed);
        }
        is_time
    }

    fn is_dead(&self, rank: usize) -> bool {
        match self.participant(rank) {
            0 => false,
            word => !ParticipantId::from_word(word).is_some_and(|who| self.region.liveness(who) == Liveness::Alive),
        }
    }

    fn participant(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, the word is all there is to read
        self.members[rank].load(Ordering::Relaxed)
    }
}

impl Crew for Census {
    fn confined_to(&self, cpus: &Affinity) -> usize {
        let me = self.region.me();
        let others = (0..self.members.len()).filter_map(|rank| ParticipantId::from_word(self.participant(rank)));
        // This one may have been pinned since it came.
        1 + others.filter(|&other| other != me && self.region.is_confined(other, cpus)).count()
    }
}
