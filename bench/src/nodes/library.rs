//! The MPI libraries that take part, and how their launchers start processes on the hosts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use corecast::mpi::SURVIVAL_FLAGS;
use corecast_race::failure::Failure;

use super::bed::Bed;
use super::work::HostMembers;

/// The families of launchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Open MPI of version 4.
    OpenMpi4,
    /// Open MPI of version 5, whose launcher is prterun.
    OpenMpi5,
    /// Hydra: of MPICH and Intel MPI.
    Hydra,
}

/// A library with its launcher.
#[derive(Clone, Debug)]
pub(super) struct Library {
    /// Its name in reports.
    pub(super) name: String,
    pub(super) kind: Kind,
    launcher: PathBuf,
    /// The folder and the file of its library, if the loader does not know it.
    library: Option<(PathBuf, PathBuf)>,
}

/// The names that Debian gives launchers.
const USUAL: [(&str, &str); 2] = [("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")];

/// The libraries of this system and those in these folders, each with `bin/mpiexec` and `lib`; and the names of those that are
/// missing, with the reason.
pub(super) fn find(homes: &[PathBuf]) -> (Vec<Library>, Vec<(String, String)>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (name, launcher) in USUAL {
        match usual(name, launcher) {
            Ok(library) => found.push(library),
            Err(reason) => missing.push((name.to_owned(), reason)),
        }
    }
    for home in homes {
        match at(home) {
            Ok(library) => found.push(library),
            Err(reason) => missing.push((home.display().to_string(), reason)),
        }
    }
    (found, missing)
}

fn usual(name: &str, launcher: &str) -> Result<Library, String> {
    let told = Command::new(launcher).arg("--version").stdin(Stdio::null()).output();
    let told = told.map_err(|_| format!("{launcher} is not installed"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let kind = match name {
        "openmpi" if told.contains("prrte") || told.contains(") 5.") => Kind::OpenMpi5,
        "openmpi" => Kind::OpenMpi4,
        _ => Kind::Hydra,
    };
    Ok(Library { name: name.to_owned(), kind, launcher: launcher.into(), library: None })
}

fn at(home: &Path) -> Result<Library, String> {
    let home = home.canonicalize().map_err(|error| error.to_string())?;
    let (launcher, folder) = (home.join("bin/mpiexec"), home.join("lib"));
    if !launcher.exists() {
        return Err(format!("there is no {}", launcher.display()));
    }
    let (kind, file) = match folder.join("libmpi.so.40") {
        file if file.exists() && home.join("bin/prte").exists() => (Kind::OpenMpi5, file),
        file if file.exists() => (Kind::OpenMpi4, file),
        _ => (Kind::Hydra, folder.join("libmpi.so.12")),
    };
    let words = home.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let name = words.into_iter().find(|word| word.contains("mpi") && !word.ends_with(".data"));
    let name = name.unwrap_or_else(|| home.display().to_string());
    Ok(Library { name, kind, launcher, library: Some((folder, file)) })
}

/// A launch of one program on some hosts.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) hosts: usize,
    /// MPI processes on them.
    pub(super) processes: HostMembers,
    /// True if ranks that follow each other are on different hosts.
    pub(super) is_dealt: bool,
    /// True if deaths are to be survived, where the library is able to.
    pub(super) is_tolerant: bool,
}

impl Library {
    /// True if nodes may die.
    pub(super) fn survives(&self) -> bool {
        self.kind == Kind::OpenMpi5
    }

    /// The options with which the launcher lets nodes die, if it has any.
    pub(super) fn survival_flags(&self) -> Option<&'static str> {
        self.survives().then_some(SURVIVAL_FLAGS)
    }

    /// The command that launches this program, with its words, on the hosts.
    ///
    /// # Errors
    /// That of [`Library::words`].
    pub(super) fn command(&self, bed: &Bed, layout: Layout, program: &[String]) -> Result<Command, Failure> {
        let words = self.words(bed, layout)?.into_iter().chain(program.iter().cloned());
        let mut command = bed.at_switch(&words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" "));
        self.set_variables(&mut command);
        Ok(command)
    }

    /// The launcher, with all that comes before the program.
    ///
    /// # Errors
    /// A [`Failure`] if the names of hosts cannot be written for it.
    pub(super) fn words(&self, bed: &Bed, layout: Layout) -> Result<Vec<String>, Failure> {
        let Layout { hosts, processes, is_dealt, is_tolerant } = layout;
        let (agent, list) = (bed.agent().display().to_string(), bed.list(hosts, &processes));
        let dealt = if is_dealt && self.kind != Kind::Hydra { "--map-by node" } else { "" };
        let options = match self.kind {
            Kind::OpenMpi4 => format!(
                "--allow-run-as-root --mca plm_rsh_agent {agent} --host {list} --bind-to none --mca pml ob1 \
                 --mca btl tcp,self,vader --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1"
            ),
            Kind::OpenMpi5 => format!(
                "--allow-run-as-root --prtemca plm_ssh_agent {agent} --host {list} --bind-to none \
                 --mca btl tcp,self,sm --mca mpi_yield_when_idle 1 {}",
                if is_tolerant { SURVIVAL_FLAGS } else { "--mca pml ob1" }
            ),
            // A file in which hosts come again would start a daemon for each line, each with a host of its own.
            Kind::Hydra if is_dealt => format!("-launcher ssh -launcher-exec {agent} -hosts {list} -ppn 1"),
            Kind::Hydra => {
                let file = bed.machine_file(hosts, &processes)?;
                format!("-launcher ssh -launcher-exec {agent} -machinefile {}", file.display())
            }
        };
        let launcher = self.launcher.display();
        let words =
            format!("{launcher} {options} {dealt} -n {}", (0..hosts).map(|host| processes.at(host)).sum::<usize>());
        Ok(words.split_whitespace().map(str::to_owned).collect())
    }

    /// Names the library to the processes of a command, and lets root launch.
    pub(super) fn set_variables(&self, command: &mut Command) {
        if let Some((folder, file)) = &self.library {
            command.env("LD_LIBRARY_PATH", folder).env("CORECAST_MPI", file);
        }
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_reach_a_shell_as_they_are() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
