//! `corecast mpi`, and `corecast run` in the place of a process of an MPI.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::program::{Program, Run};

/// The variables of Open MPI's launcher and of Hydra, as a process of a program of two has them.
const LAUNCHERS: [[(&str, &str); 2]; 2] =
    [[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2")], [("PMI_RANK", "0"), ("PMI_SIZE", "2")]];

/// `corecast run` of a line of shell, as a launcher starts it.
fn run_as_rank(program: &Program, launcher: [(&str, &str); 2], line: &str) -> Command {
    let mut command = program.command(&["run", "-n", "2", "--no-pin", "--", "sh", "-c", line]);
    command.envs(launcher).stdin(Stdio::null());
    command
}

#[test]
fn no_mpi_is_needed_to_start() {
    corecast_testing::assert_no_mpi(crate::PROGRAM.as_ref());
}

#[test]
fn only_member_0_is_a_process_of_the_launcher() {
    let program = Program::new();
    for launcher in LAUNCHERS {
        let [(rank, _), (size, _)] = launcher;
        let line = format!("echo \"$CORECAST_RANK: ${rank} ${size} $PMIX_NAMESPACE\"");
        let mut command = run_as_rank(&program, launcher, &line);
        let told = Run::from(command.env("PMIX_NAMESPACE", "job").output().expect("it starts")).succeeded();
        let mut said: Vec<&str> = told.stdout.lines().map(str::trim_end).collect();
        said.sort_unstable();
        assert_eq!(said, ["0: 0 2 job", "1:"], "{rank}");
    }
}

#[test]
fn a_launcher_sees_by_a_signal_that_member_0_has_failed() {
    // A launcher takes an exit code for one of a program that has ended well with MPI, and lets the other nodes wait.
    let program = Program::new();
    for (fail, code) in [("kill -KILL $$", 137), ("exit 3", 3)] {
        let line = |rank: &str| format!("[ $CORECAST_RANK = {rank} ] && {fail}; exit 0");
        for launcher in LAUNCHERS {
            let ended = run_as_rank(&program, launcher, &line("0")).output().expect("it starts");
            assert_eq!(ended.status.signal(), Some(Signal::KILL.as_raw()), "{fail}: {ended:?}");
            let told = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(told.contains("rank 0 "), "{fail}: {told}");
            let ended = run_as_rank(&program, launcher, &line("1")).output().expect("it starts");
            assert_eq!(ended.status.code(), Some(code), "{fail}: {ended:?}");
        }
        let line = line("0");
        let ended = program.command(&["run", "-n", "2", "--no-pin", "--", "sh", "-c", &line]).output();
        assert_eq!(ended.expect("it starts").status.code(), Some(code), "{fail}, without a launcher");
    }
}

#[test]
fn a_missing_library_is_bad_input() {
    let program = Program::new();
    let mut command = program.command(&["mpi"]);
    let told = Run::from(command.env("CORECAST_MPI", "libnosuchmpi.so.7").output().expect("it starts"));
    told.failed(2, "no MPI library was found");
    let mut command = program.command(&["mpi", "--launch-flags"]);
    let told = Run::from(command.env("CORECAST_MPI", "libm.so.6").output().expect("it starts"));
    told.failed(2, "has no function MPI_Init_thread");
}

#[test]
fn the_library_that_is_here_is_told_in_both_forms() {
    let program = Program::new();
    let told = program.run(&["mpi", "--json"]);
    if told.code == Some(2) {
        return corecast_testing::skipped("`corecast mpi`", "no MPI library is installed");
    }
    let json = told.succeeded().json();
    let flags = json["launch_flags"].as_str().expect("text");
    let text = program.run(&["mpi"]).succeeded().stdout;
    assert!(text.contains(json["version"].as_str().expect("text")) && text.contains(flags), "{text}");
    assert!(json["launcher"].is_null() && json["nodes"].is_null(), "{json}");
    assert!(["members", "nodes"].contains(&json["survives"].as_str().expect("text")), "{json}");
}
