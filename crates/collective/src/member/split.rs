//! Parts of a group as groups of their own.
//!
//! **When to take it:** some members often meet or share values without the others: the members of a node, or a row of a
//! grid.
//! **When not:** for a single operation, as making a part takes some operations of the whole group and a plan.
//!
//! All members call [`Member::split`] and say which part they want to be in. Every member learns what all others said, and each
//! part is planned anew over its members' costs, as [`Group`](crate::Group) plans, by the settings of the whole group. Two
//! settings do not carry over: a tree given to the builder, as it spans all members, and racing. A member may be in the
//! whole group and in any number of parts at once. Operations of different groups are ordered only by the order of a
//! member's own calls: two members that enter two groups in crossed order wait for each other for ever.
//!
//! Among processes, each part takes its lines from the room of the whole group, and also some room of its own for later
//! use: a share, by its number of members, of a quarter of the remaining room. This memory belongs to the parts as long as
//! the whole group lives, even after their members have left. Among threads, it is freed when the last member drops the
//! part.
//!
//! A part fails by itself. A member lost to one part is lost to another group only if that group loses it too, as when it
//! panics or dies. If the whole group fails before a member can enter its part, the part loses it as if it had left.
//!
//! **Progress:** blocking. **Memory ordering:** what a member wrote before it split is visible afterwards to the members of
//! all parts.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(5).build()?;
//! let sums = group.run(|me| {
//!     let rank = me.rank() as u32;
//!     let mut same_parity = me.split(rank % 2, 0)?.expect("everybody named a color");
//!     same_parity.allreduce(rank, |a, b| a + b)
//! })?;
//! assert_eq!(sums, [6, 4, 6, 4, 6].map(Ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use corecast_base::ArenaError;
use corecast_base::sync::Arc;
use corecast_channel::{Plain, zeroed};

use super::memory::STEP;
use super::prepared::{self, Prepared};
use super::{GroupMemory, GroupPlan, Home, Member, ReservedMemory};
use crate::call::{Call, CallKind};
use crate::error::Error;
use crate::membership::{Origin, Step};

/// A member's answer: 1 for a part and 0 for none, the part's color, and the key's bits.
type Asked = [u64; 3];

/// The members of a part by rank in the whole group, in the order of their ranks in the part.
type Ranks = Vec<usize>;

/// The parts share the remaining room divided by this number.
const ROOM_DIVISOR: usize = 4;

impl Member {
    /// Makes one group of all members that name the same `color`, ranked by `key` and, where keys are equal, by their rank
    /// here. Returns this member's place in its group, or `None` if it named no color.
    ///
    /// All members call it, as an operation of the group like others.
    ///
    /// # Errors
    /// [`Error::Memory`] at all members alike if the room of a group of processes is used up, and [`Error::Corrupt`] if
    /// members of different versions would lay out different parts: either way the group stays as it was. Also the errors
    /// of [`gather_slice`](Self::gather_slice).
    pub fn split(&mut self, color: impl Into<Option<u32>>, key: i64) -> Result<Option<Self>, Error> {
        let asked = color.into().map_or([0; 3], |color| [1, u64::from(color), key as u64]);
        let outcome = self.split_by(asked);
        let core = &mut self.ends_mut().core;
        let has_failed =
            || matches!(core.check_fault(), Err(Error::MemberLost { .. } | Error::Mismatched { .. } | Error::Corrupt));
        if outcome.is_err() && has_failed() {
            core.give_up();
        }
        outcome
    }

    fn split_by(&mut self, asked: Asked) -> Result<Option<Self>, Error> {
        let parts = parts(&self.all_gather(asked)?);
        let own = parts.iter().position(|ranks| ranks.contains(&self.rank()));
        let plan = |me: &Self, own: usize| GroupPlan::of_part(me.ends().inputs.part(&parts[own]));
        // In a section lines are counted before any are laid out.
        let is_counted = self.ends().core.arena.is_shared();
        let planned = own.filter(|_| is_counted).map(|own| plan(self, own));
        let bytes = if is_counted { self.all_bytes(&parts, planned.as_ref())? } else { vec![0; parts.len()] };
        let mut arena = self.ends().core.arena.clone();
        let reserved =
            bytes.iter().map(|&bytes| ReservedMemory::reserve(&mut arena, bytes)).collect::<Result<Vec<_>, _>>()?;
        self.ends_mut().core.arena = arena;
        let part =
            own.map(|own| self.settle(&reserved[own], &parts[own], || planned.unwrap_or_else(|| plan(self, own))));
        let part = part.transpose()?;
        self.ends_mut().core.come();
        Ok(part)
    }

