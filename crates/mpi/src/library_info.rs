//! The library that was found, for people: its version, its interface, what it survives, and how a launcher is told.

use std::fmt;

use crate::abi::Abi;
use crate::error::OpenError;
use crate::launcher::Launcher;
use crate::library::Library;

/// The library that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryInfo {
    /// Its words about itself.
    pub version: String,
    /// Its file.
    pub path: String,
    /// Why it was taken.
    pub reason: String,
    /// Its binary interface.
    pub abi: Abi,
    /// The version of the standard that it implements, as major and minor number.
    pub standard: (u32, u32),
    /// Why it does not survive the death of a node; `None` if it does.
    pub mortality: Option<&'static str>,
}

macro_rules! survival_flags {
    () => {
        "--with-ft ulfm --mca mpi_ft_propagator_with_rbcast 1 --mca coll ^han --mca pml ob1"
    };
}

/// The options with which the launcher of Open MPI from version 5 on lets a program survive the death of a process.
///
/// A death closes connections, and each process that sees one close tells all others: without that propagator, survivors were
/// never told in 6 of 13 launches of a plain program on four hosts with version 5.0.11 over TCP, and with it in 0 of 70. The
/// detector that listens for heartbeats (`mpi_ft_detector`) is left off, as it takes a process that computes for longer than its
/// time-out for dead, and ends it: with 0.4 s each launch in which one computed for 2 s. Its thread prevents that, but calls MPI
/// beside the program: 2 of 3 runs of the tests of deaths failed, and launches took 30 s longer. The component `han` crashes if a
/// death precedes its first collective (ompi#13915), and only `ob1` is adapted to failures.
pub const SURVIVAL_FLAGS: &str = survival_flags!();

impl LibraryInfo {
    /// Finds and loads the library that [`Cluster::from_env`](crate::Cluster::from_env) would take, and does not initialise it.
    ///
    /// # Errors
    /// [`OpenError::NoLibrary`] or [`OpenError::Incomplete`].
    pub fn find() -> Result<Self, OpenError> {
        Library::find(Launcher::from_env()).map(|library| Self::of(&library))
    }

    pub(crate) fn of(library: &Library) -> Self {
        Self {
            version: library.version(),
            path: library.loaded.path.clone(),
            reason: library.loaded.origin.to_string(),
            abi: library.constants.abi,
            standard: library.standard(),
            mortality: library.survives_deaths().err(),
        }
    }

    /// The options to give to the library's launcher: one process on each node, which may use all CPUs, and survival of the death
    /// of a node where the library is able to.
    #[must_use]
    pub fn launch_flags(&self) -> &'static str {
        match self.abi {
            Abi::OpenMpi if self.major() >= 5 => concat!("--map-by ppr:1:node --bind-to none ", survival_flags!()),
            Abi::OpenMpi => "--map-by ppr:1:node --bind-to none",
            _ => "-ppn 1 -bind-to none",
        }
    }

    /// The first number in the library's words about itself, which is its major version.
    fn major(&self) -> u32 {
        let digits = self.version.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().unwrap_or(0)
    }
}

impl fmt::Display for LibraryInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, path, reason, abi, standard: (major, minor), .. } = self;
        write!(f, "{version}, {abi} ABI, MPI {major}.{minor}, {path} ({reason})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(version: &str, abi: Abi) -> LibraryInfo {
        LibraryInfo {
            version: version.to_owned(),
            path: "libmpi.so".to_owned(),
            reason: "it is a test".to_owned(),
            abi,
            standard: (3, 1),
            mortality: None,
        }
    }

    #[test]
    fn flags_are_those_of_the_launcher() {
        assert_eq!(info("Open MPI v4.1.4", Abi::OpenMpi).launch_flags(), "--map-by ppr:1:node --bind-to none");
        assert!(info("Open MPI v5.0.11", Abi::OpenMpi).launch_flags().contains("--with-ft ulfm"));
        assert_eq!(info("MPICH Version: 4.0.2", Abi::Mpich).launch_flags(), "-ppn 1 -bind-to none");
        assert_eq!(info("no number", Abi::OpenMpi).launch_flags(), "--map-by ppr:1:node --bind-to none");
    }
}
