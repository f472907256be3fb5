//! Ctrl-C during a long run.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

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

/// A run that takes longer to stop has hung. It should take two seconds; machines on which tests run are busy.
const WATCHDOG: Duration = Duration::from_secs(20);

/// Every long run, and the words by which it says that it has begun.
const LONG_RUNS: [(&[&str], &str); 17] = [
    (&["bench", "locks"], "locks alone"),
    (&["bench", "stream"], "checked messages"),
    (&["bench", "stream", "--wait", "park", "--slots", "1"], "checked messages"),
    (&["bench", "collectives"], "check corecast"),
    (&["bench", "collectives", "--processes"], "check corecast"),
    (&["bench", "acknowledged"], "check "),
    (&["bench", "ump"], "check "),
    (&["bench", "select"], "check "),
    (&["bench", "channels"], "check "),
    (&["bench", "channels", "--processes"], "check "),
    (&["bench", "idle", "--late", "60000"], "idle in"),
    (&["bench", "atomics"], "line transfers"),
    (&["bench", "messages"], "pairs"),
    (&["bench", "table"], "buckets"),
    (&["bench", "deaths"], "killing"),
    (&["bench", "setup", "--synthetic", "pack:8 core:64 pu:1"], "members"),
    (&["cc"], ""),
];

/// Processes of a group that run, by their command lines.
fn running_in(group: Pid) -> Vec<String> {
    let is_member = |stat: &str| {
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut words = after_name.split_whitespace();
        let (state, number) = (words.next()?, words.nth(1)?);
        (state != "Z" && number == group.as_raw_nonzero().to_string()).then_some(())
    };
    let of_process = |entry: std::fs::DirEntry| {
        is_member(&std::fs::read_to_string(entry.path().join("stat")).ok()?)?;
        std::fs::read_to_string(entry.path().join("cmdline")).ok()
    };
    std::fs::read_dir("/proc").expect("Linux has it").flatten().filter_map(of_process).collect()
}

#[test]
fn every_benchmark_ends_soon_and_takes_its_processes_along() {
    let program = Program::new();
    for (arguments, words) in LONG_RUNS {
        let mut command = program.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().expect("the program starts");
        let group = pid(&child);
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let begun = lines.by_ref().map(|line| line.expect("UTF-8")).any(|line| line.contains(words));
        assert!(begun, "{arguments:?} never said '{words}'");
        kill_process(group, Signal::TERM).expect("it still runs");
        let (ended, end) = mpsc::channel::<()>();
        let watchdog = thread::spawn(move || {
            if end.recv_timeout(WATCHDOG) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Nobody would wait for it.
                let _ = kill_process_group(group, Signal::KILL);
            }
        });
        // The processes that it started share its standard error, so this waits for all of them.
        let rest: Vec<String> = lines.map(|line| line.expect("UTF-8")).collect();
        let run = Run { stderr: rest.join("\n"), ..Run::from(child.wait_with_output().expect("it ends")) };
        drop(ended);
        watchdog.join().expect("it does not panic");
        assert_eq!(run.code, Some(130), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("interrupted") && run.stdout.is_empty(), "{arguments:?}: {}", run.stderr);
        assert_eq!(running_in(group), [""; 0], "{arguments:?}");
    }
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
fn a_benchmark_prints_no_half_result() {
    let program = Program::new();
    let run = interrupted(&program, &["bench", "collectives", "--json"], "check corecast");
    assert_eq!(run.failed(130, "interrupted").stdout, "");
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
