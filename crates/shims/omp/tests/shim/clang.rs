//! Programs of Clang on LLVM's runtime, and programs of GCC on it.

use std::path::PathBuf;
use std::process::Command;

use corecast_testing::skipped;

use crate::launch::{Compiler, program};

const STATISTICS: (&str, &str) = ("CORECAST_SHIM_STATS", "1");

fn is_the_same_for(compiler: Compiler, name: &str, threads: &[&str], variables: &[(&str, &str)]) {
    let Some(program) = program(compiler, name) else { return };
    for threads in threads {
        program.is_the_same(&[threads], variables);
    }
}

#[test]
fn teams_loops_sections_tasks_and_nested_teams() {
    is_the_same_for(Compiler::Clang, "teams", &["1", "2", "3", "4", "8", "9"], &[]);
}

#[test]
fn values_sizes_cancellations_forks_and_late_tasks() {
    for name in ["copyprivate", "varied", "singles", "cancelled", "forked", "masters"] {
        is_the_same_for(Compiler::Clang, name, &["1", "2", "4"], &[]);
    }
    // LLVM 14 itself stops at an assertion if such a team has one member.
    is_the_same_for(Compiler::Clang, "deferred", &["2", "4"], &[]);
    // With regions that are cancelled indeed, LLVM 14 itself hangs now and then.
    is_the_same_for(Compiler::Clang, "copyprivate", &["2", "4"], &[("OMP_CANCELLATION", "true")]);
}

/// The seats of a thread in the regions around are kept while it is in deeper ones.
#[test]
fn regions_deeper_than_what_is_served() {
    is_the_same_for(Compiler::Clang, "deep", &["12"], &[]);
}

#[test]
fn every_way_to_wait() {
    for variable in [("KMP_BLOCKTIME", "0"), ("KMP_BLOCKTIME", "infinite"), ("OMP_WAIT_POLICY", "passive")] {
        is_the_same_for(Compiler::Clang, "teams", &["2", "3"], &[variable]);
    }
}

#[test]
fn barriers_are_served() {
    let Some(program) = program(Compiler::Clang, "teams") else { return };
    let outcome = program.with_object(&["2", "5"], &[STATISTICS]);
    let line = outcome.errors.lines().find(|line| line.contains("corecast omp: barriers: served "));
    assert!(line.is_some_and(|line| !line.contains("served 0,")), "{outcome:?}");
}

#[test]
fn each_task_is_counted_once() {
    let Some(program) = program(Compiler::Clang, "producer") else { return };
    let outcome = program.with_object(&["2", "100"], &[STATISTICS]);
    assert!(outcome.errors.contains("corecast omp: tasks: served 100,"), "{outcome:?}");
}

/// The path of LLVM's runtime, which Debian's clang finds by the second name.
fn runtime() -> Option<PathBuf> {
    ["libomp.so", "libomp.so.5"].into_iter().find_map(|name| {
        let output = Command::new("clang").arg(format!("-print-file-name={name}")).output().ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        path.is_absolute().then_some(path)
    })
}

#[test]
fn programs_of_gcc_run_on_it() {
    let Some(runtime) = runtime() else {
        return skipped("programs of gcc on LLVM's runtime", "clang does not tell where it is");
    };
    let runtime = runtime.display().to_string();
    let preloaded = ("LD_PRELOAD", runtime.as_str());
    for name in ["teams", "copyprivate", "varied", "masters"] {
        is_the_same_for(Compiler::Gcc, name, &["1", "2", "4"], &[preloaded]);
    }
    let Some(program) = program(Compiler::Gcc, "copyprivate") else { return };
    let outcome = program.with_object(&["2", "50"], &[preloaded, STATISTICS]);
    assert!(outcome.errors.contains("corecast omp: regions: served 1, diverted 0, passed 0"), "{outcome:?}");
    assert!(!outcome.errors.contains("barriers: served 0,"), "{outcome:?}");
}
