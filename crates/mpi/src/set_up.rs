//! The checks before the first operation, and the communicators for it, all within a limit of time.
//!
//! 1. The library is found, loaded and initialised.
//! 2. Its number of processes is that of the launcher.
//! 3. Rank 0 collects the facts of all and gives them to all; every process looks for differences, and all find the same.
//! 4. The communicators are made.

use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::abi::{Abi, Handle};
use crate::engine::Communicators;
use crate::error::{MpiError, OpenError, Stage};
use crate::launcher::Launcher;
use crate::library::{Library, Request};
use crate::node_facts::{NodeFacts, interfaces};
use crate::session::Session;
use crate::time_variable::seconds_of;

/// The variable with the limit of the set-up, in seconds.
pub const TIMEOUT_VARIABLE: &str = "CORECAST_MPI_TIMEOUT";
/// The limit without it.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The most names of missing nodes in an error.
const NAMED: usize = 8;

const TAG: c_int = 3;

/// The limit of a set-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    limit: Duration,
    deadline: Instant,
}

impl Limit {
    /// From now on, as long as the environment says.
    pub(crate) fn from_env() -> Result<Self, OpenError> {
        let limit = seconds_of(TIMEOUT_VARIABLE)?.unwrap_or(TIMEOUT);
        if limit.is_zero() {
            return Err(OpenError::BadTime { variable: TIMEOUT_VARIABLE, value: "0".to_owned() });
        }
        Ok(Self::of(limit))
    }

    /// From now on, at most for a day.
    pub(crate) fn of(limit: Duration) -> Self {
        let limit = limit.min(Duration::from_secs(24 * 3600));
        Self { limit, deadline: Instant::now() + limit }
    }

    /// Its length.
    pub(crate) fn duration(self) -> Duration {
        self.limit
    }

    fn over(self, stage: Stage, missing: String, abi: Option<Abi>) -> OpenError {
        let hint = match abi {
            Some(Abi::OpenMpi) => {
                "; `mpirun --mca btl_tcp_if_include NAME` chooses the one that messages use (btl, and oob or prterun's prte_if_include)"
            }
            Some(_) => "; `mpiexec -iface NAME` and FI_TCP_IFACE or UCX_NET_DEVICES choose the one that messages use",
            None => "",
        };
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        OpenError::SetupTimeout { stage, limit_ms, missing, interfaces: interfaces(), hint }
    }
}

/// An initialised library and all that its processes know of each other.
#[derive(Debug)]
pub(crate) struct SetUp {
    pub(crate) session: Arc<Session>,
    /// Of this process in `MPI_COMM_WORLD`.
    pub(crate) rank: usize,
    /// The facts of all processes, by rank.
    pub(crate) facts: Vec<NodeFacts>,
    /// The communicator of all that everything else is made from.
    comm: Handle,
    limit: Limit,
}

impl SetUp {
    /// Does it to the third step. All processes have to call it.
    pub(crate) fn of(launcher: Option<Launcher>, limit: Limit, home: u64) -> Result<Self, OpenError> {
        let told = launcher.map_or(1, |launcher| launcher.size);
        let session = Session::open(launcher, limit.deadline)?;
        let session = session.ok_or_else(|| {
            limit.over(Stage::Init, format!("some of {told} processes have not called it, or not been started"), None)
        })?;
        let library = &session.library;
        let world = library.constants.comm_world;
        let (rank, size) = library.rank_and_size(world)?;
        if let Some(launcher) = launcher.filter(|launcher| launcher.size != size) {
            let library = format!("{} ({})", library.version(), library.loaded.path);
            let (told, launcher) = (launcher.size, launcher.family.to_string());
            return Err(OpenError::WrongLauncher { told, found: size, library, launcher });
        }
        let comm = if session.is_guest() {
            // The program may have messages of its own on the other one, and wants its errors reported as it has chosen.
            let made = library.duplicate(world, limit.deadline)?;
            made.ok_or_else(|| {
                limit.over(Stage::Communicators, "some processes".to_owned(), Some(library.constants.abi))
            })?
        } else {
            library.return_errors(world)?;
            world
        };
        let own = NodeFacts::own(&library.version(), home);
        let bytes = Exchange { library, comm, rank, size, limit }.gather(&own)?;
        let facts = NodeFacts::all_from_bytes(&bytes)?;
        Ok(Self { rank, facts, comm, limit, session })
    }

