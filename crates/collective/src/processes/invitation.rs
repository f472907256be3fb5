//! The way of one process into a group.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::str::FromStr;
use std::time::Duration;

use corecast_base::region::SharedRegion;
use corecast_base::rendezvous::{self, HostedRegion, RendezvousError, SocketDir};

use super::error::JoinError;
use super::memory::CheckedMemory;
use crate::error::Error;
use crate::group::Builder;
use crate::member::{Home, Kept, Member};

/// The environment variable with the number of the group's descriptor, set by `corecast run`.
pub const FD_VARIABLE: &str = "CORECAST_FD";
/// The environment variable with the rank of the process, set by `corecast run`.
pub const RANK_VARIABLE: &str = "CORECAST_RANK";
/// The environment variable with the number of members, set by `corecast run`.
pub const SIZE_VARIABLE: &str = "CORECAST_SIZE";

/// The time to wait for the others by default.
const PATIENCE: Duration = Duration::from_secs(60);

/// The way of one process into a group of processes: the memory to attach to, and the member to become.
pub struct Invitation {
    region: SharedRegion,
    /// Stays open for as long as this process is a member.
    kept: Option<Kept>,
    rank: Option<usize>,
    members: Option<usize>,
    timeout: Duration,
}

impl Invitation {
    /// Joins by a region that this process is attached to.
    #[must_use]
    pub fn of_region(region: SharedRegion) -> Self {
        Self { region, kept: None, rank: None, members: None, timeout: PATIENCE }
    }

    /// Joins by a descriptor of the group's memory: see [`Founding::share`](super::Founding::share).
    ///
    /// # Errors
    /// [`JoinError::Attach`].
    pub fn of_fd(fd: OwnedFd) -> Result<Self, JoinError> {
        Ok(Self::of_region(SharedRegion::from_fd(fd)?))
    }

    /// Joins by the environment, if this process was started as a member, such as by `corecast run`: [`FD_VARIABLE`] holds
    /// the number of a descriptor it inherited, [`RANK_VARIABLE`] its rank, and [`SIZE_VARIABLE`] the expected size. `None`
    /// without the first.
    ///
    /// # Errors
    /// [`JoinError::Environment`] if a variable has an impossible value, or [`JoinError::Attach`].
    pub fn from_env() -> Result<Option<Self>, JoinError> {
        let env = |variable: &str| env::var_os(variable);
        let Some(fd) = number(&env, FD_VARIABLE, "the number of a descriptor")? else { return Ok(None) };
        let region = SharedRegion::inherited(fd)?;
        let rank = number(&env, RANK_VARIABLE, "a rank from 0 on")?;
        let members = number(&env, SIZE_VARIABLE, "a number of members")?;
        Ok(Some(Self { rank, members, ..Self::of_region(region) }))
    }

    /// Joins by the name of a group at which this user's processes meet; the first to come founds it. The name stays until
    /// the last member leaves.
    ///
    /// # Errors
    /// [`JoinError::Meet`], or [`JoinError::Found`] if this process comes first and cannot found it.
    pub fn by_name(dir: &SocketDir, name: &str, founder: &Builder<'_>) -> Result<Self, JoinError> {
        let mut founding = None;
        let meeting = loop {
            match rendezvous::connect(dir, name) {
                Err(RendezvousError::NotFound(_)) => {}
                met => break met?,
            }
            // Planned once, however often other processes come first.
            let ours = match founding.take() {
                Some(ours) => ours,
                None => founder.clone().found()?,
            };
            match rendezvous::host(dir, name, ours.region().clone()) {
                Err(RendezvousError::Exists(_)) => founding = Some(ours),
                hosted => break hosted?,
            }
        };
        Ok(Self::of_meeting(meeting).members(founder.size()))
    }

    /// Joins by the meeting at a group's name. It stays open as long as this process is a member.
    #[must_use]
    pub fn of_meeting(meeting: HostedRegion) -> Self {
        let region = meeting.region().clone();
        Self { kept: Some(Kept::of(meeting)), ..Self::of_region(region) }
    }

    /// Joins as this member; by default as the first one that no process has joined as.
    #[must_use]
    pub fn rank(mut self, rank: usize) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Refuses a group of another size.
    #[must_use]
    pub fn members(mut self, members: usize) -> Self {
        self.members = Some(members);
        self
    }

    /// Waits this long for the others; 60 s by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Joins the group, and returns when all members have joined, and have [raced](Builder::race) if they were to. If the
    /// group is pinned, this binds the calling thread to the member's CPU, for good: call it on the thread that is the
    /// member.
    ///
    /// # Errors
    /// [`JoinError`]. A place once taken stays taken: after an error the group goes on as if this member had left.
    pub fn join(self) -> Result<Member, JoinError> {
        if self.region.check_fork().is_err() {
            return Err(Error::Forked.into());
        }
        let checked = CheckedMemory::enter(&self.region)?;
        let found = checked.terms.members;
        if let Some(expected) = self.members.filter(|&expected| expected != found) {
            return Err(JoinError::Size { found, expected });
        }
        if let Some(fault) = checked.memory.table.fault() {
            return Err(fault.into());
        }
        let rank = match self.rank {
            Some(rank) => checked.processes.join(rank).map(|()| rank),
            None => checked.processes.join_any(),
        }?;
        let (kept, records) = (self.kept, checked.records.clone());
        let mut me = checked.settle(rank, self.timeout).map(|ends| Member::new(ends, Home::Own { kept }))?;
        records.map_or(Ok(()), |records| me.race_when_joined(&records))?;
        Ok(me)
    }
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invitation").field("rank", &self.rank).field("members", &self.members).finish_non_exhaustive()
    }
}

/// The number in a variable of an environment; `None` if it is not set.
pub(super) fn number<T: FromStr>(
    env: &dyn Fn(&str) -> Option<OsString>,
    variable: &str,
    expected: &'static str,
) -> Result<Option<T>, JoinError> {
    let Some(value) = env(variable) else { return Ok(None) };
    let number = value.to_str().and_then(|value| value.parse().ok());
    let wrong = || JoinError::Environment {
        variable: variable.to_owned(),
        value: value.to_string_lossy().into_owned(),
        expected,
    };
    number.map(Some).ok_or_else(wrong)
}
