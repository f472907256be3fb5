//! Groups whose members are threads of the test.

use std::ptr;
use std::thread;

use corecast_c::group::*;
use corecast_c::member::*;

use crate::calling::{object, output, owned};

/// All zeroes but the size and the members.
pub(crate) fn group_config(members: u32) -> GroupConfig {
    GroupConfig { size: size_of::<GroupConfig>(), members, wait: 0, pin: 0, reserved: 0, plan: ptr::null() }
}

pub(crate) fn group(members: u32) -> *mut Group {
    let config = group_config(members);
    // SAFETY: a configuration with its size.
    output(|group| unsafe { corecast_group_create(&raw const config, group) })
}

/// A member on its way to its thread. It leaves when this is dropped, so that no member waits for one whose test has
/// failed.
struct Handed(*mut Member);

impl Drop for Handed {
    fn drop(&mut self) {
        corecast_member_leave(owned(self.0));
    }
}

// SAFETY: one thread at a time uses it.
unsafe impl Send for Handed {}

/// Runs this as every member, each on a thread of its own, and leaves.
pub(crate) fn run(group: *mut Group, body: impl Fn(&mut Member) + Sync) {
    let members = corecast_group_members(Some(object(group)));
    let join = |rank| Handed(output(|member| corecast_group_join(Some(object(group)), rank, member)));
    // All of them join before any member leaves.
    let handed: Vec<Handed> = (0..members).map(join).collect();
    thread::scope(|scope| {
        for handed in handed {
            let body = &body;
            scope.spawn(move || {
                let handed = handed;
                body(object(handed.0));
            });
        }
    });
}
