//! Members gather at leaders, with a line each, and one line for each group releases them.
//!
//! The families that scan lines share this part. A leader may be a follower in a later group, where it stands for all below
//! it. The reads of a scan overlap, and a release is one store, however many members read it. Lines hold the stamp of the
//! last operation entered or released. It stands until it has been read, and nothing is ever reset: no member enters the
//! next barrier before it is released, and no leader releases before all have entered.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};

use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The stamp of the last operation that a member has entered with all its followers, or from which a group was released.
type Line = Place<CacheLine<AtomicU64>>;

/// One member's part.
#[derive(Debug)]
pub(super) struct Gathering {
    /// The groups it leads, those further on behind those below them.
    leads: Vec<Led>,
    /// Where it follows; `None` if it leads the last of its groups.
    follows: Option<Followed>,
}

#[derive(Debug)]
struct Led {
    /// Written by each other member of the group, read by this one.
    arrived: Vec<Line>,
    /// Written by this member, read by the others of the group.
    released: Line,
}

#[derive(Debug)]
struct Followed {
    leader: usize,
    arrived: Line,
    released: Line,
}

impl Gathering {
    /// The part of the member at `site`. Each group begins with its leader; the groups in which leaders follow come after
    /// those that they lead. No member follows twice.
    pub(super) fn of(groups: &[Vec<usize>], site: &mut Site) -> Result<Self, ArenaError> {
        let followers: usize = groups.iter().map(|group| group.len() - 1).sum();
        let arrived: PlaceSlice<CacheLine<AtomicU64>> = site.arena.slice(followers)?;
        let released: PlaceSlice<CacheLine<AtomicU64>> = site.arena.slice(groups.len())?;
        let arrived = |line: usize| arrived.place(line).expect("one for each follower");
        let mut part = Self { leads: Vec::new(), follows: None };
        let mut first = 0;
        for (group, members) in groups.iter().enumerate() {
            let (leader, others) = members.split_first().expect("a group has a leader");
            let released = || released.place(group).expect("one for each group");
            if *leader == site.rank {
                let arrived = (first..first + others.len()).map(arrived).collect();
                part.leads.push(Led { arrived, released: released() });
            } else if let Some(place) = others.iter().position(|&rank| rank == site.rank) {
                let (arrived, released) = (arrived(first + place), released());
                part.follows = Some(Followed { leader: *leader, arrived, released });
            }
            first += others.len();
        }
        Ok(part)
    }

    /// True if this member has no leader.
    pub(super) fn leads_all(&self) -> bool {
        self.follows.is_none()
    }

    /// Enters, and returns when all have.
    #[inline]
    pub(super) fn wait(&self, core: &mut Core) -> Result<(), Error> {
        self.gather(core)?;
        self.release(core)
    }

    /// Waits for all below, and tells the leader above.
    #[inline]
    pub(super) fn gather(&self, core: &mut Core) -> Result<(), Error> {
        let stamp = core.stamp.word();
        // An earlier call may have got this far before its limit ended it. The members below may then be in the next
        // operation.
        // ORDERING: Relaxed, this member's own
        if self.follows.as_ref().is_some_and(|follows| follows.arrived.load(Ordering::Relaxed) == stamp) {
            return Ok(());
        }
        for arrived in self.leads.iter().flat_map(|led| &led.arrived) {
            // ORDERING: Acquire, pairs with the Release below at the member that follows [gathered]
            core.wait_at_own_word(|| (arrived.load(Ordering::Acquire) == stamp).then_some(()))?;
        }
        if let Some(follows) = &self.follows {
            // ORDERING: Release, pairs with the Acquire above at the leader [gathered]
            follows.arrived.store(stamp, Ordering::Release);
            core.table.wake_word(follows.leader).notify();
        }
        Ok(())
    }

    /// Waits for the leader above, and releases all below.
    #[inline]
    pub(super) fn release(&self, core: &mut Core) -> Result<(), Error> {
        let stamp = core.stamp.word();
        if let Some(Followed { released, .. }) = &self.follows {
            // ORDERING: Acquire, pairs with the Release below at the leader [released]
            core.wait_at_common_word(|| (released.load(Ordering::Acquire) == stamp).then_some(()))?;
        }
        for led in self.leads.iter().rev() {
            // ORDERING: Release, pairs with the Acquire above at those who follow [released]
            led.released.store(stamp, Ordering::Release);
        }
        if !self.leads.is_empty() {
            core.table.common.notify();
        }
        Ok(())
    }
}
