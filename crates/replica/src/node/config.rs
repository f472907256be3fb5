//! How a group is laid out, and how a node of it behaves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_machine::Machine;

use super::learning::Learning;
use crate::error::OpenError;
use crate::node_id::MAX_SLOTS;
use crate::runtime::durable::{Durability, FilesOrigin, SNAPSHOT_EVERY};
use crate::wal::Fsync;

/// Which nodes have the roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// Leader and acceptor are different nodes while there are two: two copies of the log.
    #[default]
    Separate,
    /// The leader accepts itself: one ring, half the messages. As safe, as the memory of a node outlives it.
    Fused,
}

/// The layout of a group and the behaviour of a node. The layout is fixed by the node that creates the group; others find it.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) slots: usize,
    pub(crate) window: u64,
    pub(crate) bulk_bytes: u64,
    pub(crate) placement: Placement,
    pub(crate) learning: Learning,
    pub(crate) machine: Option<Arc<Machine>>,
    pub(crate) wait: Wait,
    pub(crate) patience: Duration,
    pub(crate) joining: Duration,
    pub(crate) kind: String,
    pub(crate) durability: Option<Durability>,
    pub(crate) snapshot_every: u64,
    pub(crate) files: FilesOrigin,
}

impl Default for Config {
    /// 16 slots, a log of 16,384 commands, 32 MiB for large operations, `Separate`.
    fn default() -> Self {
        Self {
            slots: 16,
            window: 16_384,
            bulk_bytes: 32 << 20,
            placement: Placement::Separate,
            learning: Learning::Planned,
            machine: None,
            wait: Wait::Adaptive,
            patience: Duration::from_millis(2),
            joining: Duration::from_secs(10),
            kind: String::new(),
            durability: None,
            snapshot_every: SNAPSHOT_EVERY,
            files: FilesOrigin::default(),
        }
    }
}

impl Config {
    /// The largest number of nodes that may be in the group at the same time: 1 to 1,023.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots;
        self
    }

    /// The number of commands in the log, a power of two from 256 to 2^24. A replica further behind is put out and comes back
    /// by a snapshot.
    #[must_use]
    pub fn window(mut self, commands: u64) -> Self {
        self.window = commands;
        self
    }

    /// The bytes at each node for operations that do not fit a log entry, which has 32. The largest operation has as many, and at
    /// most 16 MiB and 64 KiB; while there is no room, clients of the node wait until all members have applied earlier ones.
    #[must_use]
    pub fn bulk_bytes(mut self, bytes: u64) -> Self {
        self.bulk_bytes = bytes;
        self
    }

    /// Which nodes have the roles.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// How this node hears of decisions, and whom it tells.
    #[must_use]
    pub fn learning(mut self, learning: Learning) -> Self {
        self.learning = learning;
        self
    }

    /// The machine that the members run on, for [`Learning::Planned`]; leader and acceptor then move to where the plan predicts
    /// clearly more throughput. A node counts as bound to a CPU if the thread that makes it is.
    #[must_use]
    pub fn machine(mut self, machine: &Machine) -> Self {
        self.machine = Some(Arc::new(machine.clone()));
        self
    }

    /// How threads of this node wait.
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The shortest time without a sign of life after which a node with work counts as stuck; longer on crowded machines.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The longest time that joining may take.
    #[must_use]
    pub fn joining(mut self, limit: Duration) -> Self {
        self.joining = limit;
        self
    }

    /// Names the kind of state, where its type does not tell all: one type may stand for several meanings of operations, or for
    /// several versions. A node joins only if type and kind are those of the creator.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Keeps every command and snapshots in files below `folder`, which all nodes of the group share and no other group uses.
    /// A result is handed out when it is as durable as `fsync` says. The node that makes the group starts from what the files
    /// hold, and from the initial state only if there are none.
    #[must_use]
    pub fn durable(mut self, folder: impl Into<PathBuf>, fsync: Fsync) -> Self {
        self.durability = Some(Durability { folder: folder.into(), fsync });
        self
    }

    /// A replica with files takes a snapshot when its log has grown by this many bytes since the last one, 64 MiB by default, and
    /// drops the log before. From 4 KiB to 2^40. Replicas in later slots take theirs after up to 2.75 times as many, lest all do
    /// so at once: operations of a replica wait while its state is copied to memory, though not while it is written to the disk,
    /// unless there is no memory for the copy or no thread to write it.
    #[must_use]
    pub fn snapshot_every(mut self, bytes: u64) -> Self {
        self.snapshot_every = bytes;
        self
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let refuse = |what: String| Err(OpenError::Config(what));
        if !(1..=MAX_SLOTS).contains(&self.slots) {
            return refuse(format!("a group of {} slots, expected 1 to {MAX_SLOTS}", self.slots));
        }
        if !self.window.is_power_of_two() || !(256..=1 << 24).contains(&self.window) {
            return refuse(format!("a log of {} commands, expected a power of two from 256 to 2^24", self.window));
        }
        if !(4096..=1 << 31).contains(&self.bulk_bytes) {
            return refuse(format!("{} bytes for large operations, expected 4096 to 2^31", self.bulk_bytes));
        }
        if !(4096..=1 << 40).contains(&self.snapshot_every) {
            return refuse(format!("a snapshot every {} bytes of the log, expected 4096 to 2^40", self.snapshot_every));
        }
        if self.wait == Wait::Spin {
            return refuse("nodes that only spin: they may outnumber the CPUs, expected another policy".to_owned());
        }
        Ok(())
    }
}
