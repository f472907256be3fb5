//! How a group over messages is laid out, and how a node of it behaves.

use std::path::PathBuf;
use std::time::Duration;

use corecast_base::wait::Wait;

use crate::error::OpenError;
use crate::runtime::durable::{Durability, FilesOrigin, SNAPSHOT_EVERY};
use crate::wal::Fsync;

/// The most nodes of a group: each has a channel to each other.
pub const MAX_NODES: usize = 64;
/// The bytes of a channel's slot.
pub(super) const SLOT_BYTES: usize = 64;

/// The longest time that is reckoned with until a thread that is woken runs.
const WAKE_UP: Duration = Duration::from_micros(50);

/// How the acceptor's word about decided commands gets to all nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Spread {
    /// It sends to one node after another.
    #[default]
    Sequential,
    /// Along a tree: the parent of each node, by slot, `None` for the root, such as those of a planned tree with its root
    /// at node 1, the first acceptor. A node passes the word on to its neighbours in the tree but the one it came from,
    /// so that any node may be the acceptor. Neighbours of a dead node stand in for it; a node that stands still delays
    /// those behind it until they ask for what they lack.
    Tree(Vec<Option<usize>>),
    /// Once into a ring that all read. While a reader stands still and the ring is full, one after another.
    Ring,
}

/// The layout of a group and the behaviour of a node. The layout is fixed by the process that makes the group; others find it.
#[derive(Debug, Clone)]
pub struct Config {
    /// The nodes that the group begins with, and all that it has places for.
    pub(super) nodes: usize,
    pub(super) slots: usize,
    pub(super) window: u64,
    pub(super) link_bytes: usize,
    pub(super) spread: Spread,
    pub(super) wait: Wait,
    pub(super) largest: usize,
    pub(super) patience: Duration,
    pub(super) joining: Duration,
    pub(super) kind: String,
    pub(super) durability: Option<Durability>,
    pub(super) snapshot_every: u64,
    pub(super) files: FilesOrigin,
}

impl Config {
    /// A group of `nodes` nodes: a log of 1,024 commands, channels of 16 KiB, one send after another.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes,
            slots: nodes,
            window: 1024,
            link_bytes: 16 << 10,
            spread: Spread::Sequential,
            wait: Wait::Adaptive,
            largest: (16 << 20) + (64 << 10),
            patience: Duration::from_millis(2),
            joining: Duration::from_secs(10),
            kind: String::new(),
            durability: None,
            snapshot_every: SNAPSHOT_EVERY,
            files: FilesOrigin::default(),
        }
    }

    /// The number of places for nodes, from the number that the group begins with to 64: others may join later. There are
    /// as many as the group begins with by default; in these, nodes come back.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots;
        self
    }

    /// The number of commands in the log, a power of two from 256 to 2^20: a node that chooses an acceptor sends as many.
    #[must_use]
    pub fn window(mut self, commands: u64) -> Self {
        self.window = commands;
        self
    }

    /// The bytes of each channel, a power of two from 4 KiB to 16 MiB. A longer message goes through it in pieces.
    #[must_use]
    pub fn link_bytes(mut self, bytes: usize) -> Self {
        self.link_bytes = bytes;
        self
    }

    /// How the acceptor's word gets to all nodes.
    #[must_use]
    pub fn spread(mut self, spread: Spread) -> Self {
        self.spread = spread;
        self
    }

    /// How threads of the nodes wait.
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The largest operation, in bytes.
    #[must_use]
    pub fn largest(mut self, bytes: usize) -> Self {
        self.largest = bytes;
        self
    }

    /// The shortest time without a sign of life after which a node with work counts as stuck; longer on crowded machines, and
    /// where messages are long, several operations in one among them: 67 ms for 1 MiB, at most 1 s. What has no answer after half
    /// of it is sent again.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The time that nodes which have not come yet are waited for before others take their roles, and the longest time that a
    /// later node's joining may take.
    #[must_use]
    pub fn joining(mut self, limit: Duration) -> Self {
        self.joining = limit;
        self
    }

    /// Names the kind of state, where its type does not tell all: one type may stand for several meanings of operations, or for
    /// several versions. A group is found only by type and kind of its maker.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Keeps every command and snapshots in files below `folder`, which all nodes of the group share and no other group uses.
    /// A result is handed out when it is as durable as `fsync` says. A group that is made anew begins with what the files hold,
    /// and with the initial state only if there are none. All nodes that it begins with have to name the folder then.
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

    /// The time for which a thread of a node on one of these CPUs spins before it sleeps, if spinning is not in vain for less.
    ///
    /// A command goes from node to node, and each that sleeps has to be woken before it wakes the next one: the others wait for
    /// all of these wake-ups. If they sleep meanwhile, the next command finds all of them asleep, and the group stays so. A
    /// command of 28 simulated replicas with four clients took 150 us along a tree in the place of 3. Nodes that share CPUs keep
    /// each other from running, and two wait for one wake-up each, which they spin for anyway.
    pub(super) fn spinning_before_sleep(&self, cpus: usize) -> Duration {
        let has_cpus = (3..=cpus).contains(&self.slots);
        let hops = match &self.spread {
            Spread::Tree(parents) => depth(parents),
            Spread::Sequential | Spread::Ring => 1,
        };
        // The request and the proposal are two more.
        if has_cpus { WAKE_UP * (hops + 2) as u32 } else { Duration::ZERO }
    }

    pub(super) fn check(&self) -> Result<(), OpenError> {
        let refuse = |what: String| Err(OpenError::Config(what));
        if !(1..=MAX_NODES).contains(&self.nodes) {
            return refuse(format!("a group of {} nodes, expected 1 to {MAX_NODES}", self.nodes));
        }
        if !(self.nodes..=MAX_NODES).contains(&self.slots) {
            let (slots, nodes) = (self.slots, self.nodes);
            return refuse(format!("{slots} places for nodes, expected {nodes}, with which it begins, to {MAX_NODES}"));
        }
        if !self.window.is_power_of_two() || !(256..=1 << 20).contains(&self.window) {
            return refuse(format!("a log of {} commands, expected a power of two from 256 to 2^20", self.window));
        }
        if !self.link_bytes.is_power_of_two() || !(4096..=16 << 20).contains(&self.link_bytes) {
            return refuse(format!("channels of {} bytes, expected a power of two from 4096 to 2^24", self.link_bytes));
        }
        if !(4096..=1 << 40).contains(&self.snapshot_every) {
            return refuse(format!("a snapshot every {} bytes of the log, expected 4096 to 2^40", self.snapshot_every));
        }
        if self.wait == Wait::Spin {
            return refuse("nodes that only spin: they may outnumber the CPUs, expected another policy".to_owned());
        }
        match &self.spread {
            Spread::Tree(parents) => check_tree(parents, self.slots),
            Spread::Sequential | Spread::Ring => Ok(()),
        }
    }
}

