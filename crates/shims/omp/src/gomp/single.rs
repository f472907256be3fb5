//! `single` constructs: one member executes the construct. With a `copyprivate` clause it shows its values to all others.
//!
//! All members number the constructs of a region alike, and the first that raises the team's word to a construct's number
//! executes it. The runtime's function writes its word for every member. Here a member that comes late finds by a look that it
//! is not the first, and writes nothing.
//!
//! With `copyprivate`, the member that executes it shows the address of its values and ends an interval; the others end it too,
//! and then copy. The compiler adds a barrier behind the construct, so that the values stay until all have copied.

use std::ffi::c_void;
use std::ptr;

use super::barriers::call;
use crate::crossing::{end_interval, seat_of};
use crate::runtime::GOMP;
use crate::stub::{caller_first, caller_second};
use crate::team::{Seat, Team};
use crate::thread::here;

caller_first! {
    /// The start: true for the member that executes the construct.
    GOMP_single_start => start;
    /// The start with `copyprivate`: null for the member that executes the construct, and the address of its values for the
    /// others.
    GOMP_single_copy_start => copy_start;
}

caller_second! {
    /// The end, for the member that has executed the construct.
    GOMP_single_copy_end => copy_end;
}

extern "C" fn start(caller: *const c_void) -> bool {
    let Some(runtime) = GOMP.of(caller) else { return true };
    here(|thread| match seat_of(thread, runtime) {
        Some(seat) => takes(thread.come_to_single(seat)),
        // SAFETY: the program's call.
        None => runtime.functions.single_start.is_none_or(|real| unsafe { real() }),
    })
}

extern "C" fn copy_start(caller: *const c_void) -> *mut c_void {
    let Some(runtime) = GOMP.of(caller) else { return ptr::null_mut() };
    here(|thread| {
        let Some(seat) = seat_of(thread, runtime) else {
            let real = runtime.functions.single_copy_start;
            // SAFETY: the program's call.
            return real.map_or(ptr::null_mut(), |real| unsafe { real() });
        };
        let seat = thread.come_to_single(seat);
        if takes(seat) {
            return ptr::null_mut();
        }
        end_interval(thread, seat, || call(runtime.functions.barrier));
        team_of(seat).shown_copy()
    })
}

/// True if the thread executes the construct that it has come to.
#[inline]
fn takes(seat: Seat) -> bool {
    team_of(seat).takes_single(seat.single)
}

extern "C" fn copy_end(values: *mut c_void, caller: *const c_void) {
    let Some(runtime) = GOMP.of(caller) else { return };
    here(|thread| match seat_of(thread, runtime) {
        Some(seat) => {
            team_of(seat).show_copy(values);
            end_interval(thread, seat, || call(runtime.functions.barrier));
        }
        None => {
            if let Some(real) = runtime.functions.single_copy_end {
                // SAFETY: the program's call.
                unsafe { real(values) };
            }
        }
    });
}

fn team_of(seat: Seat) -> &'static Team {
    // SAFETY: a seat that is served has a team, which lives until the process ends.
    unsafe { &*seat.team }
}
