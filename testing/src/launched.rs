//! Programs that a test launches and that may hang: how a hang is told from a machine that is busy with something else.
//!
//! A limit on time cannot tell them apart: a program that other work keeps from the CPUs for minutes is right. So what counts is
//! what the program does, together with all that it has started:
//!
//! - it is *asleep* if hardly a look in a whole minute finds a thread that runs or wants to. A thread that waits for a CPU, or
//!   was stopped, is not asleep;
//! - it is *busy in vain* if it has used ten minutes of CPU time, which only passes while it has a CPU.
//!
//! Take it for programs that neither sleep nor compute for that long; for such that wait for a test,
//! [`Actor`](crate::actor::Actor). Linux only: all is read from `/proc`.

use std::collections::HashMap;
use std::io::{self, Read};
use std::ops::Range;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, fs};

use rustix::process::{Pid, Signal, kill_process};

/// A run that ends before is not looked at.
const BEFORE_FIRST_LOOK: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
/// A minute of looks.
const LOOKS: u32 = 300;
/// Looks among them that may find a thread awake: one that sleeps for ever looks around now and then.
const MOST_AWAKE: u32 = LOOKS / 50;
/// Ten minutes, in the hundredths of a second that `/proc` counts in.
const MOST_CPU_TICKS: u64 = 600 * 100;

/// The way in which a program hung.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hang {
    /// None of its threads wants to run.
    Asleep,
    /// It has used ten minutes of CPU time.
    BusyInVain,
}

/// The numbers of the launches that a test of many is to make: `CORECAST_LAUNCHES` of them, or `few`, from
/// `CORECAST_FIRST_LAUNCH` on, or 0. So a long run can be cut into parts.
///
/// # Panics
/// If a variable is no number.
#[must_use]
pub fn numbers(few: usize) -> Range<usize> {
    let of = |name| env::var(name).ok().map(|number| number.parse().unwrap_or_else(|_| panic!("{name} is a number")));
    let first = of("CORECAST_FIRST_LAUNCH").unwrap_or(0);
    first..first + of("CORECAST_LAUNCHES").unwrap_or(few)
}

/// Ends a test of many launches that can make none.
///
/// # Panics
/// If `CORECAST_LAUNCHES` asks for some: a long run must not count launches that did not happen.
pub fn cannot_launch(what: &str) {
    assert!(env::var_os("CORECAST_LAUNCHES").is_none(), "launches were asked for, and {what} cannot be started");
}

/// Waits until the child ends. One that hangs is killed, with all that it has started.
///
/// # Errors
/// The way in which it hung.
///
/// # Panics
/// If the child cannot be waited for.
pub fn end_of(child: &mut Child) -> Result<ExitStatus, Hang> {
    let start = Instant::now();
    let mut looks = Looks::default();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return Ok(status);
        }
        if start.elapsed() > BEFORE_FIRST_LOOK {
            pause = BETWEEN_LOOKS;
            let tree = Tree::of(child.id());
            if let Some(hang) = looks.take_in(tree.has_thread_awake(), tree.cpu_ticks()) {
                tree.kill();
                child.wait().expect("a child can be waited for");
                return Err(hang);
            }
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(10));
    }
}

/// Starts a command, waits until it ends, and returns all that it has printed.
///
/// # Errors
/// As of [`end_of`].
///
/// # Panics
/// If the command cannot be started.
#[track_caller]
pub fn output_of(command: &mut Command) -> Result<Output, Hang> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let stdout = in_background(child.stdout.take().expect("it was piped"));
    let stderr = in_background(child.stderr.take().expect("it was piped"));
    let status = end_of(&mut child)?;
    let all = |reader: JoinHandle<io::Result<Vec<u8>>>| reader.join().expect("a reader ends").expect("a pipe");
    Ok(Output { status, stdout: all(stdout), stderr: all(stderr) })
}

fn in_background(mut pipe: impl Read + Send + 'static) -> JoinHandle<io::Result<Vec<u8>>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    })
}

/// The looks since the last minute ended.
#[derive(Debug, Default)]
struct Looks {
    taken: u32,
    awake: u32,
}

