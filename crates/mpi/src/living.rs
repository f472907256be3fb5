//! Going on among the processes of a communicator that live, where the library can.
//!
//! A process that dies when the library has made the new communicator is a member of it, and what is made of it then fails at
//! some processes and is done at others. So all agree on whether all have made it, and leave one more process behind if not.
//!
//! A process that left in the midst of this would be waited for until it has ended. So all that have met stay for up to
//! [`LAST_STEPS`] beyond their limits, whether or not their own time is over: the first one whose time is over ends the
//! attempt of those whose time is over soon. They leave if others are later still.
//!
//! Open MPI 5.0.11 has a gap of its own: a process that hears of a death while it makes a communicator with the dead one calls
//! that communicator's collectives, which are not there yet (`ompi_comm_revoke_local`), and crashes. Of 125 launches in which
//! up to three more of 4 to 8 ranks died within 40 ms of the first death, two ended with all ranks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_base::crash_point;

use crate::abi::Handle;
use crate::error::MpiError;
use crate::library::Library;

/// The further time that a process takes at most once it has met all that live to leave the others behind.
pub(crate) const LAST_STEPS: Duration = Duration::from_secs(5);
/// The times, beside one for each process, that processes are left behind anew: each time one more may have died, and the library
/// may have found that out only then.
const FURTHER_ATTEMPTS: usize = 3;

/// The processes of a communicator that live.
pub(crate) struct Living {
    /// A communicator of them.
    pub(crate) comm: Handle,
    /// Their ranks in the other one, ascending.
    pub(crate) kept: Vec<usize>,
}

/// An attempt to leave lost processes behind.
pub(crate) struct Leaving<'a> {
    pub(crate) library: &'a Arc<Library>,
    /// The communicator that has lost some; it may be revoked.
    pub(crate) comm: Handle,
    /// True if only this thread may call the library.
    pub(crate) has_one_thread: bool,
    pub(crate) deadline: Option<Instant>,
}

impl Leaving<'_> {
    /// Makes something among the living processes of this many, which all of them make, or none: `unmake` is given it if another
    /// one has failed.
    pub(crate) fn leave<T>(
        mut self,
        processes: usize,
        make: impl Fn(&Living, Option<Instant>) -> Result<T, MpiError>,
        unmake: impl Fn(T),
    ) -> Result<(Living, T), MpiError> {
        let library = self.library;
        let mut attempts_left = processes + FURTHER_ATTEMPTS;
        let last = self.deadline.map(|deadline| deadline.checked_add(LAST_STEPS).unwrap_or(deadline));
        loop {
            let living = self.living()?;
            crash_point::here("far-shrunk");
            let made = make(&living, self.deadline);
            if let Err(error) = &made {
                if error.is_final {
                    return made.map(|made| (living, made));
                }
                // Processes that still wait for this one are told by the library that it has given this attempt up.
                library.revoke(living.comm);
                if error.is_late && self.deadline == last {
                    return Err(MpiError::left_behind(error.call));
                }
            }
            let further = |(deadline, last): (Instant, Instant)| deadline.max(last.min(Instant::now() + LAST_STEPS));
            self.deadline = self.deadline.zip(last).map(further);
            let deadline = self.deadline;
            let are_made = library.agree(living.comm, made.is_ok(), &mut || is_past(deadline))?;
            attempts_left -= 1;
            match made {
                Ok(made) if are_made => return Ok((living, made)),
                Ok(made) if attempts_left > 0 => unmake(made),
                Ok(_) => return Err(MpiError::late("MPI_Comm_idup")),
                // `MPI_Comm_idup` of Open MPI 5.0.11 tells of a process that has died as of an internal error (class 17).
                Err(error) if attempts_left == 0 => return Err(error),
                Err(_) => {}
            }
        }
    }

    fn living(&self) -> Result<Living, MpiError> {
        let comm = self.comm;
        let (comm, kept) = self.library.call_until(
            self.deadline.filter(|_| !self.has_one_thread),
            "MPIX_Comm_shrink",
            move |library| library.shrink(comm),
        )?;
        Ok(Living { comm, kept })
    }
}

pub(crate) fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}
