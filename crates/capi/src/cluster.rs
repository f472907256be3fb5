//! Groups over several machines.

use std::sync::Mutex;
use std::time::Duration;

use corecast::collective::MAX_MEMBERS;
use corecast::collective::nodes::{Error as FarError, Group as FarGroup, SetupError};
use corecast::mpi::{Cluster as Mpi, OpenError};
use corecast::processes::Invitation;
use corecast::{Group, Wait};

use crate::argument::{Parameters, within};
use crate::cluster_place::ClusterPlace;
use crate::error::Failure;
use crate::group::detect;
use crate::member::Member;
use crate::status::Status;
use crate::wait;

/// How this node takes part in a group over several machines. Set `size` to sizeof(corecast_cluster_config), all else to 0, and
/// then the fields that matter; NULL stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ClusterConfig {
    /// sizeof(corecast_cluster_config).
    pub size: usize,
    /// The number of members on this node, at most 4096, which are threads of this process. 0: one for each CPU that this process
    /// may use. No matter in a process that `corecast run` has started.
    pub members: u32,
    /// A corecast_wait: how members wait that do not lead their node.
    pub wait: u32,
    /// The most time in nanoseconds to wait for the other nodes, and members of this one. 0: as long as the environment says
    /// (CORECAST_MPI_TIMEOUT), else 60 s.
    pub timeout_ns: u64,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for ClusterConfig {}

/// A group's parameters, checked.
struct Wanted {
    members: usize,
    wait: Wait,
    /// `None` for the usual one, which the environment may set for MPI.
    timeout: Option<Duration>,
}

impl ClusterConfig {
    fn check(self) -> Result<Wanted, Failure> {
        let members = within(self.members, 0, MAX_MEMBERS as u32, "config.members")? as usize;
        let timeout = Some(self.timeout_ns).filter(|&ns| ns > 0).map(Duration::from_nanos);
        Ok(Wanted { members, wait: wait::policy(self.wait, "config.wait")?, timeout })
    }
}

/// This process's part of a group over several machines. Any thread may use it.
#[derive(Debug)]
pub struct Cluster {
    part: Mutex<Part>,
}

/// The state of a process before its members join.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one for each cluster")]
enum Part {
    /// The members are threads.
    Threads(FarGroup),
    /// It is a member, and has joined, or will.
    Process(Option<(Invitation, Mpi)>),
}

impl Cluster {
    fn open(wanted: &Wanted) -> Result<Self, Failure> {
        let mpi = wanted.timeout.map_or_else(Mpi::from_env, Mpi::from_env_timeout)?;
        let part = match Invitation::from_env()? {
            Some(invitation) => Part::Process(Some((invitation, mpi))),
            None => {
                let machine = detect()?;
                let builder = Group::builder(&machine).wait(wanted.wait);
                let builder = if wanted.members > 0 { builder.members(wanted.members) } else { builder };
                Part::Threads(builder.over(mpi).build()?)
            }
        };
        Ok(Self { part: Mutex::new(part) })
    }

    fn join(&self, rank: u32) -> Result<Member, Failure> {
        let mut part = self.part.lock().map_err(|_| Failure::new(Status::Panic, "a thread has panicked in it"))?;
        match &mut *part {
            Part::Threads(group) => Ok(Member::far(group.join(rank as usize)?)),
            Part::Process(process) => {
                let joined = || Failure::new(Status::Taken, "this process has joined");
                let (invitation, mpi) = process.take().ok_or_else(joined)?;
                Ok(Member::far(invitation.over(mpi).join()?))
            }
        }
    }
}

impl From<FarError> for Failure {
    #[cold]
    fn from(error: FarError) -> Self {
        let status = match &error {
            FarError::MemberLost { .. } | FarError::NodeLost { .. } => Status::Lost,
            FarError::Mismatched { .. } => Status::OutOfStep,
            FarError::Timeout { .. } => Status::Timeout,
            FarError::Engine { .. } => Status::System,
            FarError::CannotShrink { .. } => Status::Unsupported,
            FarError::Near(error) => return (*error).into(),
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let status = match error {
            SetupError::Build(error) => return error.into(),
            SetupError::Join(error) => return error.into(),
            SetupError::Operation(error) => return error.into(),
            SetupError::SetupTimeout { .. } => Status::Timeout,
            SetupError::OtherVersion { .. } => Status::Mismatch,
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let status = match error {
            OpenError::SetupTimeout { .. } => Status::Timeout,
            OpenError::OtherVersion { .. } => Status::Mismatch,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

c_functions! {
    /// Loads the MPI library of the launcher that started this process, checks it, and, unless this process was started by
    /// `corecast run`, meets the other nodes. CORECAST_SYSTEM if there is no such library, or it is not the launcher's: the
    /// message says what was found; CORECAST_TIMEOUT if a node does not come.
    unsafe fn corecast_cluster_open(config: parameters ClusterConfig) -> (cluster: new Cluster) {
        Cluster::open(&config)?
    }

    /// Becomes a member of the group over all nodes: the one with this rank on this node, from 0, on the thread that gets the
    /// handle; member 0 leads. A process that `corecast run` has started joins as its own member, whatever the rank. All nodes
    /// have to come.
    ///
    /// The member's rank and number of members count all nodes. These operations work as in any group: barriers, broadcasts,
    /// reductions to one and to all, barriers with a limit, and shrinking. All others return CORECAST_UNSUPPORTED.
    safe fn corecast_cluster_join(cluster: &Cluster, rank: u32) -> (member: new Member) {
        cluster.join(rank)?
    }

    /// The nodes and members of the group of a member. CORECAST_UNSUPPORTED if it is not one over several machines.
    safe fn corecast_cluster_info(member: &Member) -> (place: ClusterPlace) {
        member.cluster_info()?
    }

    /// Closes it; NULL is none. Members have left before, at all nodes.
    closing fn corecast_cluster_close(cluster: Cluster);
}

#[cfg(test)]
mod tests {
    use corecast::mpi::Stage;

    use super::*;

    #[test]
    fn errors_of_opening_have_the_status_that_the_header_promises() {
        let late = OpenError::SetupTimeout {
            stage: Stage::Facts,
            limit_ms: 5,
            missing: "rank 1".to_owned(),
            interfaces: String::new(),
            hint: "",
        };
        let [first, first_version, other, other_version] = ["a", "1", "b", "2"].map(str::to_owned);
        let other_version = OpenError::OtherVersion { first, first_version, other, other_version };
        assert_eq!(Failure::from(late).status, Status::Timeout);
        assert_eq!(Failure::from(other_version).status, Status::Mismatch);
        assert_eq!(Failure::from(OpenError::Finalized).status, Status::System);
    }
}
