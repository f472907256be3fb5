//! Barriers, and the ends of constructs that have one.

use std::ffi::c_void;

use crate::crossing::{end_interval, seat_of};
use crate::runtime::{Functions, GOMP, Plain, Runtime};
use crate::statistics::{self, BARRIERS};
use crate::stub::caller_first;
use crate::thread::here;

caller_first! {
    /// An explicit barrier, or the one at the end of a static loop or of a `single` construct.
    GOMP_barrier => barrier;
    /// The end of a loop whose iterations the runtime gives out.
    GOMP_loop_end => loop_end;
    /// The end of sections.
    GOMP_sections_end => sections_end;
}

extern "C" fn barrier(caller: *const c_void) {
    let Some(runtime) = GOMP.of(caller) else { return };
    end(runtime, None, runtime.functions.barrier);
}

extern "C" fn loop_end(caller: *const c_void) {
    let Some(runtime) = GOMP.of(caller) else { return };
    let Functions { loop_end, loop_end_nowait, .. } = runtime.functions;
    end(runtime, loop_end_nowait, loop_end);
}

extern "C" fn sections_end(caller: *const c_void) {
    let Some(runtime) = GOMP.of(caller) else { return };
    let Functions { sections_end, sections_end_nowait, .. } = runtime.functions;
    end(runtime, sections_end_nowait, sections_end);
}

/// Ends a construct: by its form without a barrier and ours if this thread is in a team that is served, else by the runtime's
/// own form.
#[inline]
fn end(runtime: &'static Runtime, without_barrier: Option<Plain>, whole: Option<Plain>) {
    here(|thread| match seat_of(thread, runtime) {
        Some(seat) => {
            call(without_barrier);
            end_interval(thread, seat, || call(runtime.functions.barrier));
        }
        None => {
            statistics::of(BARRIERS).pass();
            call(whole);
        }
    });
}

#[inline]
pub(super) fn call(function: Option<Plain>) {
    if let Some(function) = function {
        // SAFETY: called where the program calls the function of this name, or another form of the same construct.
        unsafe { function() };
    }
}
