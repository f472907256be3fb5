//! Programs that check what POSIX and glibc promise.

use super::object::{LOCKS, object, output, plain, preloaded, program};
use corecast_testing::skipped;

/// Runs it without the object, and then with it and each of these locks.
#[track_caller]
fn run_with(source: &str, locks: &[&str]) {
    let Some(program) = program(source) else { return };
    output(&mut plain(&program));
    for lock in locks {
        output(&mut preloaded(&program, lock));
    }
}

#[test]
fn barriers() {
    run_with("barrier.c", &["pthread"]);
}

#[test]
fn mutexes() {
    run_with("mutex.c", &LOCKS);
}

#[test]
fn condition_variables() {
    run_with("cond.c", &LOCKS);
}

#[test]
fn reader_writer_locks() {
    run_with("rwlock.c", &["pthread", "auto"]);
}

#[test]
fn children() {
    run_with("fork.c", &LOCKS);
}

/// Each process takes its decision from what the objects say of themselves, which is the same for a process without the object.
#[test]
fn processes_of_which_one_runs_without_the_object() {
    let Some(program) = program("peer.c") else { return };
    output(&mut plain(&program));
    for lock in ["auto", "word", "mcs"] {
        output(&mut preloaded(&program, lock));
        let mut other_has_it = plain(&program);
        other_has_it.arg(object()).env("CORECAST_LOCK", lock).env("CORECAST_SHIM", "barrier,lock");
        output(&mut other_has_it);
    }
}

#[test]
fn what_cpp_builds_on_it() {
    run_with("standard.cpp", &LOCKS);
}

#[test]
fn allocations_and_children() {
    run_with("heap.c", &["auto", "mcs"]);
}

/// Not `array`: the memory that it takes grows with the CPUs.
#[test]
fn first_locks_without_memory() {
    run_with("memory.c", &["pthread", "auto", "mcs", "clh", "word", "qword"]);
}

#[test]
fn inside_another_allocator() {
    let Some(jemalloc) = ["x86_64", "aarch64"]
        .map(|machine| format!("/usr/lib/{machine}-linux-gnu/libjemalloc.so.2"))
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
    else {
        return skipped("locks inside an allocator", "jemalloc is not installed");
    };
    let Some(program) = program("heap.c") else { return };
    for lock in LOCKS {
        for order in [0, 1] {
            let mut both = [object().display().to_string(), jemalloc.clone()];
            both.rotate_left(order);
            output(preloaded(&program, lock).env("LD_PRELOAD", both.join(":")));
        }
    }
}
