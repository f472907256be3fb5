//! The first member to come to its cluster leads it: it scans the lines of the later members, and releases them.
//!
//! With a fixed leader that comes late, the cluster waits for the whole scan; the first member to come scans while it waits
//! anyway. Take it where arrivals lie far apart. It costs one compare-and-exchange per member on a line of the cluster. The
//! clusters wait for no particular member either: the leaders take tickets.
//!
//! Source: the idea of a dynamic winner is that of the combining trees of R. Gupta, C. Hill, A Scalable Implementation of
//! Barrier Synchronization Using an Adaptive Combining Tree, 1989.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};

use super::ticket::Ticket;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::MAX_MEMBERS;
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The low bits of a claim: the leader's rank.
const RANK_BITS: u32 = 12;
const RANK: u64 = (1 << RANK_BITS) - 1;
const _: () = assert!(MAX_MEMBERS <= 1 << RANK_BITS);

type Line = Place<CacheLine<AtomicU64>>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct DynamicLeader {
    /// Rounds entered.
    round: u64,
    /// The operation in which it entered the last one.
    operation: u64,
    /// round << [`RANK_BITS`] | rank of the leader of the cluster in that round, written by that leader; 0 at first.
    claim: Line,
    /// The claim of the last round entered, which stands until a member claims the next one.
    last: u64,
    /// The stamp of the last operation that this member has entered as a follower.
    arrived: Line,
    /// Those of the others of the cluster.
    others: Vec<Line>,
    /// The stamp of the last operation released, written by its leader.
    released: Line,
    leaders: Ticket,
}

impl Family for DynamicLeader {
    const NAME: &'static str = "dynamic-leader";
    const ABOUT: &'static str = "the first to come to a cluster leads it; leaders take tickets";
    const WANTS: Wants = Wants::Leaders;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let clusters = &*setup.clusters;
        let mut lines =
            |count: usize| -> Result<PlaceSlice<CacheLine<AtomicU64>>, ArenaError> { site.arena.slice(count) };
        let (claims, arrived, released) = (lines(clusters.len())?, lines(setup.members)?, lines(clusters.len())?);
        let leaders = Ticket::among(clusters.len(), site)?;
        let own = clusters.iter().position(|cluster| cluster.contains(&site.rank)).expect("everybody is in a cluster");
        let arrived = |rank: usize| arrived.place(rank).expect("one for each member");
        Ok(Self {
            round: 0,
            operation: 0,
            claim: claims.place(own).expect("one for each cluster"),
            last: 0,
            arrived: arrived(site.rank),
            others: clusters[own].iter().filter(|&&rank| rank != site.rank).map(|&rank| arrived(rank)).collect(),
            released: released.place(own).expect("one for each cluster"),
            leaders,
        })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.gather(&setup.clusters);
        times.take_turns(&setup.leaders);
        times.release(&setup.clusters);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        if self.operation != core.operation {
            (self.round, self.operation) = (self.round + 1, core.operation);
            self.leaders.turn_to(core);
            self.last = self.standing_claim(core.rank);
        }
        if self.last == self.own_claim(core.rank) {
            self.lead(core)
        } else {
            self.follow(core, (self.last & RANK) as usize)
        }
    }
}

impl DynamicLeader {
    /// The word by which the member of this rank claims the current round.
    #[inline]
    fn own_claim(&self, rank: usize) -> u64 {
        self.round << RANK_BITS | rank as u64
    }

    /// The claim that stands in the current round: this member's, if no other came first.
    #[inline]
    fn standing_claim(&self, rank: usize) -> u64 {
        let claim = self.own_claim(rank);
        // ORDERING: Relaxed, the word is all there is to say: the lines and tickets below carry what members wrote
        self.claim.compare_exchange(self.last, claim, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(claim)
    }

    fn lead(&mut self, core: &mut Core) -> Result<(), Error> {
        let stamp = core.stamp.word();
        for arrived in &self.others {
            // ORDERING: Acquire, pairs with the Release in follow [followed]
            core.wait_at_own_word(|| (arrived.load(Ordering::Acquire) == stamp).then_some(()))?;
        }
        self.leaders.enter(core)?;
        // ORDERING: Release, pairs with the Acquire in follow [let-go]
        self.released.store(stamp, Ordering::Release);
        core.table.common.notify();
        Ok(())
    }

    fn follow(&mut self, core: &mut Core, leader: usize) -> Result<(), Error> {
        let (stamp, released) = (core.stamp.word(), &self.released);
        // ORDERING: Release, pairs with the Acquire in lead [followed]
        self.arrived.store(stamp, Ordering::Release);
        // Another process may have written any rank: the wrong member is then woken in vain.
        core.table.wake_word(leader.min(core.members - 1)).notify();
        // ORDERING: Acquire, pairs with the Release in lead [let-go]
        core.wait_at_common_word(|| (released.load(Ordering::Acquire) == stamp).then_some(()))
    }
}
