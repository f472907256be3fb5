//! Runs a driver, a small program for another runtime, as a child process: started, told what to do a line at a time, and
//! ended when it is dropped.
//!
//! Every wait for it ends: with its answer, with its end, when the contender is given up, or after 30 seconds. If this
//! program is killed, the child finds the end of its input and ends by itself.

use std::io::{Read, Seek, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::failure::Failure;
use crate::harness::Abort;

/// The longest wait for an answer.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a program that was told to end may tidy up.
const FAREWELL: Duration = Duration::from_secs(2);
/// The same where the contender was given up: then somebody waits.
const SHORT_FAREWELL: Duration = Duration::from_millis(200);
/// How often is looked whether the contender was given up.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The running program.
#[derive(Debug)]
pub struct Dialogue {
    /// Its name in messages, such as "the Java program".
    name: &'static str,
    child: Child,
    /// `None` when it has been told to end.
    commands: Option<ChildStdin>,
    answers: ChildStdout,
    /// The file that its standard error goes to.
    errors: fs::File,
    /// How long its farewell may take.
    farewell: Duration,
}

impl Dialogue {
    /// Starts the program, and returns its first answer as well.
    ///
    /// # Errors
    /// Why it could not be started, in its own words where it has some.
    pub fn start(name: &'static str, mut command: Command, abort: &Abort) -> Result<(Self, String), Failure> {
        let errors = tempfile::tempfile().map_err(Failure::while_doing("make a temporary file"))?;
        let theirs = errors.try_clone().map_err(Failure::while_doing("open a temporary file twice"))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(theirs);
        let child = command.spawn();
        let mut child = child.map_err(|error| Failure::Refused(format!("{name} does not start: {error}")))?;
        let commands = child.stdin.take();
        let answers = child.stdout.take().expect("its standard output is a pipe");
        let mut dialogue = Self { name, child, commands, answers, errors, farewell: FAREWELL };
        let greeting = dialogue.answer(abort)?;
        Ok((dialogue, greeting))
    }

    /// Gives a command and returns the answer to it.
    ///
    /// # Errors
    /// If the program ended, the contender was given up, or its limit is over.
    pub fn ask(&mut self, command: &str, abort: &Abort) -> Result<String, Failure> {
        let commands = self.commands.as_mut().expect("only a drop tells it to end");
        match commands.write_all(format!("{command}\n").as_bytes()) {
            Ok(()) => self.answer(abort),
            Err(_) => Err(self.ended()),
        }
    }

    /// Ends the program without a farewell.
    pub fn kill(&mut self) {
        // If that is refused it has ended before.
        let _ = self.child.kill();
    }

    /// The next line: the program says one for each that it is told.
    fn answer(&mut self, abort: &Abort) -> Result<String, Failure> {
        let deadline = Instant::now() + LIMIT;
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            self.await_output(deadline, abort)?;
            let mut part = [0; 1024];
            let len = self.answers.read(&mut part).map_err(Failure::while_doing("read a program's answer"))?;
            if len == 0 {
                return Err(self.ended());
            }
            line.extend_from_slice(&part[..len]);
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    fn await_output(&mut self, deadline: Instant, abort: &Abort) -> Result<(), Failure> {
        while !self.has_output() {
            abort.check().inspect_err(|_| self.farewell = SHORT_FAREWELL)?;
            if Instant::now() > deadline {
                return Err(Failure::Refused(format!("{} did not answer for {} s", self.name, LIMIT.as_secs())));
            }
        }
        Ok(())
    }

    /// Whether there is something to read, the end included; looks for [`LOOK`].
    fn has_output(&self) -> bool {
        let mut fds = [PollFd::new(&self.answers, PollFlags::IN)];
        poll(&mut fds, Some(&LOOK)).unwrap_or(0) > 0
    }

    /// The program ended, and what it said.
    fn ended(&mut self) -> Failure {
        let said = self.said().unwrap_or_default();
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("without a word");
        Failure::Ended(format!("{} ended: {first}", self.name))
    }

    fn said(&mut self) -> io::Result<String> {
        let mut said = Vec::new();
        self.errors.rewind()?;
        self.errors.read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Reads until the program has closed its output, as its end does.
    fn await_end(&mut self, deadline: Instant) {
        let mut rest = [0; 1024];
        while Instant::now() < deadline {
            if self.has_output() && self.answers.read(&mut rest).map_or(true, |len| len == 0) {
                return;
            }
        }
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        // Its input ends, and so does the program: a launcher takes its processes and their shared memory along.
        self.commands = None;
        self.await_end(Instant::now() + self.farewell);
        if !self.has_ended() {
            // A launcher takes its processes along if it is asked to end, and leaves them behind if it is killed.
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            self.await_end(Instant::now() + SHORT_FAREWELL);
        }
        // A program that is still there has hung, and nobody waits for its words.
        self.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell as the program.
    fn shell(script: &str) -> Result<(Dialogue, String), Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Dialogue::start("the shell", command, &Abort::default())
    }

    #[test]
    fn lines_go_there_and_back() {
        let (mut dialogue, greeting) = shell("echo ready; while read line; do echo got $line; done").expect("starts");
        assert_eq!(greeting, "ready");
        for word in ["one", "two"] {
            assert_eq!(dialogue.ask(word, &Abort::default()), Ok(format!("got {word}")));
        }
    }

    #[test]
    fn a_program_that_ends_is_quoted() {
        let failure = shell("echo >&2; echo why not >&2").map(drop).expect_err("it says nothing on its output");
        assert_eq!(failure.to_string(), "the shell ended: why not");
        let (mut dialogue, _) = shell("echo ready; read line").expect("starts");
        let failure = dialogue.ask("go on", &Abort::default()).expect_err("it ends instead");
        assert_eq!(failure.to_string(), "the shell ended: without a word");
    }

    #[test]
    fn a_silent_program_is_left_when_the_contender_is_given_up() {
        let (mut dialogue, _) = shell("echo ready; cat > /dev/null").expect("starts");
        let abort = Abort::default();
        abort.raise();
        assert_eq!(dialogue.ask("hello", &abort), Err(Failure::Aborted));
    }

    #[test]
    fn a_dropped_program_has_ended_in_its_own_way() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("farewell");
        let script = format!("echo ready; cat > /dev/null; echo tidy > {}", path.display());
        drop(shell(&script).expect("starts"));
        assert_eq!(fs::read_to_string(path).ok().as_deref(), Some("tidy\n"));
    }
}
