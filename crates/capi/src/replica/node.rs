//! Groups of replicas, and their members.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::IntoRawFd;
use std::path::Path;
use std::time::Duration;

use corecast::base::rendezvous::SocketDir;
use corecast::machine::{ModelError, model_file};
use corecast::replica::wal::Fsync;
use corecast::replica::{Config, Level, Node, Placement, Replicated};
use corecast::{Machine as Model, Wait};

use super::machine::{Machine, ReplicaMachine};
use super::status::{ReplicaCheckpoint, ReplicaStatus};
use crate::argument::{Parameters, choice, duplicate, elements_mut, optional_text};
use crate::error::Failure;
use crate::group::detect;
use crate::region::socket_dir;
use crate::status::Status;
use crate::wait;

/// One member of a group: a replica of the state. Any number of threads may use it at a time. Its sessions keep it when it is
/// closed.
#[derive(Debug)]
pub struct Replica(pub(crate) Node<Machine>);

/// Which nodes of a group have the roles.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum ReplicaPlacement {
    /// Leader and acceptor are different nodes while there are two.
    Separate = 0,
    /// The leader accepts itself: fewer messages.
    Fused = 1,
}

/// When an operation is durable in files.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum ReplicaFsync {
    /// Before its result is handed out: power loss loses nothing.
    Always = 0,
    /// Once a second: power loss loses a second, the death of all processes nothing.
    EverySecond = 1,
    /// When the kernel likes: the death of all processes loses nothing.
    Never = 2,
}

/// How fresh the answer to a read has to be.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum ReplicaLevel {
    /// It shows every operation whose result any client has seen before the read began.
    Linearizable = 0,
    /// It shows the operation at the index of the call, and all before it.
    AtLeast = 1,
    /// It shows what this replica has applied; waits for no other node.
    Local = 2,
}

/// How a group is laid out, and how a node of it behaves. Set `size` to sizeof(corecast_replica_config), all else to 0, and then
/// the fields that matter; NULL stands for all zeroes. The group has the slots, window, bulk_bytes and placement of its creator;
/// those of nodes that attach are not looked at.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReplicaConfig {
    /// sizeof(corecast_replica_config).
    pub size: usize,
    /// The most nodes at a time, 1 to 1,023. 0: 16.
    pub slots: u32,
    /// A corecast_replica_placement.
    pub placement: u32,
    /// The commands in the log, a power of two from 256 to 2^24. 0: 16,384.
    pub window: u64,
    /// The bytes at each node for operations over 32 bytes, 4096 to 2^31; the largest operation has as many, and at most 16 MiB
    /// and 64 KiB. 0: 32 MiB.
    pub bulk_bytes: u64,
    /// A corecast_wait: how threads of this node wait. CORECAST_WAIT_SPIN is refused.
    pub wait: u32,
    /// A corecast_replica_fsync, for `folder`.
    pub fsync: u32,
    /// The shortest time without a sign of life after which a node with work counts as stuck. 0: 2 ms, longer on crowded
    /// machines.
    pub patience_ns: u64,
    /// The longest time that attaching may take. 0: 10 s.
    pub joining_ns: u64,
    /// A folder that all nodes of the group share and no other group uses: every operation and snapshots are kept there, and the
    /// node that makes the group starts from them. NULL: the state is in memory alone, and ends with its last process.
    pub folder: *const c_char,
    /// The bytes by which the log in `folder` grows between two snapshots, 4096 to 2^40. 0: 64 MiB.
    pub snapshot_every: u64,
    /// A file with the model of the machine, or "" for this machine, which is discovered then. Members whose threads are bound to
    /// CPUs hear of decisions along a tree that is planned for it, and leader and acceptor move to where the plan wants them.
    /// NULL: the machine is not known.
    pub machine: *const c_char,
}

// SAFETY: numbers and pointers laid out as C does, without padding, the size first.
unsafe impl Parameters for ReplicaConfig {
    const FIRST_BYTES: usize = offset_of!(ReplicaConfig, snapshot_every);
}

