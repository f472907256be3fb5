//! A server of another project as a process: started with a socket in a folder of its own, and ended with the benchmark, also
//! if that is killed.

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::bound::end_with_parent;
use corecast_race::failure::Failure;

/// How long a server may take until it listens.
const STARTING: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// A server that listens.
pub(crate) struct Server {
    process: Child,
    /// Goes with the server.
    _folder: TempDir,
    socket: PathBuf,
}

impl Server {
    /// Starts a program. `words` are its arguments, given the path at which it is to listen.
    pub(crate) fn start(
        program: &Path,
        words: impl FnOnce(&Path) -> Vec<String>,
        package: &str,
    ) -> Result<Self, Failure> {
        Self::start_in(&[], program, words, package)
    }

    /// The same with these variables in its environment.
    pub(crate) fn start_in(
        variables: &[(&str, OsString)],
        program: &Path,
        words: impl FnOnce(&Path) -> Vec<String>,
        package: &str,
    ) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
        let socket = folder.path().join("socket");
        let mut command = Command::new(program);
        command.args(words(&socket)).envs(variables.iter().cloned()).current_dir(folder.path()).process_group(0);
        end_with_parent(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let absent = |error| Failure::Refused(format!("cannot start {}: {error}; {package}", program.display()));
        let mut server = Self { process: command.spawn().map_err(absent)?, _folder: folder, socket };
        let until = Instant::now() + STARTING;
        while UnixStream::connect(&server.socket).is_err() {
            if let Ok(Some(status)) = server.process.try_wait() {
                return Err(Failure::Refused(format!("{} ended before it listened: {status}", program.display())));
            }
            if Instant::now() > until {
                return Err(Failure::Refused(format!("{} does not listen", program.display())));
            }
            thread::sleep(LOOK);
        }
        Ok(server)
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.process),
            rustix::process::Signal::TERM,
        );
        let until = Instant::now() + Duration::from_secs(2);
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(LOOK);
        }
        // It has been asked, and what it keeps is of no use.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