    /// The lowest rank that has failed at something; `None` if none has. All processes have to call it.
    pub(crate) fn first_failed(&self, has_failed: bool) -> Result<Option<usize>, OpenError> {
        let lowest = self.lowest(if has_failed { self.rank as i64 } else { i64::MAX })?;
        Ok(usize::try_from(lowest).ok().filter(|&rank| rank < self.facts.len()))
    }

    /// Gives further steps as much time as those before have had.
    pub(crate) fn renew_limit(&mut self) {
        self.limit = Limit::of(self.limit.limit);
    }

    /// The lowest rank whose number differs from the least one; `None` if all have the same. All processes have to call it.
    pub(crate) fn first_that_differs(&self, own: i64) -> Result<Option<usize>, OpenError> {
        let least = self.lowest(own)?;
        self.first_failed(own != least)
    }

    fn lowest(&self, own: i64) -> Result<i64, OpenError> {
        let deadline = self.limit.deadline;
        let lowest = self.session.library.lowest(own, self.comm, &mut || Instant::now() > deadline)?;
        lowest.ok_or_else(|| self.late(MpiError::late("MPI_Iallreduce"), Stage::Facts))
    }

    /// The communicators of the leaders, with these ranks in order; `None` if this process is no leader. All processes have to
    /// call it with the same ranks.
    pub(crate) fn communicators(&self, leaders: &[usize]) -> Result<Option<Communicators>, OpenError> {
        let library = &self.session.library;
        let place = leaders.iter().position(|&rank| rank == self.rank);
        let mut comm = self.comm;
        if leaders.len() < self.facts.len() {
            // All ranks are here, as they have told their facts: nothing but a death between keeps this from returning.
            let (color, key) = (usize::from(place.is_some()), place.unwrap_or(self.rank));
            let made = match self.session.is_for_one_thread() {
                true => Some(library.split(comm, color, key)),
                false => library.call_apart(self.limit.deadline, move |library| library.split(comm, color, key))?,
            };
            comm = made.ok_or_else(|| self.late(MpiError::late("MPI_Comm_split"), Stage::Communicators))??;
        }
        if place.is_none() {
            return Ok(None);
        }
        let made = Communicators::of(library, comm, &mut || Instant::now() > self.limit.deadline);
        made.map(Some).map_err(|error| self.late(error, Stage::Communicators))
    }

    /// A further communicator of all processes. All of them have to call it.
    pub(crate) fn of_all(&self) -> Result<Handle, OpenError> {
        let made = self.session.library.duplicate(self.comm, self.limit.deadline)?;
        made.ok_or_else(|| self.late(MpiError::late("MPI_Comm_idup"), Stage::Communicators))
    }

    fn late(&self, error: MpiError, stage: Stage) -> OpenError {
        if !error.is_late {
            return error.into();
        }
        self.limit.over(stage, "some nodes have not come".to_owned(), Some(self.session.library.constants.abi))
    }
}

/// The exchange of facts.
struct Exchange<'a> {
    library: &'a Library,
    comm: Handle,
    rank: usize,
    size: usize,
    limit: Limit,
}

