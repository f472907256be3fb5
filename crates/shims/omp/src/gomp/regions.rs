//! Regions with a team.
//!
//! The runtime is given a trampoline in place of the region's body, and the team in place of its data. Each member of the team
//! that the runtime makes enters the trampoline, takes a seat and calls the body. At its first barrier it asks the runtime
//! for its number, and for the number of members, of which the runtime may give fewer than were wanted.

use std::ffi::{c_long, c_uint, c_void};
use std::ptr;

use crate::pool;
use crate::runtime::{Body, GOMP, Runtime};
use crate::statistics::{self, REGIONS};
use crate::team::Team;
use crate::thread::here;

/// Exports entries of which each takes a body, its data, the wanted number of threads and further numbers.
macro_rules! regions {
    ($($name:ident = $field:ident($($argument:ident: $kind:ty),*);)*) => {$(
        /// As the runtime's function of this name, which it calls.
        ///
        /// # Safety
        /// - As the runtime's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(body: Body, data: *mut c_void, threads: c_uint, $($argument: $kind),*) {
            let runtime = GOMP.of(body as *const c_void);
            let Some((runtime, real)) = runtime.and_then(|runtime| Some((runtime, runtime.functions.$field?))) else {
                // SAFETY: the body and its data belong together, by the caller.
                return unsafe { body(data) };
            };
            // SAFETY: as the caller's call, with a body and its data.
            let call = |body, data| unsafe { real(body, data, threads, $($argument),*) };
            fork(runtime, threads, |team| {
                match team {
                    // SAFETY: this thread is the team's master, and between two of its regions.
                    Some(team) => unsafe { team.open(Some(body), data, runtime, runtime.level() + 1) },
                    None => return call(body, data),
                }
                call(enter, team.map_or(ptr::null_mut(), address))
            });
        }
    )*};
}

regions! {
    GOMP_parallel = parallel(flags: c_uint);
    GOMP_parallel_sections = parallel_sections(count: c_uint, flags: c_uint);
    GOMP_parallel_loop_static =
        parallel_loop_static(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic =
        parallel_loop_dynamic(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided =
        parallel_loop_guided(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic =
        parallel_loop_nonmonotonic_dynamic(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided =
        parallel_loop_nonmonotonic_guided(start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime = parallel_loop_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime =
        parallel_loop_nonmonotonic_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime =
        parallel_loop_maybe_nonmonotonic_runtime(start: c_long, end: c_long, step: c_long, flags: c_uint);
}

/// As the runtime's function of this name, which it calls: a region whose tasks reduce. Returns the number of members.
///
/// # Safety
/// - As the runtime's.
#[unsafe(no_mangle)]
unsafe extern "C" fn GOMP_parallel_reductions(body: Body, data: *mut c_void, threads: c_uint, flags: c_uint) -> c_uint {
    let runtime = GOMP.of(body as *const c_void);
    let real = runtime.and_then(|runtime| Some((runtime, runtime.functions.parallel_reductions?)));
    // Only the runtime can register what is reduced, where the body looks for it.
    let Some((runtime, real)) = real else { std::process::abort() };
    fork(runtime, threads, |team| {
        let Some(team) = team else {
            // SAFETY: the caller's call.
            return unsafe { real(body, data, threads, flags) };
        };
        // SAFETY: this thread is the team's master, and between two of its regions.
        unsafe { team.open(Some(body), data, runtime, runtime.level() + 1) };
        // SAFETY: as before; the data of such a region begin with the address of what is reduced.
        unsafe { team.copy_first_word(data.cast()) };
        // SAFETY: the caller's call, with a body and its data.
        unsafe { real(enter, address(team), threads, flags) }
    })
}

/// Calls `call` with the team for a region of this many threads, 0 for as many as the runtime likes; with none if the region is
/// not served.
///
/// A region that is not served has no seats, not even that of the thread that forks it. The level does not tell it from the
/// region around it: a target region that runs on the host begins at level 0, so a region of one thread in it has the level of
/// the team outside, and a barrier in it would be taken for one of that team.
#[inline]
fn fork<R>(runtime: &'static Runtime, threads: c_uint, call: impl FnOnce(Option<&'static Team>) -> R) -> R {
    if runtime.has_tools {
        // The runtime tells the shim, its tool, of the team. If the runtime may not call tools, no thread has a seat.
        return call(None);
    }
    let members = if threads == 0 { runtime.max_threads().unsigned_abs() } else { threads };
    if members < 2 || !runtime.is_served() {
        statistics::of(REGIONS).pass();
        return here(|thread| thread.without_seat(|| call(None)));
    }
    here(|thread| {
        let team = pool::team_for(thread, members as usize);
        let depth = thread.depth.get();
        thread.depth.set(depth + 1);
        let result = match team {
            Some(team) => {
                let result = call(Some(team));
                team.close();
                statistics::of(REGIONS).serve();
                result
            }
            None => {
                statistics::of(REGIONS).pass();
                thread.without_seat(|| call(None))
            }
        };
        thread.depth.set(depth);
        result
    })
}

fn address(team: &'static Team) -> *mut c_void {
    ptr::from_ref(team).cast_mut().cast()
}

/// The part of each member: it takes its seat, and calls the region's body.
unsafe extern "C" fn enter(team: *mut c_void) {
    // SAFETY: the team that the master has forked; it lives until the process ends.
    let team = unsafe { &*team.cast::<Team>() };
    let (body, data) = team.body();
    let Some(body) = body else { return };
    here(|thread| {
        let before = thread.sit(team.unasked_seat());
        // SAFETY: the body and the data that the caller of the region has given.
        unsafe { body(data) };
        Team::leave(thread.sit(before));
    });
}
