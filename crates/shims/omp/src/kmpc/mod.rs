//! The entries of LLVM's runtime and of Intel's, which programs call that Clang compiled.
//!
//! - `tool`: the runtime tells tools of its teams; the shim is one, so it needs no trampoline;
//! - this file: barriers, and allocations of tasks, which are announced.
//!
//! Programs that GCC compiled run on LLVM's runtime too. Its `GOMP_barrier` calls `__kmpc_barrier` by name, and so comes here;
//! but a thread has no seat while it is inside the runtime's barrier.
//!
//! `__kmpc_cancel_barrier` is never replaced. `__kmpc_copyprivate` and `__kmpc_reduce` have barriers inside that are not
//! exported.

mod tool;

use std::ffi::c_void;

use crate::crossing::{announce_task, end_interval, seat_of};
use crate::runtime::{Functions, Ident, KMPC, Plain};
use crate::statistics::{self, BARRIERS};
use crate::stub::{caller_third, diverted};
use crate::thread::here;

caller_third! {
    /// A barrier, explicit or at the end of a construct.
    __kmpc_barrier => barrier;
}

diverted! {
    /// As the runtime's function of this name, which it becomes: every task is allocated before it is created.
    __kmpc_omp_task_alloc => task_alloc;
    /// As the runtime's function of this name, which it becomes.
    __kmpc_omp_target_task_alloc => target_task_alloc;
}

extern "C" fn barrier(location: *mut Ident, thread_number: i32, caller: *const c_void) {
    let runtime = KMPC.of(caller);
    let Some((runtime, real)) = runtime.and_then(|runtime| Some((runtime, runtime.functions.kmpc_barrier?))) else {
        return;
    };
    // SAFETY: the program's call.
    let call = || unsafe { real(location, thread_number) };
    here(|thread| match seat_of(thread, runtime) {
        Some(seat) => end_interval(thread, seat, call),
        None => {
            statistics::of(BARRIERS).pass();
            call();
        }
    });
}

extern "C" fn task_alloc(caller: *const c_void) -> *const c_void {
    announced(caller, |functions| functions.kmpc_omp_task_alloc)
}

extern "C" fn target_task_alloc(caller: *const c_void) -> *const c_void {
    announced(caller, |functions| functions.kmpc_omp_target_task_alloc)
}

/// The function that the call goes on to.
fn announced(caller: *const c_void, choose: impl FnOnce(&Functions) -> Option<Plain>) -> *const c_void {
    announce_task();
    let function = KMPC.of(caller).and_then(|runtime| choose(&runtime.functions));
    function.unwrap_or(nothing) as *const c_void
}

/// Stands for a function that no runtime has.
unsafe extern "C" fn nothing() {}
