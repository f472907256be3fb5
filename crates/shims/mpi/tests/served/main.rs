//! MPI programs with the object before their library, under each MPI that is installed.
//!
//! `program.c` has a case for each rule of the design. Every run has processes of its own and a limit of time.

mod launch;
mod many_launches;

use corecast_testing::preloads;
use launch::{Mpi, Run, fortran_program, installed, private_program, refusing_library};

/// The numbers of ranks with which most cases run; this may be more than there are CPUs.
const RANKS: [usize; 3] = [2, 3, 4];

/// Runs a case under every MPI, in which some calls of this function are served.
fn run_served(case: &str, ranks: &[usize], function: &str) {
    for mpi in installed(case) {
        for &ranks in ranks {
            let told = Run::of(&mpi, case, ranks).finish();
            assert!(told.is_success && told.output.contains("ok"), "{mpi}, {ranks} ranks, {case}: {told:?}");
            assert!(told.served(function) > 0, "{mpi}, {ranks} ranks, {case}: {told:?}");
        }
    }
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    run_served("counters", &RANKS, "MPI_Barrier");
    run_served("counters", &[8], "MPI_Allreduce");
}

#[test]
fn pending_messages_go_on_in_a_barrier() {
    run_served("progress", &RANKS, "MPI_Barrier");
}

#[test]
fn ranks_may_have_different_types_of_one_signature() {
    run_served("derived", &RANKS, "MPI_Bcast");
}

#[test]
fn values_of_every_length_reach_every_root() {
    run_served("lengths", &RANKS, "MPI_Reduce");
}

#[test]
fn parts_of_every_length_and_type_reach_all() {
    run_served("gathered", &RANKS, "MPI_Allgather");
    for mpi in installed("gathered by many") {
        let told = Run::of(&mpi, "gathered", 6).finish();
        assert!(told.is_success && told.served("MPI_Allgather") == 0, "{mpi}: {told:?}");
    }
}

#[test]
fn the_library_tells_once_of_a_handle_that_no_communicator_has() {
    run_served("null", &[2], "MPI_Barrier");
}

#[test]
fn communicators_that_come_and_go_have_groups_of_their_own() {
    run_served("duplicates", &[2, 3], "MPI_Allreduce");
}

#[test]
fn parts_are_served_and_communicators_between_them_are_not() {
    run_served("parts", &[3, 4], "MPI_Allreduce");
}

#[test]
fn operations_of_the_program_are_the_librarys() {
    run_served("operations", &[3], "MPI_Barrier");
}

#[test]
fn every_type_is_known_that_an_operation_takes() {
    for mpi in installed("types") {
        let told = Run::of(&mpi, "types", 2).finish();
        let calls = told.output.split("calls ").nth(1).and_then(|rest| rest.split(',').next()?.parse::<u64>().ok());
        assert!(told.is_success && calls.is_some_and(|calls| calls > 60), "{mpi}: {told:?}");
        assert_eq!(Some(told.served("MPI_Allreduce")), calls, "{mpi}: {told:?}");
    }
}

/// An allocator in either order, and AddressSanitizer's runtime, which is to come first. MPI's own leaks are not reported.
#[test]
fn libraries_that_users_preload_beside_the_object() {
    let asan = preloads::sanitizer("asan", "ranks under AddressSanitizer");
    let jemalloc = preloads::jemalloc("ranks beside an allocator");
    for mpi in installed("preloads") {
        let run = || Run::of(&mpi, "lengths", 2).of_all_ranks("ASAN_OPTIONS", "detect_leaks=0");
        let behind = asan.iter().chain(&jemalloc).map(|library| run().behind(library));
        let before = jemalloc.iter().map(|library| run().before(library));
        for run in behind.chain(before) {
            let told = run.finish();
            assert!(told.is_success && told.output.contains("ok"), "{mpi}: {told:?}");
            assert!(told.served("MPI_Reduce") > 0, "{mpi}: {told:?}");
        }
    }
}

