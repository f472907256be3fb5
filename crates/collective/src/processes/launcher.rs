//! Other launchers: the rank and number of processes that they pass to the processes they start.

use std::env;
use std::ffi::OsString;

use super::error::JoinError;
use super::invitation::number;

/// A launcher, and the variables that hold rank and number.
struct Known(&'static str, &'static str, &'static str);

/// In the order in which they are looked for: for an MPI that runs inside a Slurm job, the MPI's own numbers count.
const KNOWN: [Known; 4] = [
    Known("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    Known("PMI", "PMI_RANK", "PMI_SIZE"),
    Known("Slurm", "SLURM_PROCID", "SLURM_NTASKS"),
    Known("the environment", "RANK", "WORLD_SIZE"),
];

/// The values that a launcher gave this process. They include no name to meet at: the program has to choose one, unique
/// among the jobs that run at the time, such as for [`Invitation::by_name`](super::Invitation::by_name). All processes have
/// to run on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launcher {
    /// The launcher's name: `Open MPI` (mpirun), `PMI` (MPICH, Intel MPI, Hydra), `Slurm` (srun), or `the environment`
    /// (`RANK` and `WORLD_SIZE`).
    pub name: &'static str,
    /// The rank of this process.
    pub rank: usize,
    /// The number of processes.
    pub members: usize,
}

impl Launcher {
    /// The launcher that started this process, if it set rank and number.
    ///
    /// # Errors
    /// [`JoinError::Environment`] if they are not numbers, or the rank is not below the number.
    pub fn from_env() -> Result<Option<Self>, JoinError> {
        Self::told_in(&|variable| env::var_os(variable))
    }

    fn told_in(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>, JoinError> {
        for Known(name, rank_variable, members_variable) in KNOWN {
            let rank: Option<usize> = number(env, rank_variable, "a rank from 0 on")?;
            let members = number(env, members_variable, "a number of processes")?;
            let (Some(rank), Some(members)) = (rank, members) else { continue };
            if rank >= members {
                let (variable, value) = (rank_variable.to_owned(), rank.to_string());
                let expected = "a rank below the number of processes";
                return Err(JoinError::Environment { variable, value, expected });
            }
            return Ok(Some(Self { name, rank, members }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> Result<Option<Launcher>, String> {
        let env = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        Launcher::told_in(&env).map_err(|error| error.to_string())
    }

    #[test]
    fn each_launcher_is_known_by_its_variables() {
        for Known(name, rank, members) in KNOWN {
            assert_eq!(told(&[(rank, "2"), (members, "3")]), Ok(Some(Launcher { name, rank: 2, members: 3 })));
        }
        let both = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(told(&both), Ok(Some(Launcher { name: "PMI", rank: 1, members: 2 })));
        assert_eq!(told(&[]), Ok(None));
        assert_eq!(told(&[("RANK", "1")]), Ok(None), "half of it is nothing");
    }

    #[test]
    fn impossible_values_are_reported_by_variable() {
        let rank = told(&[("PMI_RANK", "-1"), ("PMI_SIZE", "2")]);
        let expected = "the environment variable PMI_RANK is '-1', expected a rank from 0 on";
        assert_eq!(rank, Err(expected.to_owned()));
        let outside = told(&[("PMI_RANK", "2"), ("PMI_SIZE", "2")]).expect_err("ranks begin at 0");
        assert!(outside.ends_with("expected a rank below the number of processes"), "{outside}");
    }
}