impl ReplicaConfig {
    fn check(self) -> Result<Config, Failure> {
        let placement = choice(self.placement, &[Placement::Separate, Placement::Fused], "config.placement")?;
        let policy: Wait = wait::policy(self.wait, "config.wait")?;
        let mut config = Config::default().placement(placement).wait(policy);
        if self.slots > 0 {
            config = config.slots(self.slots as usize);
        }
        if self.window > 0 {
            config = config.window(self.window);
        }
        if self.bulk_bytes > 0 {
            config = config.bulk_bytes(self.bulk_bytes);
        }
        if self.patience_ns > 0 {
            config = config.patience(Duration::from_nanos(self.patience_ns));
        }
        if self.joining_ns > 0 {
            config = config.joining(Duration::from_nanos(self.joining_ns));
        }
        if self.snapshot_every > 0 {
            config = config.snapshot_every(self.snapshot_every);
        }
        // SAFETY: C passes a text, or NULL.
        if let Some(file) = unsafe { optional_text(self.machine, "config.machine") }? {
            config = config.machine(&model_of(file)?);
        }
        let fsync = choice(self.fsync, &[Fsync::Always, Fsync::EverySecond, Fsync::Never], "config.fsync")?;
        // SAFETY: C passes a text, or NULL.
        let folder = unsafe { optional_text(self.folder, "config.folder") }?;
        Ok(folder.map_or(config.clone(), |folder| config.durable(folder, fsync)))
    }
}

/// The model in a file, or without one that of this machine.
fn model_of(file: &str) -> Result<Model, Failure> {
    if file.is_empty() {
        return detect();
    }
    model_file::read(Path::new(file)).map_err(|error| match error.problem {
        ModelError::NotRead(_) => Failure::new(Status::NotFound, error.to_string()),
        _ => Failure::argument("config.machine", error),
    })
}

/// A node that has joined, once C has taken the state.
fn attached(node: Node<Machine>) -> Result<Replica, Failure> {
    let (is_ready, _) = node.read_with(Level::Local, |machine| machine.ready().map(drop))?;
    is_ready?;
    Ok(Replica(node))
}

/// The level with a number of [`ReplicaLevel`].
fn level_of(number: u32, index: u64) -> Result<Level, Failure> {
    choice(number, &[Level::Linearizable, Level::AtLeast(index), Level::Local], "level")
}

/// A question, and where C wants the answer.
struct Asking<'a> {
    question: &'a [u8],
    answer: *mut c_void,
    capacity: usize,
}

impl Asking<'_> {
    /// Reads, and returns the length of the answer and the count of commands that it shows.
    fn read(&self, replica: &Replica, level: Level, limit: Duration) -> Result<(usize, u64), Failure> {
        let (answer, shown) = replica.0.read_timeout(level, self.question, limit)?;
        let answer = answer?;
        // SAFETY: C passes a buffer of that size, or NULL.
        let buffer = unsafe { elements_mut(self.answer.cast::<MaybeUninit<u8>>(), self.capacity, "answer") }?;
        // An answer that does not fit is cut, and its length tells.
        buffer.iter_mut().zip(&answer).for_each(|(to, &byte)| _ = to.write(byte));
        Ok((answer.len(), shown))
    }
}

/// How long a read without a limit waits for its replica.
const READ_LIMIT: Duration = Duration::from_secs(5);

