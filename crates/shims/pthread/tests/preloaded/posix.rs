//! Programs that check what POSIX and glibc promise.

use corecast_testing::preloads;

use super::object::{LOCKS, object, output, plain, preloaded, program, sanitized};

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
    let Some(jemalloc) = preloads::jemalloc("locks inside an allocator") else { return };
    let Some(program) = program("heap.c") else { return };
    for lock in LOCKS {
        for order in [0, 1] {
            let mut both = [&object(), &jemalloc].map(|path| path.display().to_string());
            both.rotate_left(order);
            output(preloaded(&program, lock).env("LD_PRELOAD", both.join(":")));
        }
    }
}

/// The program has its sanitizer's calls built in. ThreadSanitizer would tell a race if a barrier ordered nothing in its eyes; it
/// tells one of a barrier that is destroyed at once, with the C library's, too.
#[test]
fn under_sanitizers() {
    for (name, source, tests, operation) in [
        ("address", "mutex.c", ["exclusion", "destroyed_at_once"], "mutex_lock"),
        ("thread", "barrier.c", ["visible", "serial_threads"], "barrier_wait"),
    ] {
        let library = format!("{}san", &name[..1]);
        let Some(runtime) = preloads::sanitizer(&library, &format!("{source} under a sanitizer")) else { continue };
        let Some(program) = sanitized(source, &format!("-fsanitize={name}")) else { continue };
        let both = [runtime, object()].map(|path| path.display().to_string()).join(":");
        let mut command = preloaded(&program, "auto");
        command.args(tests).env("LD_PRELOAD", both).env("CORECAST_SHIM_STATS", "1");
        let told = String::from_utf8_lossy(&output(&mut command).stderr).into_owned();
        let line = told.lines().find(|line| line.contains(&format!("corecast pthread: {operation}: served ")));
        assert!(line.is_some_and(|line| !line.contains(": served 0,")), "{told}");
    }
}