impl Exchange<'_> {
    /// The facts of all, one after the other.
    fn gather(&self, own: &NodeFacts) -> Result<Vec<u8>, OpenError> {
        // Leaked if somebody is late: the library may still write to them.
        let all = Box::leak(vec![0_u8; self.size * NodeFacts::BYTES].into_boxed_slice());
        let own_place = self.rank * NodeFacts::BYTES;
        all[own_place..own_place + NodeFacts::BYTES].copy_from_slice(&own.to_bytes());
        let start = all.as_mut_ptr();
        if self.rank == 0 {
            self.collect(start)?;
        } else {
            self.send_own(start)?;
        }
        self.give_out(start)?;
        // SAFETY: leaked above, and no request uses it any more.
        let all = unsafe { Vec::from_raw_parts(start, self.size * NodeFacts::BYTES, self.size * NodeFacts::BYTES) };
        Ok(all)
    }

    /// At rank 0: receives the facts of all others to their places.
    fn collect(&self, start: *mut u8) -> Result<(), OpenError> {
        let mut requests = Vec::with_capacity(self.size);
        for rank in 1..self.size {
            let place = self.place(start, rank);
            // SAFETY: the place of this rank, which stays until the request is done.
            requests.push((rank, unsafe { self.library.receive(place, Some(rank), TAG, self.comm) }?));
        }
        let mut missing = Vec::new();
        for (rank, request) in requests {
            // After the deadline this only looks.
            if !self.library.finish(request, self.limit.deadline)? {
                missing.push(rank);
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(self.over(&format!("no facts came from {}", listed(&missing)))) }
    }

    fn send_own(&self, start: *mut u8) -> Result<(), OpenError> {
        let place = self.place(start, self.rank);
        // SAFETY: the place of this rank, which stays until the request is done.
        let request = unsafe { self.library.send(place, 0, TAG, self.comm) }?;
        self.finish(request, "rank 0 has not taken the facts of this rank")
    }

    /// Gives rank 0's bytes to all.
    fn give_out(&self, start: *mut u8) -> Result<(), OpenError> {
        let (functions, byte) = (&self.library.functions, self.library.constants.byte);
        let count = (self.size * NodeFacts::BYTES) as c_int;
        let request = self.library.begin("MPI_Ibcast", |request| {
            // SAFETY: the facts of all, which stay until the request is done.
            unsafe { (functions.ibcast)(start.cast(), count, byte, 0, self.comm, request) }
        })?;
        self.finish(request, "rank 0 has not sent the facts of all, as it may miss some of them")
    }

    fn finish(&self, request: Request, missing: &str) -> Result<(), OpenError> {
        if self.library.finish(request, self.limit.deadline)? { Ok(()) } else { Err(self.over(missing)) }
    }

    fn over(&self, missing: &str) -> OpenError {
        self.limit.over(Stage::Facts, missing.to_owned(), Some(self.library.constants.abi))
    }

    fn place<'m>(&self, start: *mut u8, rank: usize) -> &'m mut [u8] {
        // SAFETY: within the facts of all.
        let place = unsafe { start.add(rank * NodeFacts::BYTES) };
        // SAFETY: the same; each place is used by one request.
        unsafe { std::slice::from_raw_parts_mut(place, NodeFacts::BYTES) }
    }
}

/// Ranks for people, the first ones by number.
fn listed(ranks: &[usize]) -> String {
    let named: Vec<String> = ranks.iter().take(NAMED).map(usize::to_string).collect();
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    match ranks.len().saturating_sub(NAMED) {
        0 => format!("{word} {}", named.join(", ")),
        others => format!("{word} {} and {others} others", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_named() {
        assert_eq!(listed(&[3]), "rank 3");
        assert_eq!(listed(&[1, 2]), "ranks 1, 2");
        let many: Vec<usize> = (0..10).collect();
        assert_eq!(listed(&many), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 others");
    }

    #[test]
    fn an_error_of_time_names_the_stage_and_the_missing() {
        let error = Limit::of(TIMEOUT).over(Stage::Facts, listed(&[1]), Some(Abi::OpenMpi)).to_string();
        assert!(
            error.starts_with("the exchange of facts was not finished within 60000 ms: rank 1; interfaces of"),
            "{error}"
        );
    }
}
