//! Groups among the threads of this process, and the ways of a process into a group.

use corecast::base::rendezvous::SocketDir;
use corecast::collective::{Builder, MAX_MEMBERS};
use corecast::machine;
use corecast::processes::Invitation;
use corecast::{Group as ThreadGroup, Machine, Wait};

use crate::argument::{Parameters, within};
use crate::error::Failure;
use crate::member::Member;
use crate::status::Status;
use crate::wait;

/// How a group is made. Set `size` to sizeof(corecast_group_config), all else to 0, and then the fields that matter; NULL
/// stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct GroupConfig {
    /// sizeof(corecast_group_config).
    pub size: usize,
    /// The number of members, at most 4096. 0: one for each CPU that this process may use.
    pub members: u32,
    /// A corecast_wait: how members wait.
    pub wait: u32,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for GroupConfig {}

/// A group's parameters, checked.
struct Wanted {
    /// 0 for one for each CPU.
    members: usize,
    wait: Wait,
}

impl GroupConfig {
    fn check(self) -> Result<Wanted, Failure> {
        let members = within(self.members, 0, MAX_MEMBERS as u32, "config.members")? as usize;
        Ok(Wanted { members, wait: wait::policy(self.wait, "config.wait")? })
    }
}

impl Wanted {
    fn builder<'a>(&self, machine: &'a Machine) -> Builder<'a> {
        let builder = ThreadGroup::builder(machine).pin(false).wait(self.wait);
        if self.members > 0 { builder.members(self.members) } else { builder }
    }
}

fn detect() -> Result<Machine, Failure> {
    machine::detect().map_err(|error| Failure::new(Status::System, error.to_string()))
}

/// A fixed number of members that communicate along trees planned for this machine. Any thread may use it.
#[derive(Debug)]
pub struct Group(ThreadGroup);

c_functions! {
    /// Makes a group whose members are threads of this process: discovers the machine and plans its trees, which takes a part of
    /// a second for large machines. Threads are not bound to CPUs.
    unsafe fn corecast_group_create(config: parameters GroupConfig) -> (group: new Group) {
        let machine = detect()?;
        Group(config.builder(&machine).build()?)
    }

    /// Destroys the group; NULL is none. Its members go on until they leave.
    closing fn corecast_group_destroy(group: Group);

    /// The number of members; 0 for NULL.
    safe fn corecast_group_members(group: Option<&Group>) => (u32) {
        group.map_or(0, |group| group.0.size() as u32)
    }

    /// Takes the place of the member with this rank, from 0, for the calling thread or a thread that gets the handle.
    /// CORECAST_TAKEN if another thread has it; CORECAST_LOST if the group has failed.
    safe fn corecast_group_join(group: &Group, rank: u32) -> (member: new Member) {
        Member::new(group.0.join(rank as usize)?)
    }

    /// Becomes the member that `corecast run` started this process as, and waits for the others for at most `timeout_ns`.
    /// CORECAST_NOT_FOUND if this process was not started so; CORECAST_TIMEOUT if not all came: the message names the
    /// missing ones.
    safe fn corecast_member_of_run(timeout_ns: Duration) -> (member: new Member) {
        let not_run = || Failure::new(Status::NotFound, "this process was not started by `corecast run`");
        let invitation = Invitation::from_env()?.ok_or_else(not_run)?;
        Member::new(invitation.timeout(timeout_ns).join()?)
    }

    /// Becomes a member of the group of processes with this name, and waits for the others for at most `timeout_ns`. The
    /// first process makes the group as its `config` says; the `config` of the others must ask for the same number of
    /// members. `rank` is the member to become, or -1 for the first free one. CORECAST_TAKEN if another process has been
    /// that member; CORECAST_TIMEOUT if not all came.
    unsafe fn corecast_member_of_name(
        name: text,
        config: parameters GroupConfig,
        rank: i32,
        timeout_ns: Duration
    ) -> (member: new Member) {
        within(rank, -1, MAX_MEMBERS as i32 - 1, "rank")?;
        let machine = detect()?;
        let invitation = Invitation::by_name(&SocketDir::of_user(), name, &config.builder(&machine))?;
        let invitation = invitation.timeout(timeout_ns);
        let invitation = if rank < 0 { invitation } else { invitation.rank(rank as usize) };
        let invitation = if config.members == 0 { invitation } else { invitation.members(config.members) };
        Member::new(invitation.join()?)
    }
}
