//! Builds the drivers in a temporary directory, each once as long as a contender keeps it open.

use std::collections::HashMap;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use std::{fs, io, thread};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::runtimes::{RUNTIMES, Runtime, StartedBy, Toolchain};
use crate::harness::Abort;
use crate::op::Op;

/// A file of a driver.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// The headers that all drivers include.
const HEADERS: [Source; 2] = [
    Source { name: "driver.h", text: include_str!("driver/driver.h") },
    Source { name: "serve.h", text: include_str!("driver/serve.h") },
];

/// How often is looked whether a compiler has ended.
const LOOK: Duration = Duration::from_millis(10);

const FLAGS: &[&str] = &["-std=gnu11", "-O3"];

/// The workshop that is open, if somebody keeps it so.
static OPEN: Mutex<Weak<Workshop>> = Mutex::new(Weak::new());

/// The directory, and what was built in it. It goes with its last holder.
#[derive(Debug)]
pub struct Workshop {
    directory: PathBuf,
    /// The guard that removes the directory at the end; `None` if it is another process's.
    _owned: Option<TempDir>,
    built: Mutex<HashMap<Key, Result<Built, String>>>,
}

/// The name of a driver's source, and the first compiler it is offered to.
type Key = (&'static str, &'static str);

/// A driver that was built, and what starts it.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) driver: PathBuf,
    pub(super) launcher: Option<StartedBy>,
}

impl Workshop {
    /// The open workshop, or a new one.
    ///
    /// # Errors
    /// Why there is no directory with the sources.
    pub fn open() -> Result<Arc<Self>, String> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workshop) = open.upgrade() {
            return Ok(workshop);
        }
        let workshop = Arc::new(Self::make().map_err(|error| format!("no directory to build a driver in: {error}"))?);
        *open = Arc::downgrade(&workshop);
        Ok(workshop)
    }

    /// The workshop of another process, whose drivers are taken as they are. It is the open one as long as it is kept.
    pub fn lent(directory: &Path) -> Arc<Self> {
        let workshop = Arc::new(Self { directory: directory.to_owned(), _owned: None, built: Mutex::default() });
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&workshop);
        workshop
    }

    /// Where drivers are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Builds the drivers of all runtimes that have this operation; one that cannot be built says so when it is raced.
    pub fn build_all(&self, op: Op, abort: &Abort) {
        for runtime in RUNTIMES.iter().filter(|runtime| runtime.ops.contains(&op)) {
            let _ = self.build(runtime, abort);
        }
    }

    fn make() -> io::Result<Self> {
        let owned = tempfile::Builder::new().prefix("corecast-drivers-").tempdir()?;
        for Source { name, text } in HEADERS {
            fs::write(owned.path().join(name), text)?;
        }
        Ok(Self { directory: owned.path().to_owned(), _owned: Some(owned), built: Mutex::default() })
    }

    /// The runtime's driver, built if it was not before.
    ///
    /// # Errors
    /// The message of its first toolchain.
    pub(super) fn build(&self, runtime: &Runtime, abort: &Abort) -> Result<Built, String> {
        let first = runtime.toolchains.first().ok_or("nothing builds it")?;
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = built.entry((runtime.source.name, first.compiler)).or_insert_with(|| {
            let mut outcomes =
                runtime.toolchains.iter().map(|toolchain| self.compile(runtime.source, toolchain, abort));
            let first = outcomes.next().expect("it was just looked at");
            first.or_else(|error| outcomes.find_map(Result::ok).ok_or(error))
        });
        outcome.clone()
    }

    pub(super) fn compile(&self, source: &Source, toolchain: &Toolchain, abort: &Abort) -> Result<Built, String> {
        let Toolchain { compiler, flags, libraries, launcher } = *toolchain;
        let directory = self.directory.as_path();
        let driver = directory.join(format!("{}-{compiler}", source.name));
        if driver.exists() {
            return Ok(Built { driver, launcher });
        }
        let written = fs::write(directory.join(source.name), source.text);
        written.map_err(|error| format!("{} cannot be written: {error}", source.name))?;
        let mut command = Command::new(compiler);
        command.current_dir(directory).args(FLAGS).args(flags).arg(source.name).arg("-o").arg(&driver);
        let (status, messages) = run_unless(command.args(libraries), abort)
            .map_err(|error| format!("`{compiler}` does not start: {error}"))?
            .ok_or_else(|| format!("`{compiler}` was stopped"))?;
        if status.success() {
            return Ok(Built { driver, launcher });
        }
        Err(format!("`{compiler}`: {}", first_error(&String::from_utf8_lossy(&messages))))
    }
}

/// How a program ended, and what it said of errors; `None` if the contender was given up meanwhile: the program has ended then
/// too, with all that it started.
fn run_unless(command: &mut Command, abort: &Abort) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let mut errors = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone()?);
    let mut process = command.process_group(0).spawn()?;
    loop {
        if let Some(status) = process.try_wait()? {
            let mut messages = Vec::new();
            errors.rewind()?;
            errors.read_to_end(&mut messages)?;
            return Ok(Some((status, messages)));
        }
        if abort.check().is_err() {
            // If that is refused it has just ended.
            let _ = kill_process_group(Pid::from_child(&process), Signal::KILL);
            process.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// The first line of a compiler's messages that speaks of an error.
fn first_error(messages: &str) -> &str {
    let mut lines = messages.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or("no word of what failed");
    lines.find(|line| line.contains("error")).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_quoted_or_else_the_first_line() {
        assert_eq!(
            first_error("In file included from a.c:1:\n\n b.h:7: error: no\n  error: more\n"),
            "b.h:7: error: no"
        );
        assert_eq!(first_error("\nld: cannot find -lck\n"), "ld: cannot find -lck");
        assert_eq!(first_error(""), "no word of what failed");
    }

    #[test]
    fn a_compiler_is_stopped_with_what_it_started() {
        let abort = Abort::default();
        let said = |script: &str| run_unless(Command::new("sh").args(["-c", script]), &abort).expect("a shell");
        let (status, messages) = said("echo why >&2; exit 3").expect("nobody gives it up");
        assert_eq!((status.code(), messages.as_slice()), (Some(3), &b"why\n"[..]));
        abort.raise();
        assert!(said("sleep 1000 & wait").is_none());
    }

    #[test]
    fn a_missing_compiler_is_named_and_asked_for_once() {
        let workshop = Workshop::make().expect("a temporary directory");
        let missing = Toolchain { compiler: "no-such-cc", flags: &[], libraries: &[], launcher: None };
        let error = workshop.compile(&HEADERS[0], &missing, &Abort::default()).map(drop).expect_err("there is none");
        assert!(error.starts_with("`no-such-cc` does not start: "), "{error}");
    }
}
