//! The functions of libgomp that make teams or tasks, as far as the shim knows them.
//!
//! One that is not here may make a team or a task without the shim's knowledge, so that a program which imports it is refused.
//! Taken from `nm -D` of libgomp 12 and from the calls that GCC emits.

/// The beginnings of the names of all such functions, known or not.
const MAKERS: [&str; 4] = ["GOMP_parallel", "GOMP_task", "GOMP_target", "GOMP_teams"];

const KNOWN: &[&str] = &[
    "GOMP_parallel",
    "GOMP_parallel_end",
    "GOMP_parallel_loop_dynamic",
    "GOMP_parallel_loop_dynamic_start",
    "GOMP_parallel_loop_guided",
    "GOMP_parallel_loop_guided_start",
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    "GOMP_parallel_loop_nonmonotonic_dynamic",
    "GOMP_parallel_loop_nonmonotonic_guided",
    "GOMP_parallel_loop_nonmonotonic_runtime",
    "GOMP_parallel_loop_runtime",
    "GOMP_parallel_loop_runtime_start",
    "GOMP_parallel_loop_static",
    "GOMP_parallel_loop_static_start",
    "GOMP_parallel_reductions",
    "GOMP_parallel_sections",
    "GOMP_parallel_sections_start",
    "GOMP_parallel_start",
    "GOMP_target",
    "GOMP_target_data",
    "GOMP_target_data_ext",
    "GOMP_target_end_data",
    "GOMP_target_enter_exit_data",
    "GOMP_target_ext",
    "GOMP_target_update",
    "GOMP_target_update_ext",
    "GOMP_task",
    "GOMP_task_reduction_remap",
    "GOMP_taskgroup_end",
    "GOMP_taskgroup_reduction_register",
    "GOMP_taskgroup_reduction_unregister",
    "GOMP_taskgroup_start",
    "GOMP_taskloop",
    "GOMP_taskloop_ull",
    "GOMP_taskwait",
    "GOMP_taskwait_depend",
    "GOMP_taskwait_depend_nowait",
    "GOMP_taskyield",
    "GOMP_teams",
    "GOMP_teams4",
    "GOMP_teams_reg",
];

/// True of a function that may make teams or tasks without the shim's knowledge.
pub(crate) fn is_unknown_maker(name: &str) -> bool {
    MAKERS.iter().any(|maker| name.starts_with(maker)) && !KNOWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_makers_that_are_not_listed_are_unknown() {
        assert!(is_unknown_maker("GOMP_parallel_tiles") && is_unknown_maker("GOMP_taskgraph"));
        assert!(!is_unknown_maker("GOMP_parallel") && !is_unknown_maker("GOMP_loop_tiles"));
        assert!(KNOWN.is_sorted());
    }
}
