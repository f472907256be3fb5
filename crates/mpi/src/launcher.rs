//! The launcher that started this process: its family, and the rank and size that it told.
//!
//! A library of one family under another's launcher starts as many programs of one rank as there are processes, without a word.
//! The told size is what the set-up compares with the library's.

use std::ffi::OsString;
use std::fmt;

/// The families of launchers, by the variables that they set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Open MPI's `mpirun`.
    OpenMpi,
    /// Hydra, Intel's launcher, PALS and others that speak PMI: for MPICH and its kin.
    Pmi,
    /// `srun` of Slurm, without a word about PMI.
    Slurm,
}

/// The values that a launcher gave this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launcher {
    /// The launcher's family.
    pub family: Family,
    /// The rank of this process.
    pub rank: usize,
    /// The number of processes of the program.
    pub size: usize,
}

/// Prefixes of the variables by which launchers reach a process. Only one process may start as a rank with them.
pub const VARIABLES: [&str; 4] = ["OMPI_", "PMIX_", "PMI_", "PALS_"];

/// The variables of rank and size, in the order in which they are looked for. Within a Slurm job an MPI's own numbers count.
const KNOWN: [(Family, &str, &str); 3] = [
    (Family::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    (Family::Pmi, "PMI_RANK", "PMI_SIZE"),
    (Family::Slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

impl Launcher {
    /// The launcher that started this process; `None` if none told rank and size.
    #[must_use]
    pub fn from_env() -> Option<Self> {
        Self::told_in(&|variable| std::env::var_os(variable))
    }

    fn told_in(env: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        let number = |variable: &str| env(variable)?.to_str()?.trim().parse::<usize>().ok();
        KNOWN.iter().find_map(|&(family, rank, size)| {
            let (rank, size) = (number(rank)?, number(size)?);
            (rank < size).then_some(Self { family, rank, size })
        })
    }

    /// The names of the libraries that this launcher starts, as the loader knows them. A module that loads Intel's, Cray's or a
    /// newer MPICH puts its `libmpi.so.12` first; `libmpich.so.12` is Debian's name, and stays where that package is installed.
    #[must_use]
    pub fn libraries(self) -> &'static [&'static str] {
        match self.family {
            Family::OpenMpi => &["libmpi.so.40"],
            Family::Pmi => &["libmpi.so.12", "libmpich.so.12"],
            Family::Slurm => &["libmpi.so.40", "libmpi.so.12", "libmpich.so.12"],
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI's mpirun",
            Self::Pmi => "a launcher that speaks PMI (Hydra, Intel MPI, Cray)",
            Self::Slurm => "Slurm's srun",
        })
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, rank {} of {}", self.family, self.rank, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::told_in(&|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_library_of_a_module_is_taken_before_that_of_the_system() {
        for family in [Family::Pmi, Family::Slurm] {
            let names = Launcher { family, rank: 0, size: 1 }.libraries();
            let place = |name: &str| names.iter().position(|known| *known == name);
            assert!(place("libmpi.so.12") < place("libmpich.so.12"), "{family}: {names:?}");
        }
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        for (family, rank, size) in KNOWN {
            assert_eq!(told(&[(rank, "2"), (size, "3")]), Some(Launcher { family, rank: 2, size: 3 }));
            assert_eq!(told(&[(rank, "3"), (size, "3")]), None, "ranks begin at 0");
        }
        let both = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(told(&both).map(|launcher| launcher.family), Some(Family::Pmi));
        assert_eq!(told(&[]), None);
    }
}
