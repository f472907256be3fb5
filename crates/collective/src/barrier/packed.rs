//! Members that share a core or a second-level cache tell their arrivals by a word each of one line.
//!
//! Their leader reads all of them with one line, which stays in the cache they share; the leaders then gather at the first
//! of them, with a line each. Take it where siblings on a core are members. A line that moved between caches would cost a
//! transfer for every word, so members that share no near cache get no pack, and for them this is the flat barrier.
//!
//! Source: none; the idea of packed flags is that of the static tree barrier of J. Mellor-Crummey, M. Scott, Algorithms for
//! Scalable Synchronization on Shared-Memory Multiprocessors, 1991.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, LINE_BYTES, Place, PlaceSlice};

use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The members that share a line.
const PACK: usize = LINE_BYTES / size_of::<AtomicU64>();

/// The stamp of the last operation that each member of a pack but its leader has entered, side by side.
type Arrivals = [AtomicU64; PACK];

/// One member's part.
#[derive(Debug)]
pub(crate) struct Packed {
    /// `None` if it is alone.
    pack: Option<Pack>,
    /// The gathering of leaders; it has no groups at other members.
    leaders: Gathering,
}

#[derive(Debug)]
struct Pack {
    /// Each word written by the member at that place, all read by the leader.
    arrived: Place<CacheLine<Arrivals>>,
    /// Written by the leader, read by the others: the stamp of the last operation released.
    released: Place<CacheLine<AtomicU64>>,
    role: Role,
}

#[derive(Debug)]
enum Role {
    /// Reads this many words.
    Leads(usize),
    /// Writes the word at `place`.
    Follows { leader: usize, place: usize },
}

impl Family for Packed {
    const NAME: &'static str = "packed";
    const ABOUT: &'static str = "members that share a core or near cache tell their leader by words of one line";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let packs = packs(setup.problem.siblings());
        let arrived: PlaceSlice<CacheLine<Arrivals>> = site.arena.slice(packs.len())?;
        let released: PlaceSlice<CacheLine<AtomicU64>> = site.arena.slice(packs.len())?;
        let leaders = packs.iter().map(|members| members[0]).collect();
        let leaders = Gathering::of(&[leaders], site)?;
        let place_in = |pack: &Vec<usize>| pack.iter().position(|&rank| rank == site.rank);
        let mut found =
            packs.iter().enumerate().filter_map(|(pack, members)| Some((pack, members, place_in(members)?)));
        let (number, members, place) = found.next().expect("everybody is in a pack");
        let role = match place.checked_sub(1) {
            Some(place) => Role::Follows { leader: members[0], place },
            None => Role::Leads(members.len() - 1),
        };
        const EACH: &str = "one for each pack";
        let pack = || Pack {
            arrived: arrived.place(number).expect(EACH),
            released: released.place(number).expect(EACH),
            role,
        };
        Ok(Self { pack: (members.len() > 1).then(pack), leaders })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut groups = packs(setup.problem.siblings());
        groups.push(groups.iter().map(|members| members[0]).collect());
        let mut times = Times::of(setup.problem);
        times.gather(&groups);
        times.release(&groups);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let stamp = core.stamp.word();
        let Some(Pack { arrived, released, role }) = &self.pack else { return self.leaders.wait(core) };
        match *role {
            Role::Leads(others) => {
                for arrived in &arrived[..others] {
                    // ORDERING: Acquire, pairs with the Release below at that member [packed]
                    core.wait_at_own_word(|| (arrived.load(Ordering::Acquire) == stamp).then_some(()))?;
                }
                self.leaders.wait(core)?;
                // ORDERING: Release, pairs with the Acquire below at the others [unpacked]
                released.store(stamp, Ordering::Release);
                core.table.common.notify();
                Ok(())
            }
            Role::Follows { leader, place } => {
                // ORDERING: Release, pairs with the Acquire above at the leader [packed]
                arrived[place].store(stamp, Ordering::Release);
                core.table.wake_word(leader).notify();
                // ORDERING: Acquire, pairs with the Release above at the leader [unpacked]
                core.wait_at_common_word(|| (released.load(Ordering::Acquire) == stamp).then_some(()))
            }
        }
    }
}

/// The members of each pack, its leader first: siblings, as many as a line has words.
fn packs(siblings: &[u32]) -> Vec<Vec<usize>> {
    let mut clusters = vec![Vec::new(); siblings.len()];
    siblings.iter().enumerate().for_each(|(member, &cluster)| clusters[cluster as usize].push(member));
    clusters.iter().flat_map(|cluster: &Vec<usize>| cluster.chunks(PACK)).map(<[usize]>::to_vec).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn packs_are_siblings_and_fit_into_a_word() {
        assert_eq!(packs(&[0, 1, 0, 2, 1]), [vec![0, 2], vec![1, 4], vec![3]]);
        assert_eq!(packs(&[0; 18]).iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 2]);
    }
}
