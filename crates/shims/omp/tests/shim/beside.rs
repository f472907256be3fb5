//! Libraries that users preload beside the object: an allocator, and a sanitizer's runtime.

use std::process::Command;

use corecast_testing::preloads;

use crate::launch::{Compiler, Program, built, compile, object, program, sources};

const ARGUMENTS: [&str; 2] = ["2", "5"];

/// Runs it with these libraries preloaded, in this order, of which one is the object: it ends well, and is served.
#[track_caller]
fn is_served(program: &Program, preloaded: &[String]) {
    let preloaded = preloaded.join(":");
    let outcome = program.alone(&ARGUMENTS, &[("LD_PRELOAD", &preloaded), ("CORECAST_SHIM_STATS", "1")]);
    assert!(outcome.status.success() && outcome.output.contains("errors 0"), "{preloaded}: {outcome:?}");
    let line = outcome.errors.lines().find(|line| line.contains("corecast omp: barriers: served "));
    assert!(line.is_some_and(|line| !line.contains(": served 0,")), "{preloaded}: {outcome:?}");
}

#[test]
fn another_allocator() {
    let Some(jemalloc) = preloads::jemalloc("teams beside an allocator") else { return };
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        let Some(program) = program(compiler, "teams") else { continue };
        let mut both = [object(), jemalloc.clone()].map(|path| path.display().to_string());
        is_served(&program, &both);
        both.reverse();
        is_served(&program, &both);
    }
}

#[test]
fn an_address_sanitizer() {
    let Some(runtime) = preloads::sanitizer("asan", "teams under AddressSanitizer") else { return };
    let program = built().join("teams-asan");
    let mut command = Command::new("gcc");
    command.args(["-O1", "-fopenmp", "-fsanitize=address", "-o"]).arg(&program).arg(sources().join("teams.c"));
    if compile(command) {
        is_served(&Program::at(program), &[runtime, object()].map(|path| path.display().to_string()));
    }
}
