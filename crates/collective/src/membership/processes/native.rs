//! The participant of the region behind each member, and whether it lives.
//!
//! A member's word is taken by a compare and exchange, and never given back, as the contents of its rings belong to their
//! writer. A word that names no participant, which another program may have written, counts as that of a dead one.

use std::time::Duration;

use corecast_base::region::{Liveness, ParticipantId, SharedRegion};
use corecast_base::sync::{Arc, AtomicU64, Fences, Ordering};
use corecast_base::wait::{Affinity, CpuSharing, LONGEST_SLEEP, ParticipantCount, WakeCell, WakeWord};
use corecast_base::{CacheLine, Clock, Place, PlaceSlice};

use crate::error::{Error, Loss};

/// The word of a member that will never come. It names no participant, so the member counts as dead.
const GIVEN_UP: u64 = u64::MAX;

/// The members of a group of processes, or of a part of one: one for each process, over the same memory.
#[derive(Debug)]
pub(crate) struct MemberProcesses {
    region: SharedRegion,
    /// For each member of the whole group its participant of the region as a word; 0 while no process has joined as it.
    /// Changed once, by the joining process, or by one that knows that none will join.
    members: PlaceSlice<CacheLine<AtomicU64>>,
    /// The place of each member of the part among them.
    places: Vec<usize>,
    /// The fences of the group's wake words; `None` if no member ever sleeps.
    fences: Option<Fences>,
    /// Before this time, in ticks, no member in this process asks again. Written by the member that asks.
    next_look: AtomicU64,
}

impl MemberProcesses {
    pub(crate) fn new(region: SharedRegion, members: PlaceSlice<CacheLine<AtomicU64>>, fences: Option<Fences>) -> Self {
        let places = (0..members.len()).collect();
        Self { region, members, places, fences, next_look: AtomicU64::new(0) }
    }

    /// The processes of the members of these ranks, by their place here.
    pub(crate) fn part(&self, ranks: &[usize]) -> Self {
        let places = ranks.iter().map(|&rank| self.places[rank]).collect();
        Self {
            places,
            next_look: AtomicU64::new(0),
            ..Self::new(self.region.clone(), self.members.clone(), self.fences)
        }
    }

    /// A wake word in the group's memory.
    pub(crate) fn wake_word(&self, cell: Place<CacheLine<WakeCell>>) -> WakeWord {
        WakeWord::within(cell, self.region.parkers(), self.region.me().index, self.fences)
    }

    /// The members that may compete for a member's CPUs: all of the whole group.
    pub(crate) fn crowd(this: &Arc<Self>) -> CpuSharing {
        CpuSharing::of(Arc::clone(this) as _)
    }

    /// Tells the other members that this one may run on the CPUs of this thread.
    pub(crate) fn renew_affinity(&self) -> Result<(), Error> {
        self.region.renew_affinity().map_err(|_| Error::Forked)
    }

    /// True in a forked child, which does not have the memory.
    #[inline(always)]
    pub(crate) fn is_copy(&self) -> bool {
        self.region.check_fork().is_err()
    }

    /// Takes the place of member `rank` for this process.
    pub(crate) fn join(&self, rank: usize) -> Result<(), Error> {
        self.take(rank, self.region.me().to_word())
    }

    /// Marks member `rank` as one that will never come.
    pub(crate) fn give_up(&self, rank: usize) -> Result<(), Error> {
        self.take(rank, GIVEN_UP)
    }

    /// A member that will never come.
    pub(crate) fn given_up(&self) -> Option<usize> {
        (0..self.members.len()).find(|&rank| self.participant(rank) == GIVEN_UP)
    }

    fn take(&self, rank: usize, by: u64) -> Result<(), Error> {
        let members = self.members.len();
        let word = self.members.get(rank).ok_or(Error::BadRank { rank, members })?;
        // ORDERING: Relaxed, the word is all there is to say: a fresh region is zeroes, which nobody has to publish
        word.compare_exchange(0, by, Ordering::Relaxed, Ordering::Relaxed).map_err(|_| self.taken(rank)).map(drop)
    }

    /// Takes the first free place.
    pub(crate) fn join_any(&self) -> Result<usize, Error> {
        let free = (0..self.members.len()).find(|&rank| self.join(rank).is_ok());
        free.ok_or_else(|| self.taken(0))
    }

    /// The reason why a place cannot be taken.
    fn taken(&self, rank: usize) -> Error {
        if self.is_dead(rank) { Error::MemberLost { rank, loss: Loss::Died } } else { Error::AlreadyJoined { rank } }
    }

    /// The ranks of free places.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.members.len()).filter(|&rank| self.participant(rank) == 0)
    }

    /// A member that died without leaving. This looks at most every [`LONGEST_SLEEP`] in this process: it takes a system
    /// call for each member, and a waiter that spins asks all the time.
    pub(crate) fn first_dead(&self, has_left: impl Fn(usize) -> bool) -> Option<usize> {
        self.is_time_to_look().then(|| {
            // In this order: a member that leaves tells the group before the region.
            (0..self.places.len()).find(|&rank| self.is_dead(rank) && !has_left(rank))
        })?
    }

    /// The members among these that are dead; looks at most every [`LONGEST_SLEEP`], as above.
    pub(crate) fn dead_among(&self, ranks: &[usize]) -> Vec<usize> {
        let is_time = !ranks.is_empty() && self.is_time_to_look();
        ranks.iter().copied().filter(|&rank| is_time && self.is_dead(rank)).collect()
    }

    fn is_time_to_look(&self) -> bool {
        let (clock, nap) = (Clock::get(), LONGEST_SLEEP - Duration::from_millis(1));
        let now = clock.ticks();
        // ORDERING: Relaxed, a member that looks once more than needed does no harm
        let is_time = now >= self.next_look.load(Ordering::Relaxed);
        if is_time {
            // ORDERING: Relaxed, a member that looks once more than needed does no harm
            self.next_look.store(now + clock.ticks_in(nap), Ordering::Relaxed);
        }
        is_time
    }

    fn is_dead(&self, rank: usize) -> bool {
        match self.participant(rank) {
            0 => false,
            GIVEN_UP => true,
            word => !ParticipantId::from_word(word).is_some_and(|who| self.region.liveness(who) == Liveness::Alive),
        }
    }

    fn participant(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, the word is all there is to read
        self.members[self.places[rank]].load(Ordering::Relaxed)
    }
}

impl ParticipantCount for MemberProcesses {
    fn confined_to(&self, cpus: &Affinity) -> usize {
        let me = self.region.me();
        // ORDERING: Relaxed, the words are all there is to read
        let words = self.members.iter().map(|member| member.load(Ordering::Relaxed)).filter(|&word| word != GIVEN_UP);
        let others = words.filter_map(ParticipantId::from_word);
        // The asker counts whatever it has told: its mask is that of the thread that has joined last here, and it may ask
        // about another one.
        1 + others.filter(|&other| other != me && self.region.is_confined(other, cpus)).count()
    }
}
