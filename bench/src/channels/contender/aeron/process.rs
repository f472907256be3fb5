//! The Java program: started for one wire in a directory of its own, and killed when it is dropped.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::super::super::wire::Wire;
use corecast_race::dialogue::Dialogue;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// The program.
const SOURCE: &str = include_str!("AeronStream.java");
const SOURCE_NAME: &str = "AeronStream.java";
/// The options of Aeron's own scripts: its driver looks into the system's selectors, and its buffers are not checked.
const OPTIONS: [&str; 2] = ["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-Dagrona.disable.bounds.checks=true"];
/// Memory that looks like a directory.
const MEMORY: &str = "/dev/shm";
/// The bytes of the media driver's files: three terms and some.
const NEEDED_BYTES: u64 = 512 << 20;

/// The running program. Everything it leaves is in its directory, which goes with it.
pub(super) struct Process {
    dialogue: Dialogue,
    _directory: TempDir,
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
        let mut command = Command::new("java");
        command.args(OPTIONS).arg("-cp").arg(jar).arg(source).arg(directory.path().join("driver"));
        command.args([wire.bytes.to_string(), wire.receivers.to_string()]);
        command.arg(if wire.oversubscribed { "yield" } else { "spin" });
        let (dialogue, greeting) = Dialogue::start("the Java program", command, abort)?;
        Ok((Self { dialogue, _directory: directory }, greeting))
    }

    /// Gives a command and returns the answer to it.
    ///
    /// # Errors
    /// As [`Dialogue::ask`].
    pub(super) fn ask(&mut self, command: &str, abort: &Abort) -> Result<String, Failure> {
        self.dialogue.ask(command, abort)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to lose: what it leaves is in the directory, which is deleted next.
        self.dialogue.kill();
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
