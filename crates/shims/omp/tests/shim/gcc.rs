//! Programs of GCC on its own runtime.

use crate::launch::{Compiler, program};

/// Fewer members than CPUs, as many, and up to four for each of two.
const THREADS: [&str; 6] = ["1", "2", "3", "4", "7", "8"];

fn is_the_same_for(name: &str, threads: &[&str], variables: &[(&str, &str)]) {
    let Some(program) = program(Compiler::Gcc, name) else { return };
    for threads in threads {
        program.is_the_same(&[threads], variables);
    }
}

#[test]
fn teams_loops_sections_tasks_and_nested_teams() {
    is_the_same_for("teams", &THREADS, &[]);
}

#[test]
fn teams_larger_than_one_line_for_each() {
    is_the_same_for("teams", &["9", "17"], &[]);
}

#[test]
fn values_are_copied_to_all_members() {
    is_the_same_for("copyprivate", &["1", "2", "3"], &[]);
}

#[test]
fn one_member_executes_a_single_construct() {
    is_the_same_for("singles", &THREADS, &[]);
    is_the_same_for("singles", &["17"], &[]);
}

#[test]
fn orphaned_constructs_and_sizes_that_change() {
    is_the_same_for("varied", &["1", "4", "9"], &[]);
    is_the_same_for("varied", &["4"], &[("OMP_DYNAMIC", "true")]);
    is_the_same_for("varied", &["4"], &[("OMP_THREAD_LIMIT", "3")]);
}

#[test]
fn cancelled_constructs() {
    is_the_same_for("cancelled", &["1", "2", "4"], &[]);
    is_the_same_for("cancelled", &["1", "2", "4"], &[("OMP_CANCELLATION", "true")]);
}

#[test]
fn processes_that_are_forked() {
    is_the_same_for("forked", &["1", "2", "4"], &[]);
}

#[test]
fn tasks_and_target_regions_that_end_late() {
    is_the_same_for("deferred", &["1", "2", "4"], &[]);
}

#[test]
fn entries_of_old_compilers() {
    is_the_same_for("legacy", &["1", "2", "4"], &[]);
}

#[test]
fn threads_with_teams_of_their_own_among_signals() {
    is_the_same_for("masters", &["1", "2", "4"], &[]);
}

#[test]
fn regions_deeper_than_what_is_served() {
    is_the_same_for("deep", &["12"], &[]);
}

#[test]
fn every_way_to_wait() {
    for policy in ["active", "passive"] {
        is_the_same_for("teams", &["2", "3"], &[("OMP_WAIT_POLICY", policy)]);
    }
}

#[test]
fn threads_that_are_bound_to_cpus() {
    is_the_same_for("teams", &["2", "5"], &[("OMP_PROC_BIND", "close"), ("OMP_PLACES", "cores")]);
}
