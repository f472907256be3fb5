//! One launch: its work and its processes, which are ended if they take too long.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::bed::{self, Bed};
use super::library::{Layout, Library};
use super::work::{HostMembers, NodesShape, Task, Work, put};

/// The variable with the place at which a process dies.
const CRASH_VARIABLE: &str = "CORECAST_CRASH_AT";

const LOOK: Duration = Duration::from_millis(2);
/// The lines at the end of a launcher's output that are told when it fails.
const LAST_LINES: usize = 6;

/// The programs that launchers start.
#[derive(Clone, Debug)]
pub struct NodesPrograms {
    /// The program in which [`nodes_member`](super::nodes_member) is called.
    pub member: PathBuf,
    /// The words it is called with, before the path of the work.
    pub words: Vec<String>,
    /// The program `corecast`.
    pub corecast: PathBuf,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ended {
    Well,
    /// With these words.
    Badly(String),
    /// Its launcher has found a fault of its own, in these words, and no process has told one.
    Launcher(String),
    /// It was ended at its limit.
    Hung,
}

/// A launch under way.
pub(super) struct Launch<'a> {
    bed: &'a Bed,
    child: Child,
    begin: Instant,
    pub(super) work: Work,
    folder: TempDir,
}

impl<'a> Launch<'a> {
    /// Starts the work's processes on this number of hosts.
    pub(super) fn start(
        bed: &'a Bed,
        library: &Library,
        programs: &NodesPrograms,
        hosts: usize,
        (shape, members, task): (NodesShape, HostMembers, Task),
        lanes: usize,
    ) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("corecast-launch-").tempdir();
        let folder = folder.map_err(Failure::while_doing("make a temporary folder"))?;
        let is_tolerant = matches!(task, Task::Die { .. });
        let processes = shape.processes(&members);
        let work = Work { shape, members, lanes, task, folder: folder.path().to_owned() };
        put(&work.path(), &work)?;
        let is_dealt = shape == NodesShape::DealtRanks;
        let layout = Layout { hosts, processes, is_dealt, is_tolerant };
        let mut command = library.command(bed, layout, &programs.of(&work, hosts))?;
        let log = File::create(folder.path().join("log")).map_err(Failure::while_doing("make a log"))?;
        let errors = log.try_clone().map_err(Failure::while_doing("make a log"))?;
        command.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
        let child = command.spawn().map_err(Failure::while_doing("start a launcher"))?;
        Ok(Self { bed, child, begin: Instant::now(), work, folder })
    }

    /// Waits for its end, at most so long from its start on.
    pub(super) fn finish(mut self, limit: Duration, options: &Options) -> Result<(Work, TempDir, Ended), BenchError> {
        let ended = loop {
            if let Some(status) = self.child.try_wait().map_err(Failure::while_doing("wait for a launcher"))? {
                break if status.success() { Ended::Well } else { self.failed() };
            }
            if self.begin.elapsed() > limit || options.go_on().is_err() {
                self.end();
                options.go_on()?;
                break Ended::Hung;
            }
            thread::sleep(LOOK);
        };
        // Daemons may outlive their launcher for a moment, and processes a launcher that was killed.
        self.bed.clear();
        Ok((self.work, self.folder, ended))
    }

    fn end(&mut self) {
        // If that is refused it has just ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.bed.clear();
        let _ = self.child.wait();
    }

    /// A bad end with its reason: that of its processes, or the last lines of its output.
    fn failed(&self) -> Ended {
        let failures = self.work.failures();
        if let Some(first) = failures.first() {
            return Ended::Badly(first.clone());
        }
        let log = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let words = lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
        if is_launchers_own(&log) { Ended::Launcher(words) } else { Ended::Badly(words) }
    }

    /// True if it has ended, takes too long, or the user wants to stop.
    pub(super) fn is_over(&mut self, limit: Duration, options: &Options) -> bool {
        self.begin.elapsed() > limit || options.go_on().is_err() || !matches!(self.child.try_wait(), Ok(None))
    }
}

/// True if the launcher's output tells a fault of its own and the death of no process. Hydra of MPICH 4.0.2 loses a daemon in
/// one of some dozen launches on two hosts, of programs that only initialise and finalize MPI, too.
fn is_launchers_own(log: &str) -> bool {
    log.contains("process manager error waiting for completion") && !log.contains("APPLICATION TERMINATED")
}

impl NodesPrograms {
    /// The words of one MPI process.
    fn of(&self, work: &Work, hosts: usize) -> Vec<String> {
        let text = |path: &PathBuf| path.display().to_string();
        let mut words = Vec::new();
        // All hosts run the same words, and a shell there knows the host's number of members and its place of a death.
        let death = |host: usize| match work.task {
            Task::Die { at: Some(at), .. } if at.host == host => {
                format!("export {CRASH_VARIABLE}={};", at.variable())
            }
            _ => String::new(),
        };
        let own = |host: usize| format!("{}) n={};{};", bed::name(host + 1), work.members.at(host), death(host));
        let cases = format!("case $(hostname) in {} esac", (0..hosts).map(own).collect::<String>());
        if work.shape == NodesShape::Nested {
            // Each death takes memory of the group, and half of the room that is left.
            let line = format!("{cases}; exec \"$0\" run --no-pin --room 256Mi -n $n -- \"$@\"");
            words.extend(["sh".to_owned(), "-c".to_owned(), line, text(&self.corecast)]);
        } else if matches!(work.task, Task::Die { at: Some(_), .. }) {
            words.extend(["sh".to_owned(), "-c".to_owned(), format!("{cases}; exec \"$0\" \"$@\"")]);
        }
        words.push(text(&self.member));
        words.extend(self.words.iter().cloned());
        words.push(text(&work.path()));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::is_launchers_own;

    #[test]
    fn a_launcher_that_lost_a_daemon_is_told_from_a_process_that_died() {
        let own = "[mpiexec@switch] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n\
                   [mpiexec@switch] main (ui/mpich/mpiexec.c:325): process manager error waiting for completion\n";
        assert!(is_launchers_own(own));
        assert!(!is_launchers_own(&format!(
            "{own}YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)\n"
        )));
        assert!(!is_launchers_own("prterun noticed that process rank 1 exited on signal 9"));
    }
}
