//! `corecast bench` and `corecast cc`: the benchmarks' program beside this one, or a word on how to build it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Program, Run};

/// A copy of the program in a folder of its own, with `corecast-bench` beside it if there is a script for it.
fn copy(program: &Program, script: Option<&str>) -> PathBuf {
    let path = program.path("corecast");
    copy_file(crate::PROGRAM.as_ref(), &path);
    if let Some(script) = script {
        let (draft, bench) = (program.path("draft"), program.path("corecast-bench"));
        fs::write(&draft, script).expect("written");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("its mode");
        copy_file(&draft, &bench);
    }
    path
}

/// Has another process copy the file: a process that another test forks meanwhile would inherit a file open for writing, and
/// no program starts from such a file.
fn copy_file(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().expect("cp starts").success());
}

fn run(path: &PathBuf, arguments: &[&str]) -> Run {
    Run::from(Command::new(path).args(arguments).stdin(Stdio::null()).output().expect("the program starts"))
}

#[test]
fn the_benchmarks_program_gets_the_options_and_its_exit_code_is_ours() {
    let program = Program::new();
    let path = copy(&program, Some("#!/bin/sh\nprintf '%s|' \"$@\"\nexit 3\n"));
    for (arguments, passed) in [
        (&["bench", "locks", "--quick", "--threads", "2"][..], "locks|--quick|--threads|2|"),
        (&["bench", "--help"], "--help|"),
        (&["--json", "cc", "--quick"], "--json|cc|--quick|"),
        (&["bench"], "|"),
    ] {
        let run = run(&path, arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(3), passed), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn without_the_benchmarks_program_the_user_learns_how_to_build_it() {
    let program = Program::new();
    let path = copy(&program, None);
    let help = run(&path, &["bench", "--help"]).succeeded().stdout;
    assert!(help.contains("collectives") && help.contains("cargo build"), "{help}");
    let list = run(&path, &["list", "contenders"]).succeeded();
    assert!(list.stdout.contains("pthread") && list.stderr.contains("only corecast-bench knows"), "{}", list.stderr);
    for command in ["bench", "cc"] {
        let run = run(&path, &[command, "--quick"]).failed(1, "the benchmarks are a program of their own");
        let words = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("cargo build --release --bin corecast-bench"), "{}", run.stderr);
    }
}

#[test]
fn the_list_of_contenders_is_that_of_the_benchmarks_program() {
    let program = Program::new();
    let script = r#"#!/bin/sh
[ "$*" = "contenders --json" ] && echo '[{"op":"words","name":"ring","about":"a ring"}]'
"#;
    let path = copy(&program, Some(script));
    let list = run(&path, &["list", "contenders", "--json"]).succeeded();
    assert_eq!(list.stdout.trim_end(), r#"{"contenders":[{"name":"ring","about":"a ring","op":"words"}]}"#);
}
