//! What launchers of other makes tell the processes they start: how many there are, and which one it is.

use super::error::JoinError;
use super::invitation::number;

/// A launcher, and the variables in which it tells rank and number.
struct Known(&'static str, &'static str, &'static str);

/// In the order in which they are looked for: an MPI that runs inside a Slurm job knows better than Slurm.
const KNOWN: [Known; 4] = [
    Known("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    Known("PMI", "PMI_RANK", "PMI_SIZE"),
    Known("Slurm", "SLURM_PROCID", "SLURM_NTASKS"),
    Known("the environment", "RANK", "WORLD_SIZE"),
];

/// What a launcher told this process. It knows no name to meet at: the program has to, one for each job at a time, such as
/// for [`Invitation::by_name`](super::Invitation::by_name). All processes have to run on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launcher {
    /// What it is called: `Open MPI` (mpirun), `PMI` (MPICH, Intel MPI, Hydra), `Slurm` (srun), or `the environment`
    /// (`RANK` and `WORLD_SIZE`).
    pub name: &'static str,
    /// The rank of this process.
    pub rank: usize,
    /// The number of processes.
    pub members: usize,
}

impl Launcher {
    /// The launcher that started this process, if it told rank and number.
    ///
    /// # Errors
    /// [`JoinError::Environment`] if they are no numbers, or the rank is not below the number.
    pub fn from_env() -> Result<Option<Self>, JoinError> {
        for Known(name, rank_variable, members_variable) in KNOWN {
            let rank: Option<usize> = number(rank_variable, "a rank from 0 on")?;
            let members = number(members_variable, "a number of processes")?;
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
