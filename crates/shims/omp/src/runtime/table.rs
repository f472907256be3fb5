//! The functions of an OpenMP runtime that the shim calls.

use std::ffi::{CStr, c_int, c_long, c_uint, c_void};

/// The body of a parallel region, as a compiler outlines it.
pub(crate) type Body = unsafe extern "C" fn(*mut c_void);
/// A location in the source, which libomp's compilers pass along.
pub(crate) type Ident = c_void;

/// Declares the table: each field is a function of the runtime, `None` where the runtime is too old, or of another family.
macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident = $name:ident: $kind:ty;)*) => {
        /// The functions of one runtime.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Functions {
            $($(#[$doc])* pub(crate) $field: Option<$kind>,)*
        }

        impl Functions {
            /// The functions that `find` knows by these names.
            ///
            /// # Safety
            /// - `find` returns functions of an OpenMP runtime with these names, or null.
            pub(crate) unsafe fn of(find: impl Fn(&CStr) -> *mut c_void) -> Self {
                $(
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    let found = find(CStr::from_bytes_with_nul(name).expect("a name with its end"));
                    // SAFETY: null, which is None, or a function that has had this signature in every release, by the caller.
                    let $field = unsafe { std::mem::transmute::<*mut c_void, Option<$kind>>(found) };
                )*
                Self { $($field,)* }
            }
        }
    };
}

type Region = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint);
type Sections = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint, c_uint);
type Teams = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint, c_uint);
type Loop = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_uint);
type ChunkedLoop = unsafe extern "C" fn(Body, *mut c_void, c_uint, c_long, c_long, c_long, c_long, c_uint);
/// A function of which only the address matters, or that has no parameters.
pub(crate) type Plain = unsafe extern "C" fn();
type Query = unsafe extern "C" fn() -> c_int;

functions! {
    barrier = GOMP_barrier: Plain;
    loop_end = GOMP_loop_end: Plain;
    loop_end_nowait = GOMP_loop_end_nowait: Plain;
    sections_end = GOMP_sections_end: Plain;
    sections_end_nowait = GOMP_sections_end_nowait: Plain;
    single_start = GOMP_single_start: unsafe extern "C" fn() -> bool;
    single_copy_start = GOMP_single_copy_start: unsafe extern "C" fn() -> *mut c_void;
    single_copy_end = GOMP_single_copy_end: unsafe extern "C" fn(*mut c_void);
    parallel = GOMP_parallel: Region;
    parallel_reductions = GOMP_parallel_reductions: unsafe extern "C" fn(Body, *mut c_void, c_uint, c_uint) -> c_uint;
    parallel_sections = GOMP_parallel_sections: Sections;
    parallel_loop_static = GOMP_parallel_loop_static: ChunkedLoop;
    parallel_loop_dynamic = GOMP_parallel_loop_dynamic: ChunkedLoop;
    parallel_loop_guided = GOMP_parallel_loop_guided: ChunkedLoop;
    parallel_loop_nonmonotonic_dynamic = GOMP_parallel_loop_nonmonotonic_dynamic: ChunkedLoop;
    parallel_loop_nonmonotonic_guided = GOMP_parallel_loop_nonmonotonic_guided: ChunkedLoop;
    parallel_loop_runtime = GOMP_parallel_loop_runtime: Loop;
    parallel_loop_nonmonotonic_runtime = GOMP_parallel_loop_nonmonotonic_runtime: Loop;
    parallel_loop_maybe_nonmonotonic_runtime = GOMP_parallel_loop_maybe_nonmonotonic_runtime: Loop;
    teams_reg = GOMP_teams_reg: Teams;
    /// The functions that follow may be passed on only: nothing here calls them.
    task = GOMP_task: Plain;
    taskloop = GOMP_taskloop: Plain;
    taskloop_ull = GOMP_taskloop_ull: Plain;
    target_ext = GOMP_target_ext: Plain;
    target_update_ext = GOMP_target_update_ext: Plain;
    target_enter_exit_data = GOMP_target_enter_exit_data: Plain;
    parallel_start = GOMP_parallel_start: Plain;
    parallel_loop_static_start = GOMP_parallel_loop_static_start: Plain;
    parallel_loop_dynamic_start = GOMP_parallel_loop_dynamic_start: Plain;
    parallel_loop_guided_start = GOMP_parallel_loop_guided_start: Plain;
    parallel_loop_runtime_start = GOMP_parallel_loop_runtime_start: Plain;
    parallel_sections_start = GOMP_parallel_sections_start: Plain;
    parallel_end = GOMP_parallel_end: Plain;
    level = omp_get_level: Query;
    thread_num = omp_get_thread_num: Query;
    num_threads = omp_get_num_threads: Query;
    max_threads = omp_get_max_threads: Query;
    cancellation = omp_get_cancellation: Query;
    proc_bind = omp_get_proc_bind: Query;
    num_procs = omp_get_num_procs: Query;
    kmpc_omp_task_alloc = __kmpc_omp_task_alloc: Plain;
    kmpc_omp_target_task_alloc = __kmpc_omp_target_task_alloc: Plain;
    kmpc_barrier = __kmpc_barrier: unsafe extern "C" fn(*mut Ident, i32);
}
