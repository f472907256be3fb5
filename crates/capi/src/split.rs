//! Parts of a group as groups of their own.
//!
//! A part gives C a second member, and C owns both: neither takes the place of the other, and they leave in any order.

use std::ptr;

use corecast::Member as Place;

use crate::argument::within;
use crate::member::Member;

/// The color of a member that wants to be in no part.
pub const NO_COLOR: i64 = -1;

c_functions! {
    /// Makes one group of all members that name the same `color`, from 0 to UINT32_MAX, ranked by `key`, and by their rank
    /// here where keys are equal. `part` is this member's place in its part, which it leaves like any group; NULL for
    /// members that name CORECAST_NO_COLOR. All members call it, as an operation of the group like others, and stay in the
    /// whole group. CORECAST_SYSTEM, for all members alike, if the memory of a group of processes is used up.
    ///
    /// Operations of a part are ordered with those of the whole group only by the calls of each member: two members that
    /// enter two groups in crossed order wait for each other for ever. A part fails by itself.
    safe fn corecast_member_split(member: &mut Member, color: i64, key: i64) -> (part: *mut Member) {
        let color = within(color, NO_COLOR, i64::from(u32::MAX), "color")?;
        // Only that of no part is negative.
        let color = u32::try_from(color).ok();
        let part = member.operate(|place: &mut Place| place.split(color, key))?;
        part.map_or(ptr::null_mut(), |place| Box::into_raw(Box::new(Member::new(place))))
    }
}
