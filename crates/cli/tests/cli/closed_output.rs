//! Standard output that nobody reads, or that takes nothing.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use crate::program::{Program, Run};

/// Every command that prints without a long run.
const PRINTERS: [&[&str]; 13] = [
    &["topo"],
    &["topo", "--json"],
    &["explain"],
    &["explain", "--json"],
    &["plan", "--op", "barrier"],
    &["list"],
    &["completions", "bash"],
    &["man"],
    &["--help"],
    &["-h"],
    &["--version"],
    &["plan", "--help"],
    &["help", "bench"],
];

#[test]
fn a_reader_who_is_gone_is_no_error() {
    let program = Program::new();
    for arguments in PRINTERS {
        let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
        drop(reader);
        let output = program.command(arguments).stdout(OwnedFd::from(writer)).output().expect("the program starts");
        let run = Run::from(output);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked") && !run.stderr.contains("roken pipe"), "{}", run.stderr);
    }
}

#[test]
fn a_reader_who_is_gone_still_gets_the_report() {
    let program = Program::new();
    let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
    drop(reader);
    let arguments = ["tune", "--quick", "--report", "kept.html"];
    let output = program.command(&arguments).stdout(OwnedFd::from(writer)).output().expect("the program starts");
    let run = Run::from(output);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let page = std::fs::read_to_string(program.path("kept.html")).expect("the report is there");
    assert!(page.ends_with("</html>\n") || page.ends_with("</html>"), "the report is whole");
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let program = Program::new();
    // Far more than a pipe holds.
    let mut child = program
        .command(&["topo", "--synthetic", "pack:4 core:512 pu:2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_exact(&mut [0; 10]).expect("a first line");
    drop(stdout);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_full_disk_is_an_error() {
    let program = Program::new();
    for arguments in PRINTERS {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let run = Run::from(program.command(arguments).stdout(full).output().expect("the program starts"));
        run.failed(1, "cannot write to standard output: No space left on device");
    }
}
