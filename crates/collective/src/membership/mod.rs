//! The members of a group as all of them see each other: those that left, died or called something else, and those waited for.
//!
//! - [`MemberTable`]: the state of every member and the fault of the group;
//! - [`CallLog`]: the calls that each member has begun;
//! - [`MemberProcesses`]: the processes behind the members, where they are processes;
//! - [`Origin`]: the group that a part was made from;
//! - [`Survivors`]: the agreement of the members that are left after a failure;
//! - [`Site`]: the place where one member's part of the group is built.

mod calls;
mod origin;
mod processes;
mod site;
mod survivors;
mod table;

pub(crate) use calls::{CallLog, Difference};
pub(crate) use origin::{Origin, Step};
pub(crate) use processes::MemberProcesses;
pub(crate) use site::Site;
pub(crate) use survivors::{Survivor, Survivors};
pub(crate) use table::{GAVE_UP, MemberTable, SUCCEEDED, SUSPICIOUS};

#[cfg(all(test, not(loom)))]
pub(crate) use site::tests;
