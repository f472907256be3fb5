//! Groups among the threads of this process, and the ways of a process into a group.

use std::ffi::c_char;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use corecast::base::rendezvous::SocketDir;
use corecast::collective::{Builder, MAX_MEMBERS};
use corecast::machine;
use corecast::plan::tree_file::{self, TreeTextError};
use corecast::plan::{Problem, Tree};
use corecast::processes::Invitation;
use corecast::{CpuId, Group as ThreadGroup, Machine, Wait};

use crate::argument::{Parameters, optional_text, within};
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
    /// 1 to bind the thread of each member to the CPU that the group is planned for: a thread of this process at the first
    /// operation of the member, a member of processes when it joins. The thread stays bound. 0: threads run where they may.
    pub pin: u32,
    /// 0.
    pub reserved: u32,
    /// A plan file, as `corecast plan --json` writes one: its tree carries all operations. It has to be a tree over the CPUs
    /// of the members, the first ones that this process may use, one for each member. NULL: the library plans.
    pub plan: *const c_char,
}

// SAFETY: numbers and a pointer laid out as C does, without padding, the size first.
unsafe impl Parameters for GroupConfig {
    /// With `members` and `wait` alone.
    const FIRST_BYTES: usize = 16;
}

/// A group's parameters, checked.
struct Wanted {
    /// 0 for one for each CPU.
    members: usize,
    wait: Wait,
    pin: bool,
    plan: Option<PathBuf>,
}

impl GroupConfig {
    fn check(self) -> Result<Wanted, Failure> {
        let members = within(self.members, 0, MAX_MEMBERS as u32, "config.members")? as usize;
        let wait = wait::policy(self.wait, "config.wait")?;
        let pin = within(self.pin, 0, 1, "config.pin")? == 1;
        within(self.reserved, 0, 0, "config.reserved")?;
        // SAFETY: C passes a text, or NULL.
        let plan = unsafe { optional_text(self.plan, "config.plan") }?.map(PathBuf::from);
        Ok(Wanted { members, wait, pin, plan })
    }
}

impl Wanted {
    fn builder<'a>(&self, machine: &'a Machine) -> Result<Builder<'a>, Failure> {
        let builder = ThreadGroup::builder(machine).pin(self.pin).wait(self.wait);
        let builder = if self.members > 0 { builder.members(self.members) } else { builder };
        match &self.plan {
            Some(path) => Ok(builder.tree(self.planned_tree(path, machine)?)),
            None => Ok(builder),
        }
    }

    /// The tree in a plan file.
    fn planned_tree(&self, path: &Path, machine: &Machine) -> Result<Tree, Failure> {
        let wrong = |why: &dyn Display| Failure::argument("config.plan", why);
        let cpus = machine.cpu_set();
        let members = if self.members > 0 { self.members } else { cpus.len() };
        if members > cpus.len() {
            return Err(wrong(&format_args!("is for one CPU each, and {members} members have {}", cpus.len())));
        }
        let problem = Problem::of_members(machine, &cpus.as_slice()[..members]).map_err(|error| wrong(&error))?;
        let trees = tree_file::read(path, &problem).map_err(|error| match error.problem {
            TreeTextError::NotRead(_) => Failure::new(Status::NotFound, error.to_string()),
            _ => wrong(&error),
        })?;
        if let Some(scheme) = trees.other_scheme {
            return Err(wrong(&format_args!("has no tree for all operations: its scheme is {scheme}")));
        }
        if trees.up.is_some_and(|up| up != trees.down) {
            return Err(wrong(
                &"has two trees: plan a broadcast or a reduction, whose one tree carries all operations",
            ));
        }
        Ok(trees.down)
    }
}

pub(crate) fn detect() -> Result<Machine, Failure> {
    machine::detect().map_err(|error| Failure::new(Status::System, error.to_string()))
}

/// A fixed number of members that communicate along trees planned for this machine. Any thread may use it.
#[derive(Debug)]
pub struct Group(ThreadGroup);

impl Group {
    /// The CPU of a member.
    fn cpu(&self, rank: u32) -> Result<CpuId, Failure> {
        let cpus = self.0.cpus();
        let none = || Failure::argument("rank", format_args!("is {rank}, and there are {} members", cpus.len()));
        cpus.get(rank as usize).copied().ok_or_else(none)
    }
}

c_functions! {
    /// Makes a group whose members are threads of this process: discovers the machine and plans its trees, which takes a part of
    /// a second for large machines, unless `config` names a plan file. CORECAST_NOT_FOUND if that cannot be read,
    /// CORECAST_INVALID_ARGUMENT if its tree is not over the CPUs of the members.
    unsafe fn corecast_group_create(config: parameters GroupConfig) -> (group: new Group) {
        let machine = detect()?;
        Group(config.builder(&machine)?.build()?)
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
        let place = group.0.join(rank as usize)?;
        let cpu = group.0.is_pinned().then(|| group.0.cpus()[rank as usize]);
        Member::on_thread(place, cpu)
    }

    /// The CPU that the group is planned for at this rank: where config.pin binds the thread of the member, and where a thread
    /// that binds itself belongs.
    safe fn corecast_group_cpu(group: &Group, rank: u32) -> (cpu: u32) {
        group.cpu(rank)?.get()
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
        let invitation = Invitation::by_name(&SocketDir::of_user(), name, &config.builder(&machine)?)?;
        let invitation = invitation.timeout(timeout_ns);
        let invitation = if rank < 0 { invitation } else { invitation.rank(rank as usize) };
        let invitation = if config.members == 0 { invitation } else { invitation.members(config.members) };
        Member::new(invitation.join()?)
    }
}