impl Looks {
    fn take_in(&mut self, is_awake: bool, cpu_ticks: u64) -> Option<Hang> {
        self.taken += 1;
        self.awake += u32::from(is_awake);
        if cpu_ticks > MOST_CPU_TICKS {
            return Some(Hang::BusyInVain);
        }
        if self.awake > MOST_AWAKE {
            *self = Self::default();
        }
        (self.taken >= LOOKS).then_some(Hang::Asleep)
    }
}

/// A process and all that it has started, as far as those have not left it.
#[derive(Debug)]
struct Tree(Vec<Process>);

#[derive(Debug, Clone, Copy)]
struct Process {
    pid: u32,
    parent: u32,
    /// The time of its threads and of the children that it has waited for.
    cpu_ticks: u64,
}

impl Tree {
    fn of(root: u32) -> Self {
        let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
        let all: Vec<Process> = numbers_in("/proc").filter_map(Process::read).collect();
        all.iter().for_each(|&process| children.entry(process.parent).or_default().push(process));
        let mut tree: Vec<Process> = all.iter().copied().filter(|process| process.pid == root).collect();
        let mut next = 0;
        while let Some(process) = tree.get(next).copied() {
            tree.extend(children.remove(&process.pid).unwrap_or_default());
            next += 1;
        }
        Self(tree)
    }

    fn cpu_ticks(&self) -> u64 {
        self.0.iter().map(|process| process.cpu_ticks).sum()
    }

    fn has_thread_awake(&self) -> bool {
        self.0.iter().any(|process| process.has_thread_awake())
    }

    fn kill(&self) {
        for process in &self.0 {
            if let Some(pid) = Pid::from_raw(process.pid as i32) {
                // One that has ended meanwhile needs no signal.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

impl Process {
    /// `None` if it has ended.
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = after_name(&stat)?;
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let cpu_ticks = (11..15).map(number).sum::<Option<u64>>()?;
        Some(Self { pid, parent: u32::try_from(number(1)?).ok()?, cpu_ticks })
    }

    fn has_thread_awake(self) -> bool {
        let folder = format!("/proc/{}/task", self.pid);
        numbers_in(&folder).any(|thread| {
            let stat = fs::read_to_string(format!("{folder}/{thread}/stat")).unwrap_or_default();
            // Asleep, or ended and not waited for.
            !matches!(after_name(&stat).as_deref(), None | Some([] | ["S" | "Z" | "X", ..]))
        })
    }
}

/// The fields of a `stat` file behind the name, which may have any signs in it: the state, the parent, ..
fn after_name(stat: &str) -> Option<Vec<&str>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace().collect())
}

fn numbers_in(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_ends_tells_what_it_printed() {
        let output = output_of(Command::new("sh").args(["-c", "echo told; echo wrong >&2; exit 3"])).expect("it ends");
        assert_eq!((output.stdout, output.stderr), (b"told\n".to_vec(), b"wrong\n".to_vec()));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_minute_asleep_is_a_hang_and_a_minute_of_waiting_for_a_cpu_is_none() {
        let mut looks = Looks::default();
        assert!((1..LOOKS).all(|look| looks.take_in(look % 100 == 0, 1).is_none()));
        assert_eq!(looks.take_in(false, 1), Some(Hang::Asleep));
        let mut looks = Looks::default();
        assert!((0..10 * LOOKS).all(|look| looks.take_in(look % 10 == 0, 1).is_none()));
        assert_eq!(looks.take_in(true, MOST_CPU_TICKS + 1), Some(Hang::BusyInVain));
    }

    #[test]
    fn the_tree_of_a_process_has_what_it_started_and_who_is_awake() {
        let mut shell = Command::new("sh").args(["-c", "sleep 1000 & wait"]).spawn().expect("it starts");
        while Tree::of(shell.id()).0.len() < 2 || Tree::of(shell.id()).has_thread_awake() {
            thread::yield_now();
        }
        assert!(Tree::of(std::process::id()).has_thread_awake(), "this thread");
        Tree::of(shell.id()).kill();
        assert!(!shell.wait().expect("it was started").success());
        while Process::read(shell.id()).is_some() {
            thread::yield_now();
        }
    }
}
