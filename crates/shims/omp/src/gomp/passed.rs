//! Calls that are passed on as they are, after a look: tasks, which are announced to the team, and regions from compilers before
//! GCC 4.9, which the shim does not see from inside.
//!
//! Their arguments have changed between releases of GCC, and are not touched.

use std::ffi::c_void;

use crate::crossing::announce_task;
use crate::runtime::{Body, Functions, GOMP, Plain};
use crate::statistics;
use crate::stub::{diverted, diverted_task};
use crate::thread::here;

diverted_task! {
    /// As the runtime's function of this name, which it becomes.
    GOMP_task => task;
}

/// The first task of this thread in an interval, or since it has left a team. Further ones need no announcement, and go straight
/// on where all callers mean one runtime and nobody counts tasks.
extern "C" fn task(caller: *const c_void) -> *const c_void {
    announce_task();
    let real = real(caller, |functions| functions.task);
    if GOMP.is_one() && !statistics::are_kept() {
        here(|thread| thread.send_tasks_to(real));
    }
    real
}

/// Exports entries that announce a task, and those that hide the seat of this thread until the region ends.
macro_rules! passed {
    ($look:ident: $($name:ident, $handler:ident, $field:ident;)*) => {
        diverted! {$(
            /// As the runtime's function of this name, which it becomes.
            $name => $handler;
        )*}
        $(extern "C" fn $handler(caller: *const c_void) -> *const c_void {
            $look();
            real(caller, |functions| functions.$field)
        })*
    };
}

passed! { announce_task:
    GOMP_taskloop, taskloop, taskloop;
    GOMP_taskloop_ull, taskloop_ull, taskloop_ull;
    GOMP_target_ext, target_ext, target_ext;
    GOMP_target_update_ext, target_update_ext, target_update_ext;
    GOMP_target_enter_exit_data, target_enter_exit_data, target_enter_exit_data;
}

passed! { hide_seat:
    GOMP_parallel_start, parallel_start, parallel_start;
    GOMP_parallel_loop_static_start, parallel_loop_static_start, parallel_loop_static_start;
    GOMP_parallel_loop_dynamic_start, parallel_loop_dynamic_start, parallel_loop_dynamic_start;
    GOMP_parallel_loop_guided_start, parallel_loop_guided_start, parallel_loop_guided_start;
    GOMP_parallel_loop_runtime_start, parallel_loop_runtime_start, parallel_loop_runtime_start;
    GOMP_parallel_sections_start, parallel_sections_start, parallel_sections_start;
}

passed! { show_seat:
    GOMP_parallel_end, parallel_end, parallel_end;
}

/// As the runtime's function of this name, which it calls: a league of teams, of which no thread is in a team that is served.
///
/// # Safety
/// - As the runtime's.
#[unsafe(no_mangle)]
unsafe extern "C" fn GOMP_teams_reg(body: Body, data: *mut c_void, teams: u32, threads: u32, flags: u32) {
    let runtime = GOMP.of(body as *const c_void);
    let Some(real) = runtime.and_then(|runtime| runtime.functions.teams_reg) else {
        // SAFETY: the body and its data belong together, by the caller.
        return unsafe { body(data) };
    };
    // SAFETY: the caller's call.
    here(|thread| thread.without_seat(|| unsafe { real(body, data, teams, threads, flags) }));
}

fn hide_seat() {
    here(|thread| thread.hidden.push(thread.stand_up()));
}

/// Gives back the seat of before the region, if it was hidden.
fn show_seat() {
    here(|thread| {
        if let Some(seat) = thread.hidden.pop() {
            thread.sit(seat);
        }
    });
}

/// The function that a call goes on to.
fn real(caller: *const c_void, choose: impl FnOnce(&Functions) -> Option<Plain>) -> *const c_void {
    let function = GOMP.of(caller).and_then(|runtime| choose(&runtime.functions));
    function.unwrap_or(nothing) as *const c_void
}

/// Stands for a function that no runtime has.
unsafe extern "C" fn nothing() {}
