//! Ctrl-C during a long run.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Program, Run};
use crate::terminal::Terminal;

/// Interrupts a run as soon as it says these words, and returns what it came to.
fn interrupted(program: &Program, arguments: &[&str], words: &str) -> Run {
    let mut child =
        program.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let begun = lines.by_ref().map(|line| line.expect("UTF-8")).any(|line| line.contains(words));
    assert!(begun, "it never said '{words}'");
    kill_process(pid(&child), Signal::INT).expect("it still runs");
    let rest: Vec<String> = lines.map(|line| line.expect("UTF-8")).collect();
    let run = Run::from(child.wait_with_output().expect("it ends"));
    Run { stderr: rest.join("\n"), ..run }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

#[test]
fn a_measurement_leaves_nothing_behind() {
    let program = Program::new();
    let run = interrupted(&program, &["measure", "--out", "model.json"], "clock");
    assert_eq!(run.failed(130, "interrupted").stdout, "");
    assert_eq!(program.files(), [""; 0]);
    assert!(program.cached().is_empty(), "{:?}", program.cached());
}

#[test]
fn a_terminal_is_left_as_it_was() {
    let program = Program::new();
    let (mut terminal, line) = Terminal::open();
    let before = terminal.settings();
    let child = program
        .command(&["measure", "--out", "model.json"])
        .env("TERM", "xterm")
        .stdout(Stdio::piped())
        .stderr(line)
        .spawn()
        .expect("the program starts");
    let shown = terminal.read_until(Some("clock"));
    assert!(shown.contains(" % "), "the bar is there: {shown:?}");
    kill_process(pid(&child), Signal::INT).expect("it still runs");
    let rest = terminal.read_until(None);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!((run.code, run.stdout.as_str()), (Some(130), ""));
    let (bar, after) = rest.rsplit_once("\x1b[2K").expect("the bar's line is cleared");
    assert!(after.contains("interrupted") && !after.contains('%'), "{bar:?} {after:?}");
    let count = |code| shown.matches(code).count() + rest.matches(code).count();
    assert_eq!(count("\x1b[?25l"), count("\x1b[?25h"), "a cursor that was hidden is shown again");
    assert_eq!(terminal.settings(), before);
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn a_tuning_leaves_no_report_behind() {
    let program = Program::new();
    let run = interrupted(&program, &["--report", "report.html"], "clock");
    run.failed(130, "interrupted");
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn a_patient_search_gives_the_best_so_far() {
    let program = Program::new();
    let arguments = ["plan", "--op", "broadcast", "--synthetic", "pack:2 l3:16 core:8 pu:1", "--effort", "patient"];
    let run = interrupted(&program, &[&arguments[..], &["--json"]].concat(), "costs are assumed").succeeded();
    assert!(run.stderr.contains("the search was stopped early; this is the best plan"), "{}", run.stderr);
    let plan = run.json();
    let children = plan["children"].as_object().expect("an object").values();
    let reached: usize = children.map(|list| list.as_array().expect("an array").len()).sum();
    assert_eq!((reached, &plan["effort"], &plan["proven"]), (255, &"patient".into(), &false.into()));
}