c_functions! {
    /// Makes a group without a name, of which this node is the first member, with the state as it is. Other processes get the
    /// descriptor of corecast_replica_share_fd. CORECAST_SYSTEM if there is no room for its memory, or config.folder cannot be
    /// used.
    unsafe fn corecast_replica_create(
        config: parameters ReplicaConfig,
        machine: parameters ReplicaMachine
    ) -> (replica: new Replica) {
        attached(machine.open(config, |config, calls| Replicated::create(config, Machine::new(calls)))?)?
    }

    /// Makes a group with a name, which other processes of this user give to corecast_replica_attach. Names and directories are
    /// those of corecast_region_host. CORECAST_EXISTS if a living process has a group of this name.
    unsafe fn corecast_replica_create_named(
        directory: text?,
        name: text,
        config: parameters ReplicaConfig,
        machine: parameters ReplicaMachine
    ) -> (replica: new Replica) {
        let directory: SocketDir = socket_dir(directory);
        let create = |config: &Config, calls| Replicated::create_named(config, &directory, name, Machine::new(calls));
        attached(machine.open(config, create)?)?
    }

    /// Joins the group with this name. `restore` gives the state the contents that the group's has. CORECAST_NOT_FOUND if there
    /// is none, CORECAST_TAKEN if all its slots are taken, CORECAST_TIMEOUT if no member took this node in, CORECAST_DIED if all
    /// members are gone, CORECAST_MISMATCH if it is of another version, holds another state (`machine.kind`), or `restore`
    /// refused it.
    unsafe fn corecast_replica_attach(
        directory: text?,
        name: text,
        config: parameters ReplicaConfig,
        machine: parameters ReplicaMachine
    ) -> (replica: new Replica) {
        let directory: SocketDir = socket_dir(directory);
        attached(machine.open(config, |config, _| Replicated::attach(config, &directory, name))?)?
    }

    /// The same with the group behind a descriptor, which stays the caller's and may be closed afterwards.
    unsafe fn corecast_replica_attach_fd(
        fd: c_int,
        config: parameters ReplicaConfig,
        machine: parameters ReplicaMachine
    ) -> (replica: new Replica) {
        let fd = duplicate(fd)?;
        attached(machine.open(config, |config, _| Replicated::attach_fd(config, fd))?)?
    }

    /// A new descriptor of the group, to be sent to one other process, which gives it to corecast_replica_attach_fd. Close it
    /// here once it is sent.
    safe fn corecast_replica_share_fd(replica: &Replica) -> (fd: c_int) {
        replica.0.share()?.into_raw_fd()
    }

    /// Asks the state of this replica a question. `level` is a corecast_replica_level; `index` is for
    /// CORECAST_REPLICA_LEVEL_AT_LEAST. Copies at most `capacity` bytes of the answer to `answer`, which may be NULL if
    /// `capacity` is 0; `answer_len` is the length of the whole answer, and `shown` the number of operations and commands that it
    /// shows.
    /// A linearizable read needs no message: it waits only if the replica is behind, for 5 s at most, then CORECAST_LAGGING.
    unsafe fn corecast_replica_read(
        replica: &Replica,
        level: u32,
        index: u64,
        question: bytes[len],
        answer: *mut c_void,
        capacity: usize
    ) -> (answer_len: usize, shown: u64) {
        Asking { question, answer, capacity }.read(replica, level_of(level, index)?, READ_LIMIT)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds.
    unsafe fn corecast_replica_read_timeout_ns(
        replica: &Replica,
        level: u32,
        index: u64,
        question: bytes[len],
        answer: *mut c_void,
        capacity: usize,
        timeout_ns: Duration
    ) -> (answer_len: usize, shown: u64) {
        Asking { question, answer, capacity }.read(replica, level_of(level, index)?, timeout_ns)?
    }

    /// Waits until a read of this level waits no longer, for at most `timeout_ns` nanoseconds, then CORECAST_LAGGING. With
    /// CORECAST_REPLICA_LEVEL_AT_LEAST and the `shown` of the last read it sleeps until there is something new.
    safe fn corecast_replica_catch_up_timeout_ns(replica: &Replica, level: u32, index: u64, timeout_ns: Duration) {
        replica.0.catch_up(level_of(level, index)?, timeout_ns)?
    }

    /// How the replica and its group are. `status` has its size set, and gets as many bytes as that says.
    unsafe fn corecast_replica_read_status(replica: &Replica, status: *mut ReplicaStatus) {
        let known = ReplicaStatus::from(&replica.0.status());
        // SAFETY: C passes a struct that has its size set, or NULL.
        unsafe { known.write_to(status) }?
    }

    /// Takes a consistent cut: writes the state of this replica at one place of the log to a descriptor, or no state if that is
    /// -1, and compares its digest with those of the other members there. Members whose digest is not that of most are put out:
    /// they get CORECAST_DIVERGED. CORECAST_UNKNOWN if the cut was not reached within `timeout_ns` nanoseconds.
    safe fn corecast_replica_take_checkpoint(
        replica: &Replica,
        fd: c_int,
        timeout_ns: Duration
    ) -> (checkpoint: ReplicaCheckpoint) {
        let taken = match fd {
            -1 => replica.0.compare(timeout_ns)?,
            fd => replica.0.checkpoint(&mut File::from(duplicate(fd)?), timeout_ns)?,
        };
        ReplicaCheckpoint {
            index: taken.index,
            bytes: taken.bytes,
            answers: taken.digests.len() as u32,
            diverged: taken.diverged.len() as u32,
        }
    }

    /// Leaves the group, and waits for up to 2 s until the others know: CORECAST_UNKNOWN if they did not take note in time, which
    /// finds this node dead later. Then only reads with CORECAST_REPLICA_LEVEL_LOCAL work. Close it all the same.
    safe fn corecast_replica_leave(replica: &Replica) {
        replica.0.clone().leave()?
    }

    /// Closes a replica; NULL is none. It leaves the group when its sessions are closed, too.
    closing fn corecast_replica_close(replica: Replica);
}
