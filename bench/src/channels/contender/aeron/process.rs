//! The Java program as a child of this one: started, told what to do a line at a time, and killed when it is dropped.
//!
//! Every wait for it ends: with its answer, with its end, when the contender is given up, or after [`LIMIT`]. If this
//! program is killed, the child finds the end of its input and ends by itself.

use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

use super::super::super::wire::Wire;
use crate::failure::Failure;
use crate::harness::Abort;

/// The program.
const SOURCE: &str = include_str!("AeronStream.java");
const SOURCE_NAME: &str = "AeronStream.java";
/// Where it says what went wrong.
const ERRORS_NAME: &str = "errors";
/// What Aeron's own scripts start it with: its driver looks into the system's selectors, and its buffers are not checked.
const OPTIONS: [&str; 2] = ["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-Dagrona.disable.bounds.checks=true"];
/// Memory that looks like a directory.
const MEMORY: &str = "/dev/shm";
/// What the media driver's files take: three terms and some.
const NEEDED_BYTES: u64 = 512 << 20;
/// The longest wait for an answer.
const LIMIT: Duration = Duration::from_secs(30);
/// How often is looked whether the contender was given up.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The running program. Everything it leaves is in its directory, which goes with it.
pub(super) struct Process {
    child: Child,
    commands: ChildStdin,
    answers: ChildStdout,
    directory: TempDir,
}

impl Process {
    /// Starts the program for this wire, and returns its first answer as well.
    ///
    /// # Errors
    /// Why it could not be started, in its own words where it has some.
    pub(super) fn start(jar: &Path, wire: &Wire, abort: &Abort) -> Result<(Self, String), Failure> {
        let directory = tempfile::Builder::new().prefix("corecast-aeron-").tempdir_in(roomy_directory());
        let directory = directory.map_err(Failure::refused)?;
        let source = directory.path().join(SOURCE_NAME);
        fs::write(&source, SOURCE).map_err(Failure::refused)?;
        let errors = File::create(directory.path().join(ERRORS_NAME)).map_err(Failure::refused)?;
        let mut command = Command::new("java");
        command.args(OPTIONS).arg("-cp").arg(jar).arg(source).arg(directory.path().join("driver"));
        command.args([wire.bytes.to_string(), wire.receivers.to_string()]);
        command.arg(if wire.oversubscribed { "yield" } else { "spin" });
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(Failure::refused)?;
        let commands = child.stdin.take().expect("its standard input is a pipe");
        let answers = child.stdout.take().expect("its standard output is a pipe");
        let mut process = Self { child, commands, answers, directory };
        let greeting = process.answer(abort)?;
        Ok((process, greeting))
    }

    /// Gives a command and returns the answer to it.
    ///
    /// # Errors
    /// If the program ended, the contender was given up, or [`LIMIT`] is over.
    pub(super) fn ask(&mut self, command: &str, abort: &Abort) -> Result<String, Failure> {
        self.commands.write_all(format!("{command}\n").as_bytes()).map_err(|_| self.ended())?;
        self.answer(abort)
    }

    /// The next line: the program says one for each that it is told.
    fn answer(&mut self, abort: &Abort) -> Result<String, Failure> {
        let deadline = Instant::now() + LIMIT;
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            self.await_output(deadline, abort)?;
            let mut part = [0; 1024];
            let len = self.answers.read(&mut part).map_err(Failure::refused)?;
            if len == 0 {
                return Err(self.ended());
            }
            line.extend_from_slice(&part[..len]);
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn await_output(&self, deadline: Instant, abort: &Abort) -> Result<(), Failure> {
        let mut fds = [PollFd::new(&self.answers, PollFlags::IN)];
        while poll(&mut fds, Some(&LOOK)).unwrap_or(0) == 0 {
            abort.check()?;
            if Instant::now() > deadline {
                return Err(Failure::Refused(format!("the Java program did not answer for {} s", LIMIT.as_secs())));
            }
        }
        Ok(())
    }

    /// The program ended, and what it said.
    fn ended(&self) -> Failure {
        let said = fs::read_to_string(self.directory.path().join(ERRORS_NAME)).unwrap_or_default();
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("without a word");
        Failure::Refused(format!("the Java program ended: {first}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to lose: what it leaves is in the directory, which is deleted next.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where files are memory, as Aeron has it by default, if there is room for them; else where temporary files are.
fn roomy_directory() -> PathBuf {
    let room = rustix::fs::statvfs(MEMORY).map_or(0, |system| system.f_bavail * system.f_frsize);
    if room >= NEEDED_BYTES { PathBuf::from(MEMORY) } else { env::temp_dir() }
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;

    use super::*;

    #[test]
    fn a_program_that_does_not_start_says_why() {
        let wire = Wire::new(64, 1, true, Wait::Adaptive);
        let started = Process::start(Path::new("/nowhere/aeron.jar"), &wire, &Abort::default());
        let failure = started.map(drop).expect_err("there is no such jar").to_string();
        let has_java = Command::new("java").arg("-version").output().is_ok();
        let expected = if has_java { "the Java program ended: " } else { "No such file" };
        assert!(failure.contains(expected), "{failure}");
    }
}
