//! Ctrl-C during a benchmark.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::program::{Program, Run};

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
    (&["locks"], "locks alone"),
    (&["stream"], "checked messages"),
    (&["stream", "--wait", "park", "--slots", "1"], "checked messages"),
    (&["collectives"], "check corecast"),
    (&["collectives", "--processes"], "check corecast"),
    (&["acknowledged"], "check "),
    (&["ump"], "check "),
    (&["select"], "check "),
    (&["channels"], "check "),
    (&["channels", "--processes"], "check "),
    (&["idle", "--late", "60000"], "idle in"),
    (&["atomics"], "line transfers"),
    (&["messages"], "pairs"),
    (&["table"], "buckets"),
    (&["deaths"], "killing"),
    (&["setup", "--synthetic", "pack:8 core:64 pu:1"], "members"),
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
fn a_benchmark_prints_no_half_result() {
    let program = Program::new();
    let run = interrupted(&program, &["collectives", "--json"], "check corecast");
    assert_eq!(run.failed(130, "interrupted").stdout, "");
}
