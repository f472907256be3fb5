//! A runtime of LLVM's family has one tool. If that is another one, or none is wanted, its teams are not served.

use std::process::Command;

use crate::launch::{Compiler, built, compile, program, sources};

fn is_not_served(variables: &[(&str, &str)]) {
    let Some(program) = program(Compiler::Clang, "copyprivate") else { return };
    let mut variables = variables.to_vec();
    variables.push(("CORECAST_SHIM_STATS", "1"));
    let outcome = program.with_object(&["2", "50"], &variables);
    assert!(outcome.status.success(), "{variables:?}: {outcome:?}");
    assert_eq!(outcome.output, "copyprivate: sum 2450, errors 0\n", "{variables:?}");
    assert!(!outcome.errors.contains("regions: served"), "{variables:?}: {outcome:?}");
}

#[test]
fn another_tool_stays_the_tool() {
    let tool = built().join("libtool.so");
    let mut command = Command::new("gcc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&tool).arg(sources().join("tool.c"));
    if !compile(command) {
        return;
    }
    let tool = tool.display().to_string();
    is_not_served(&[("LD_PRELOAD", &tool)]);
    is_not_served(&[("OMP_TOOL_LIBRARIES", &tool)]);
    // It says so itself.
    let Some(program) = program(Compiler::Clang, "copyprivate") else { return };
    let outcome = program.with_object(&["2", "50"], &[("LD_PRELOAD", &tool)]);
    assert!(outcome.errors.contains("the other tool: started"), "{outcome:?}");
}

#[test]
fn no_tool_serves_nothing() {
    is_not_served(&[("OMP_TOOL", "disabled")]);
    is_not_served(&[("OMP_CANCELLATION", "true")]);
}

/// A library that has the entry of ThreadSanitizer's runtime stands in for it: the real one is not everywhere. Under it LLVM's
/// runtime loads a tool of its own, and would not if the shim were one.
#[test]
fn nothing_is_served_where_a_sanitizer_watches_threads() {
    let runtime = built().join("libsanitizer.so");
    let source = runtime.with_extension("c");
    std::fs::write(&source, "void __tsan_init(void) {}\n").expect("a file in it");
    let mut command = Command::new("gcc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&runtime).arg(&source);
    if !compile(command) {
        return;
    }
    let runtime = runtime.display().to_string();
    is_not_served(&[("LD_PRELOAD", &runtime)]);
    let Some(program) = program(Compiler::Gcc, "copyprivate") else { return };
    let outcome = program.with_object(&["2", "50"], &[("LD_PRELOAD", &runtime), ("CORECAST_SHIM_STATS", "1")]);
    assert!(outcome.status.success() && !outcome.errors.contains("regions: served"), "{outcome:?}");
}
