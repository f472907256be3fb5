//! A limit on the size of files that is in the way.

use std::process::{Command, Stdio};

use crate::program::{Program, Run};

/// Runs it where no file may have more blocks of 512 bytes than this.
fn limited(program: &Program, blocks: u32, arguments: &[&str]) -> Run {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, crate::PROGRAM]).args(arguments);
    command.current_dir(program.path("")).env("XDG_CACHE_HOME", program.path("cache")).stdin(Stdio::null());
    Run::from(command.output().expect("the shell starts"))
}

#[test]
fn a_file_that_would_be_too_large_is_told_and_leaves_nothing() {
    let program = Program::new();
    for (blocks, arguments) in [
        (0, &["plan", "--op", "barrier", "--synthetic", "core:2 pu:1", "--out", "plan.json"][..]),
        (1, &["plan", "--op", "barrier", "--synthetic", "pack:2 core:32 pu:2", "--out", "plan.json"]),
    ] {
        let run = limited(&program, blocks, arguments);
        assert!(run.stderr.contains("File too large"), "{arguments:?}: {:?} {}", run.code, run.stderr);
        assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
        assert_eq!(program.files(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_told_and_leaves_nothing() {
    let program = Program::new();
    let run = limited(&program, 0, &["measure", "--quick"]);
    assert!(run.stderr.contains("the model is not kept") && run.stderr.contains("File too large"), "{}", run.stderr);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(program.cached().is_empty(), "{:?}", program.cached());
}

#[test]
fn a_program_that_is_started_has_the_limit_as_the_system_means_it() {
    let program = Program::new();
    // The group's memory counts as a file, so that the limit has to leave room for it.
    let script = "exec head -c 40000000 /dev/zero > written";
    let run = limited(&program, 60_000, &["run", "-n", "1", "--no-pin", "sh", "-c", script]);
    assert!(run.stderr.contains("was killed by signal 25"), "{:?}: {}", run.code, run.stderr);
}