    /// The place of this member in a part whose memory was reserved.
    fn settle(
        &self,
        reserved: &ReservedMemory,
        ranks: &Ranks,
        plan: impl FnOnce() -> GroupPlan,
    ) -> Result<Self, ArenaError> {
        let core = &self.ends().core;
        let step = Step::Split { operation: core.operation + 1 };
        let origin = Origin { table: Arc::clone(&core.table), ranks: ranks.clone(), step };
        let processes = core.table.processes.as_ref().map(|processes| Arc::new(processes.part(ranks)));
        // In a section nobody shares it.
        let members = if core.arena.is_shared() { 1 } else { ranks.len() };
        let memory = reserved.memory(members, |arena| GroupMemory::new(plan(), arena, processes, Some(origin)))?;
        let rank = ranks.iter().position(|&rank| rank == core.rank).expect("the part is this member's");
        Ok(Self::new(memory.ends(rank)?, Home::Own { kept: self.kept() }))
    }

    /// The bytes of each part, including its room, if all of its members count the same and all parts fit.
    fn all_bytes(&mut self, parts: &[Ranks], own: Option<&GroupPlan>) -> Result<Vec<usize>, Error> {
        let counted = self.all_gather(own.map_or(Ok(0), GroupPlan::bytes)? as u64)?;
        // Members of different versions may plan or lay out differently.
        if parts.iter().any(|ranks| ranks.iter().any(|&rank| counted[rank] != counted[ranks[0]])) {
            return Err(Error::Corrupt);
        }
        let (arena, members) = (&self.ends().core.arena, self.size());
        let lines = |ranks: &Ranks| usize::try_from(counted[ranks[0]]).unwrap_or(usize::MAX);
        let bytes = parts.iter().fold(0_usize, |bytes, ranks| bytes.saturating_add(lines(ranks)));
        let left = arena.left().unwrap_or(usize::MAX);
        let Some(spare) = left.checked_sub(bytes) else {
            let used = arena.bytes();
            return Err(ArenaError::Full { bytes, used, len: used + left }.into());
        };
        let share = |ranks: &Ranks| spare / ROOM_DIVISOR / members * ranks.len() / STEP * STEP;
        Ok(parts.iter().map(|ranks| lines(ranks) + share(ranks)).collect())
    }

    /// The values of all members, by rank, at all of them.
    fn all_gather<T: Plain>(&mut self, value: T) -> Result<Vec<T>, Error> {
        let (root, members) = (self.ends().reduce_root, self.size());
        let call = Call::of(CallKind::Split);
        let gathered = self.run(Prepared { call, ..prepared::gather(self.rank_and_size(), root, value)? })?;
        let mut values = gathered.unwrap_or_else(|| vec![zeroed(); members]);
        self.run(Prepared { call, ..prepared::broadcast_slice(self.rank_and_size(), root, &mut values)? })?;
        Ok(values)
    }
}

/// The parts that members asked for, by color.
fn parts(asked: &[Asked]) -> Vec<Ranks> {
    let mut parts: BTreeMap<u64, Vec<(i64, usize)>> = BTreeMap::new();
    for (rank, &[wants, color, key]) in asked.iter().enumerate() {
        if wants == 1 {
            parts.entry(color).or_default().push((key as i64, rank));
        }
    }
    let by_key = |mut members: Vec<(i64, usize)>| {
        members.sort_unstable();
        members.into_iter().map(|(_, rank)| rank).collect()
    };
    parts.into_values().map(by_key).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_go_by_color_and_their_members_by_key_and_rank() {
        let asked = |color: u64, key: i64| [1, color, key as u64];
        let all = [asked(7, 5), asked(2, 0), [0; 3], asked(7, -5), asked(2, 0), asked(u64::from(u32::MAX), 1)];
        assert_eq!(parts(&all), [vec![1, 4], vec![3, 0], vec![5]]);
        assert_eq!(parts(&[[0; 3]; 2]), Vec::<Ranks>::new());
    }
}
