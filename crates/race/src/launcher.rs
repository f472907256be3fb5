//! Launchers of MPI programs: their families, and how each starts ranks that it does not bind to CPUs.
//!
//! They start the contenders that are MPI libraries, and programs that were written elsewhere. Corecast's preload object is put
//! before the ranks, and not before their launcher.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::preload;

/// The arguments and the variables of one family.
#[derive(Debug, PartialEq)]
pub struct Launcher {
    /// The arguments before the number of ranks, which stands for `{members}`.
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    /// The variable by which ranks learn whether they share CPUs, where they cannot see that.
    if_oversubscribed: Option<&'static str>,
}

impl Launcher {
    /// Open MPI's. It refuses to start as root unless told twice. It has as many slots as ranks: with fewer they would yield at
    /// every look, even where each has a CPU. It looks at the machine's CPUs and not at those it may use.
    pub const OPEN_MPI: Self = Self {
        arguments: &["--bind-to", "none", "--host", "localhost:{members}", "-n"],
        variables: &[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")],
        if_oversubscribed: Some("OMPI_MCA_mpi_yield_when_idle"),
    };
    /// MPICH's.
    pub const HYDRA: Self = Self { arguments: &["-bind-to", "none", "-n"], variables: &[], if_oversubscribed: None };
    /// Intel MPI's.
    pub const INTEL: Self = Self { arguments: &["-n"], variables: &[("I_MPI_PIN", "0")], if_oversubscribed: None };

    /// The family that this program tells with its version.
    ///
    /// # Errors
    /// A [`Failure`] if it does not start, or tells none.
    pub fn of(program: &Path) -> Result<&'static Self, Failure> {
        let told = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        let told = told.map_err(|error| Failure::refused(format!("cannot start {}: {error}", program.display())))?;
        let words = String::from_utf8_lossy(&told.stdout).into_owned();
        Self::telling(&words).ok_or_else(|| {
            let first = words.lines().next().unwrap_or("nothing");
            let program = program.display();
            Failure::refused(format!("`{program} --version` names neither Open MPI, HYDRA nor Intel MPI: '{first}'"))
        })
    }

    fn telling(words: &str) -> Option<&'static Self> {
        let families = [
            ("Open MPI", &Self::OPEN_MPI),
            ("Open RTE", &Self::OPEN_MPI),
            ("Intel(R) MPI", &Self::INTEL),
            ("HYDRA", &Self::HYDRA),
        ];
        families.into_iter().find(|(name, _)| words.contains(name)).map(|(_, family)| family)
    }

    /// The command that starts this number of ranks, behind which the program of the ranks stands. With `object` the preload
    /// object is loaded into each of them.
    #[must_use]
    pub fn command(&self, program: &Path, ranks: usize, oversubscribed: bool, object: Option<&Path>) -> Command {
        let mut command = Command::new(program);
        let members = ranks.to_string();
        command.args(self.arguments.iter().map(|argument| argument.replace("{members}", &members))).arg(members);
        command.envs(self.variables.iter().copied());
        if let Some(variable) = self.if_oversubscribed {
            command.env(variable, u8::from(oversubscribed).to_string());
        }
        if let Some(object) = object {
            command.arg("env").arg(["LD_PRELOAD".as_ref(), object.as_os_str()].join(OsStr::new("=")));
            command.arg(SET_UP_EARLY);
        }
        command
    }
}

/// The object sets a communicator up while a program warms up. After the usual 100 calls it would do so while blocks are measured
/// out, which were then a few operations long.
const SET_UP_EARLY: &str = "CORECAST_MPI_AFTER=10";

/// The path of corecast's preload object for MPI.
///
/// # Errors
/// How it is built, and where it is looked for.
pub fn preload_object() -> Result<PathBuf, String> {
    const FILE: &str = "libcorecast_mpi.so";
    let missing =
        || format!("no {FILE} is there: `cargo build --release -p corecast-shim-mpi`, and {}", preload::DIR_VARIABLE);
    preload::find(FILE, &preload::folders()).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_words() {
        let told = Launcher::telling;
        assert_eq!(told("mpirun (Open MPI) 4.1.4\n"), Some(&Launcher::OPEN_MPI));
        assert_eq!(told("HYDRA build details:\n    Version:  4.0.2\n"), Some(&Launcher::HYDRA));
        assert_eq!(told("Intel(R) MPI Library for Linux* OS, Version 2021.19.0\n"), Some(&Launcher::INTEL));
        assert_eq!(told("slurm 23\n"), None);
        let error = Launcher::of(Path::new("/no/such/launcher")).expect_err("there is none").to_string();
        assert!(error.contains("/no/such/launcher"), "{error}");
        let error = Launcher::of(Path::new("true")).expect_err("it is no launcher").to_string();
        assert!(error.contains("names neither Open MPI"), "{error}");
    }

    #[test]
    fn only_ranks_have_the_object() {
        let words = |object: Option<&Path>| {
            let mut command = Launcher::OPEN_MPI.command(Path::new("mpirun"), 4, true, object);
            command.arg("program");
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(None), "--bind-to none --host localhost:4 -n 4 program");
        let with = words(Some(Path::new("/a.so")));
        assert!(with.ends_with("-n 4 env LD_PRELOAD=/a.so CORECAST_MPI_AFTER=10 program"), "{with}");
    }
}
