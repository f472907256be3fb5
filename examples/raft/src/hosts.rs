//! The hosts: those of `corecast bench nodes --run`, which names them and their agent, or three addresses of this machine.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Outcome;

/// The variable with the program that starts a process on a host: it takes the host's name and a command line.
const AGENT: &str = "CORECAST_AGENT";
/// The variable with the names of hosts, between commas.
const HOSTS: &str = "CORECAST_HOSTS";

/// The time after which a host that does not answer the director is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A host with its processes, which are all of one process group.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    pub(crate) lives: bool,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<io::Result<String>>,
}

/// Starts a voter with its readers on each of three hosts.
pub(crate) fn start() -> Outcome<Vec<Host>> {
    let names = env::var(HOSTS).ok().filter(|_| env::var_os(AGENT).is_some());
    let names = names.as_deref().unwrap_or("127.0.0.1,127.0.0.2,127.0.0.3");
    names.split(',').take(3).enumerate().map(|(place, name)| Host::start(place as u64 + 1, name)).collect()
}

impl Host {
    fn start(id: u64, name: &str) -> Outcome<Self> {
        let state = format!("raft-{}-{id}", std::process::id());
        let mut command = command(name, &["voter", &id.to_string(), &format!("{name}:0"), &state])?;
        let mut child = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        let address = SocketAddr::from(([0, 0, 0, 0], 0));
        let lines = lines_of(stdout);
        let mut host = Self { name: name.to_owned(), address, lives: true, child, stdin, lines };
        let line = host.hear()?;
        host.address = line.strip_prefix("listens at ").ok_or("expected an address")?.parse()?;
        Ok(host)
    }

    /// The next line of its voter.
    fn hear(&mut self) -> Outcome<String> {
        let silent = |_| format!("the voter of {} has ended, or says nothing for {PATIENCE:?}", self.name);
        Ok(self.lines.recv_timeout(PATIENCE).map_err(silent)??)
    }

    /// Asks the replicas of this host for their states, once they show an entry of Raft's log.
    pub(crate) fn tell_of(&mut self, entry: u64, replicas: usize) -> Outcome<Vec<String>> {
        writeln!(self.stdin, "{entry}")?;
        (0..replicas).map(|_| self.hear()).collect()
    }

    /// Stops all its processes, so that the others go on without it.
    pub(crate) fn stop(&self) {
        self.send(Signal::STOP);
    }

    /// Lets its processes go on.
    pub(crate) fn go_on(&self) {
        self.send(Signal::CONT);
    }

    /// Kills all its processes at once.
    pub(crate) fn kill(&mut self) {
        self.lives = false;
        self.send(Signal::KILL);
        let _ = self.child.wait();
    }

    fn send(&self, signal: Signal) {
        // If that is refused they have just ended.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if self.lives {
            self.kill();
        }
    }
}

/// Lines that a thread of this process reads, so that they can be waited for with a limit.
fn lines_of(output: ChildStdout) -> Receiver<io::Result<String>> {
    let (to, lines) = channel();
    thread::spawn(move || BufReader::new(output).lines().try_for_each(|line| to.send(line)));
    lines
}

/// This program with these words, on a host.
fn command(host: &str, words: &[&str]) -> Outcome<Command> {
    let program = env::current_exe()?;
    let Some(agent) = env::var_os(AGENT) else {
        let mut command = Command::new(program);
        command.args(words);
        return Ok(command);
    };
    let mut command = Command::new(agent);
    command.arg(host).arg(format!("exec '{}' {}", program.display(), words.join(" ")));
    Ok(command)
}
