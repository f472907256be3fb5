//! `single` constructs with a `copyprivate` clause: one member executes the construct, and shows its values to all others.
//!
//! The member that executes it shows the address of its values and ends an interval; the others end it too, and then copy. The
//! compiler adds a barrier behind the construct, so that the values stay until all have copied.

use std::ffi::c_void;
use std::ptr;

use super::barriers::call;
use crate::crossing::{end_interval, seat_of};
use crate::runtime::GOMP;
use crate::stub::{caller_first, caller_second};
use crate::team::{Seat, Team};
use crate::thread::here;

caller_first! {
    /// The start: null for the member that executes the construct, and the address of its values for the others.
    GOMP_single_copy_start => copy_start;
}

caller_second! {
    /// The end, for the member that has executed the construct.
    GOMP_single_copy_end => copy_end;
}

extern "C" fn copy_start(caller: *const c_void) -> *mut c_void {
    let Some(runtime) = GOMP.of(caller) else { return ptr::null_mut() };
    here(|thread| {
        let served = seat_of(thread, runtime).zip(runtime.functions.single_start);
        let Some((seat, single_start)) = served else {
            let real = runtime.functions.single_copy_start;
            // SAFETY: the program's call.
            return real.map_or(ptr::null_mut(), |real| unsafe { real() });
        };
        // SAFETY: every member of the team comes here, as it does for a construct that copies nothing.
        if unsafe { single_start() } {
            return ptr::null_mut();
        }
        end_interval(thread, seat, || call(runtime.functions.barrier));
        team_of(seat).shown_copy()
    })
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