/// The levels below the root of a tree that was checked.
fn depth(parents: &[Option<usize>]) -> usize {
    let ancestors = |node: usize| std::iter::successors(parents[node], |&above| parents[above]);
    (0..parents.len()).map(|node| ancestors(node).count()).max().unwrap_or(0)
}

/// Checks that the parents are those of one tree over all nodes.
fn check_tree(parents: &[Option<usize>], nodes: usize) -> Result<(), OpenError> {
    let refuse = |what: String| Err(OpenError::Config(what));
    if parents.len() != nodes {
        return refuse(format!("a tree of {} nodes for a group of {nodes}", parents.len()));
    }
    let roots = parents.iter().filter(|parent| parent.is_none()).count();
    if roots != 1 {
        return refuse(format!("a tree of {roots} roots, expected one"));
    }
    for node in 0..nodes {
        let mut above = node;
        for _ in 0..=nodes {
            match parents[above] {
                None => break,
                Some(parent) if parent < nodes => above = parent,
                Some(parent) => {
                    return refuse(format!("node {above} has the parent {parent}, expected one below {nodes}"));
                }
            }
        }
        if parents[above].is_some() {
            return refuse(format!("node {node} is its own ancestor"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_spin_for_the_wake_ups_of_those_before_them_where_each_has_a_cpu() {
        let spun = |config: &Config, cpus| config.spinning_before_sleep(cpus);
        let tree = Spread::Tree(vec![Some(1), None, Some(1), Some(0), Some(3)]);
        let group = Config::new(5).spread(tree);
        assert_eq!([spun(&group, 5), spun(&group, 4)], [WAKE_UP * 5, Duration::ZERO]);
        assert_eq!([3, 2].map(|nodes| spun(&Config::new(nodes), 64)), [WAKE_UP * 3, Duration::ZERO]);
    }

    #[test]
    fn bad_layouts_are_named() {
        let tree = |parents: &[Option<usize>]| Config::new(3).spread(Spread::Tree(parents.to_vec())).check();
        assert!(tree(&[Some(1), None, Some(1)]).is_ok());
        let cases = [
            (Config::new(0).check(), "a group of 0 nodes"),
            (Config::new(65).check(), "a group of 65 nodes"),
            (Config::new(3).slots(2).check(), "2 places for nodes"),
            (Config::new(3).slots(65).check(), "65 places for nodes"),
            (Config::new(3).window(100).check(), "a log of 100 commands"),
            (Config::new(3).link_bytes(5000).check(), "channels of 5000 bytes"),
            (Config::new(3).wait(Wait::Spin).check(), "only spin"),
            (Config::new(3).snapshot_every(4095).check(), "a snapshot every 4095 bytes"),
            (tree(&[None, Some(0)]), "a tree of 2 nodes for a group of 3"),
            (tree(&[None, None, Some(0)]), "a tree of 2 roots"),
            (tree(&[None, Some(2), Some(1)]), "its own ancestor"),
            (tree(&[None, Some(7), Some(0)]), "the parent 7"),
        ];
        for (result, expected) in cases {
            let error = result.expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