/// To found a group takes a thread where the ranks are bound, and a program may have all that it can get.
#[test]
fn a_program_that_gets_no_more_threads_is_passed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    for mpi in installed("bound") {
        let told = Run::of(&mpi, "bound", 2).finish();
        assert!(told.is_success && told.served("MPI_Barrier") > 0, "{mpi}: {told:?}");
        let library = refusing_library(folder.path());
        let told = Run::of(&mpi, "bound", 2).behind(&library).finish();
        let is_founded = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1);
        assert!(told.is_success && (is_founded || told.served("MPI_Barrier") == 0), "{mpi}: {told:?}");
    }
}

#[test]
fn two_threads_use_two_communicators() {
    run_served("threads", &[2], "MPI_Barrier");
}

#[test]
fn wrong_arguments_are_refused_by_the_library() {
    run_served("wrong", &[2], "MPI_Barrier");
}

#[test]
fn ranks_that_come_late_are_waited_for() {
    run_served("late", &RANKS, "MPI_Barrier");
}

#[test]
fn all_ranks_get_the_same_bits() {
    run_served("bits", &RANKS, "MPI_Allreduce");
}

#[test]
fn functions_with_large_counts_are_served() {
    run_served("large", &[2], "MPI_Bcast");
}

/// MPICH of version 4 has sessions, and Open MPI of version 4 has none.
#[test]
fn programs_of_sessions_alone_are_passed_on() {
    for mpi in installed("sessions").into_iter().filter(Mpi::has_large_counts) {
        let told = Run::of(&mpi, "sessions", 2).finish();
        assert!(told.is_success && told.output.contains("ok"), "{mpi}: {told:?}");
        assert_eq!(told.served("MPI_Barrier"), 0, "{mpi}: {told:?}");
    }
}

#[test]
fn a_rank_that_dies_ends_the_program() {
    for mpi in installed("killed") {
        let told = Run::of(&mpi, "killed", 3).finish();
        assert!(!told.is_success && !told.has_hung, "{mpi}: {told:?}");
    }
}

#[test]
fn ranks_of_which_one_has_another_limit_pass_all_calls_on() {
    for mpi in installed("limits") {
        let told = Run::of(&mpi, "lengths", 2).of_one_rank("CORECAST_MPI_LIMIT", "100").finish();
        assert!(told.is_success && told.output.contains("ok"), "{mpi}: {told:?}");
        assert_eq!(told.served("MPI_Reduce"), 0, "{mpi}: {told:?}");
    }
}

#[test]
fn an_object_that_is_off_serves_nothing() {
    for mpi in installed("off") {
        let told = Run::of(&mpi, "bits", 2).of_all_ranks("CORECAST_SHIM", "lock").finish();
        assert!(told.is_success && told.served("MPI_Allreduce") == 0, "{mpi}: {told:?}");
    }
}

#[test]
fn ranks_in_different_namespaces_pass_all_calls_on() {
    // Processes of one namespace have no numbers in the other, so descriptors cannot be opened.
    let apart = ["unshare", "--pid", "--fork"];
    for mpi in installed("namespaces") {
        let without = Run::of(&mpi, "bits", 2).of_all_ranks("CORECAST_SHIM_OFF", "1").of_one_rank_by(&apart).finish();
        if !without.is_success {
            corecast_testing::skipped(&format!("namespaces under {mpi}"), "ranks in different ones do not start");
            continue;
        }
        let told = Run::of(&mpi, "bits", 2).of_one_rank_by(&apart).finish();
        assert!(told.is_success && told.output.contains("ok"), "{mpi}: {told:?}");
        assert_eq!(told.served("MPI_Allreduce"), 0, "{mpi}: {told:?}");
    }
}

#[test]
fn fortran_programs_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let private = private_program(folder.path());
    for mpi in installed("fortran") {
        let Some([program, library]) = fortran_program(&mpi, folder.path()) else {
            corecast_testing::skipped(&format!("a Fortran program under {mpi}"), "mpifort or gfortran is missing");
            continue;
        };
        let library = library.to_str().expect("the name of a temporary folder is text");
        let linked = Run::of(&mpi, "fortran", 2).of_program(program).finish();
        let opened = Run::of(&mpi, library, 2).of_program(private.clone()).finish();
        for told in [linked, opened] {
            assert!(told.is_success && told.output.contains("ok"), "{mpi}: {told:?}");
            for function in ["MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather"] {
                assert!(told.served(function) > 0, "{mpi}: {told:?}");
            }
        }
    }
}
