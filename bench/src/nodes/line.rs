//! A command line of the user on hosts made of network namespaces.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;

use super::bed::Bed;
use super::library::{self, Layout};
use super::work::HostMembers;

/// The variable with the names of the hosts, between commas.
const HOSTS: &str = "CORECAST_HOSTS";
/// The variable with the program that runs a command line on a host.
const AGENT: &str = "CORECAST_AGENT";
/// The variable with the words of an MPI launcher, up to the program.
const LAUNCHER: &str = "CORECAST_MPIRUN";
/// The time between two looks at the line and at the user's wish to stop it.
const LOOK: Duration = Duration::from_millis(10);

/// A command line, and the hosts for it.
#[derive(Clone, Debug)]
pub struct NodesLine {
    /// The number of hosts.
    pub hosts: usize,
    /// Folders of further libraries, each with `bin/mpiexec` and `lib`.
    pub homes: Vec<PathBuf>,
    /// The library whose launcher the line may use; the first one if `None`.
    pub library: Option<String>,
    /// The line, as a shell takes it.
    pub line: String,
}

/// Makes hosts and runs the line beside them, from where a launcher reaches all. The line finds the names of the hosts in
/// `CORECAST_HOSTS`, in `CORECAST_AGENT` a program that takes a host and a command line for it, and in `CORECAST_MPIRUN` the
/// words of a launcher with one process on each host, if a library is installed. The hosts end with it, and everything on them;
/// a line whose user has cancelled it is killed.
///
/// # Errors
/// A [`Failure`] if there are no hosts here, no such library, or no shell.
pub fn run_on_nodes(settings: &NodesLine, cancel: &Cancel) -> Result<ExitStatus, Failure> {
    let (libraries, missing) = library::find(&settings.homes);
    let is_wanted = |name: &str| settings.library.as_deref().is_none_or(|wanted| wanted == name);
    let library = libraries.iter().find(|library| is_wanted(&library.name));
    if let (Some(wanted), None) = (&settings.library, library) {
        let reason = missing.iter().find(|(name, _)| name == wanted).map(|(_, reason)| reason.clone());
        let known = || libraries.iter().map(|library| library.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Failure::refused(
            reason.unwrap_or_else(|| format!("no library '{wanted}': there are {}", known())),
        ));
    }
    let bed = Bed::make(settings.hosts).map_err(Failure::refused)?;
    let mut command = bed.at_switch(&settings.line);
    if let Some(library) = library {
        let processes = HostMembers::even(1);
        let layout = Layout { hosts: settings.hosts, processes, is_dealt: false, is_tolerant: library.survives() };
        command.env(LAUNCHER, library.words(&bed, layout)?.join(" "));
        library.set_variables(&mut command);
    }
    command.env(HOSTS, bed.names().join(",")).env(AGENT, bed.agent());
    let mut shell = command.spawn().map_err(Failure::while_doing("start a shell"))?;
    loop {
        if cancel.is_cancelled() {
            // It may have ended by itself.
            let _ = shell.kill();
            return shell.wait().map_err(Failure::while_doing("wait for the line"));
        }
        match shell.try_wait().map_err(Failure::while_doing("wait for the line"))? {
            Some(status) => return Ok(status),
            None => thread::sleep(LOOK),
        }
    }
}
