//! A group of the remaining members when a group has failed.
//!
//! C owns the new member as well as the old one, which it still has to leave; what was made of the old one has to be closed
//! before. The ranks of the lost members are written where C has room, as far as they fit.

use std::mem::MaybeUninit;

use corecast::Member as Place;
use corecast::collective::nodes::{Error as FarError, Member as FarPlace, Shrunk as FarRest};
use corecast::collective::{Error, Shrunk as Rest};

use crate::argument::elements_mut;
use crate::error::Failure;
use crate::member::Member;

/// The result for a member of a failed group that goes on with the remaining members.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Shrunk {
    /// Its rank in the group that failed.
    pub old_rank: u32,
    /// How many members of the failed group are not in the new one.
    pub gone: u32,
    /// How many operations this member has completed there.
    pub completed: u64,
    /// The largest such number among the members of the new group: a member with fewer has to get the difference from one
    /// of them.
    pub highest: u64,
}

/// Goes on with the remaining members, and writes the ranks of the others where C has room for them.
fn shrink(
    member: &mut Member,
    gone_to: &mut [MaybeUninit<u32>],
    shrink: impl FnOnce(&mut Place) -> Result<Rest, Error>,
    shrink_far: impl FnOnce(&mut FarPlace) -> Result<FarRest, FarError>,
) -> Result<(Member, Shrunk), Failure> {
    if member.is_far() {
        let FarRest { me, old_rank, gone, completed, highest, .. } = member.operate_far(shrink_far)?;
        gone_to.iter_mut().zip(&gone).for_each(|(to, &rank)| _ = to.write(rank as u32));
        return Ok((
            Member::far(me),
            Shrunk { old_rank: old_rank as u32, gone: gone.len() as u32, completed, highest },
        ));
    }
    let Rest { me, old_rank, gone, completed, highest, .. } = member.operate(shrink)?;
    gone_to.iter_mut().zip(&gone).for_each(|(to, &rank)| _ = to.write(rank as u32));
    Ok((Member::new(me), Shrunk { old_rank: old_rank as u32, gone: gone.len() as u32, completed, highest }))
}

c_functions! {
    /// Makes a group of the remaining members of this one, which has failed, with new ranks in the order of the old ones.
    /// `left` is this member's place in it. All remaining members call it, and wait until each member has called it, has
    /// left or has died; they go on waiting for a member that neither calls nor leaves. Close all objects made of the
    /// member before.
    ///
    /// `gone` has room for `room` ranks, and may be NULL for 0: the ranks of the lost members are written there, ascending,
    /// as far as they fit; `shrunk` has their number. Room for one less than the members of the failed group is always
    /// enough.
    ///
    /// The member stays in the failed group until it leaves, and can do nothing there. CORECAST_INVALID_ARGUMENT if the group has
    /// not failed; CORECAST_TAKEN if this member is in the new group already; CORECAST_SYSTEM, for all members alike, if the
    /// memory of a group of processes has no room for it.
    unsafe fn corecast_member_shrink(
        member: &mut Member,
        gone: *mut u32,
        room: usize
    ) -> (left: new Member, shrunk: Shrunk) {
        // SAFETY: C passes room for `room` ranks.
        let gone = unsafe { elements_mut(gone.cast(), room, "gone") }?;
        shrink(member, gone, Place::shrink, FarPlace::shrink)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds. After CORECAST_TIMEOUT, whose message names the members that
    /// have neither called nor left, the others go on waiting for this member, which may call it again, or leave. In a group over
    /// several machines late members of other nodes are CORECAST_SYSTEM, and the process has to end: the others wait for that.
    unsafe fn corecast_member_shrink_timeout_ns(
        member: &mut Member,
        timeout_ns: Duration,
        gone: *mut u32,
        room: usize
    ) -> (left: new Member, shrunk: Shrunk) {
        // SAFETY: C passes room for `room` ranks.
        let gone = unsafe { elements_mut(gone.cast(), room, "gone") }?;
        shrink(member, gone, |place| place.shrink_timeout(timeout_ns), |place| place.shrink_timeout(timeout_ns))?
    }
}
