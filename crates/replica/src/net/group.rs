//! The region of a group: making it, finding it, and becoming a node of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion};
use corecast_base::rendezvous::{self, HostedRegion, SocketDir};
use corecast_base::wait::{Wait, Waiter};

use super::config::{Config, Spread};
use super::driver::Driver;
use super::inner::Inner;
use super::peers::{Peers, founder};
use super::states::Taker;
use super::table::NodeTable;
use super::thread as node_thread;
use super::transport::Transport;
use super::{Node, beginning, links, memory, ring};
use crate::crash_point;
use crate::error::{ExecuteError, OpenError};
use crate::one_paxos::{Message, Node as OneNode};
use crate::runtime::durable::{self, Disk, FilesOrigin};
use crate::runtime::{Applied, GroupState, Member, boot_number};
use crate::segment::Claim;
use crate::system::Members;
use crate::{Index, NodeId, StateMachine};

/// The name of the table in the region, and what kind of contents it is: a number of this crate.
const ENTRY: &str = "replica-net";
const KIND: u32 = 7;
/// The longest time that a node which was taken in waits until the group counts on its vote.
const VOTING: Duration = Duration::from_secs(1);
/// The number of the process of each founder; later ones have others.
const FOUNDERS_BOOT: u64 = 1;

/// The channels of a group of replicas of `S`, through which its nodes find each other.
///
/// One process makes the group and shares it by a descriptor or a name; each node takes its number in it. All nodes have
/// to begin with the same state. A clone is the same group.
pub struct Group<S> {
    region: SharedRegion,
    hosted: Option<Arc<HostedRegion>>,
    config: Config,
    machine: PhantomData<fn() -> S>,
}

impl<S: StateMachine> Group<S> {
    /// Makes a group without a name. Other processes get it by [`share`](Self::share).
    ///
    /// # Errors
    /// [`OpenError`]; `Create` if there is no room for its memory.
    pub fn create(config: &Config) -> Result<Self, OpenError> {
        config.check()?;
        let mut config = config.clone();
        if let Some(durability) = &config.durability {
            config.files = durable::set_origin_aside(durability)?;
        }
        let region = memory::create(&plan::<S>(&config)?)?;
        let group = Self { region, hosted: None, config, machine: PhantomData };
        if let Spread::Tree(parents) = &group.config.spread {
            group.table(&group.region)?.set_parents(parents);
        }
        Ok(group)
    }

    /// Makes a group with a name.
    ///
    /// # Errors
    /// [`OpenError`]; `Rendezvous` if a group of this name is in use.
    pub fn create_named(config: &Config, dir: &SocketDir, name: &str) -> Result<Self, OpenError> {
        let group = Self::create(config)?;
        let hosted = Some(Arc::new(rendezvous::host(dir, name, group.region.clone())?));
        Ok(Self { hosted, ..group })
    }

    /// Finds the group of a descriptor. Its layout is what its maker chose; waiting times are those of `config`.
    ///
    /// # Errors
    /// [`OpenError`]; `Version` if it is another kind of group, or one of a state of another type or [kind](Config::kind).
    pub fn attach_fd(config: &Config, fd: OwnedFd) -> Result<Self, OpenError> {
        Self::found(config, SharedRegion::from_fd(fd)?, None)
    }

    /// Finds the group with this name.
    ///
    /// # Errors
    /// As [`attach_fd`](Self::attach_fd).
    pub fn attach(config: &Config, dir: &SocketDir, name: &str) -> Result<Self, OpenError> {
        let hosted = rendezvous::connect_timeout(dir, name, config.joining)?;
        Self::found(config, hosted.region().clone(), Some(Arc::new(hosted)))
    }

    /// A descriptor by which another process, or another thread, finds the group.
    ///
    /// # Errors
    /// [`std::io::Error`] if there is no /proc.
    pub fn share(&self) -> std::io::Result<OwnedFd> {
        self.region.share()
    }

    /// The number of nodes that it begins with.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.config.nodes
    }

    /// The number of its places for nodes.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.config.slots
    }

    /// Becomes node `slot`, from 0. It runs at once.
    ///
    /// A node that the group begins with starts from `initial`; operations are done as soon as leader and acceptor are
    /// there, which are nodes 0 and 1 in the beginning. One that comes later, or comes back, is another incarnation: it
    /// takes the state of a member, for which `initial` is [asked](StateMachine::restore_anew), and waits until the group
    /// has taken it in. Then it may get any role, and vote.
    ///
    /// # Errors
    /// [`OpenError`]; `Config` if there is no such place, or another process is that node; for a later one `Lost` if
    /// nobody else lives, and `NotTakenIn` if the group did not take it in within [`Config::joining`].
    pub fn join(&self, slot: usize, initial: S) -> Result<Node<S>, OpenError> {
        if slot >= self.config.slots {
            let slots = self.config.slots;
            return Err(OpenError::Config(format!("no node {slot} in a group of {slots} nodes, which begin with 0")));
        }
        let region = memory::attach(&self.region)?;
        let table = self.table(&region)?;
        let before = table.claim_of(slot);
        let taken = || OpenError::Config(format!("node {slot} of the group is taken"));
        if before != Claim::NONE && !table.is_free(slot, before) {
            return Err(taken());
        }
        if slot < self.config.nodes && before == Claim::NONE {
            let state = self.first_state(initial)?;
            let me = table.claim(slot, before).ok_or_else(taken)?;
            return self.start_founder(me, &region, table, state);
        }
        drop((table, region));
        self.join_later(slot, &initial)?.ok_or_else(taken)
    }

    /// Becomes the first node that no process was yet, or that is free again, as [`join`](Self::join) does.
    ///
    /// # Errors
    /// As [`join`](Self::join); `NoSlot` if all places are taken.
    pub fn join_next(&self, initial: S) -> Result<Node<S>, OpenError> {
        let table = self.table(&self.region)?;
        let claim_of = |&slot: &usize| table.claim_of(slot);
        let fresh = (0..self.config.slots).filter(|slot| claim_of(slot) == Claim::NONE);
        let left = (0..self.config.slots).filter(|slot| claim_of(slot) != Claim::NONE);
        let left = left.filter(|&slot| table.is_free(slot, table.claim_of(slot)));
        for slot in fresh.chain(left) {
            if slot >= self.config.nodes || table.claim_of(slot) != Claim::NONE {
                match self.join_later(slot, &initial)? {
                    Some(node) => return Ok(node),
                    None => continue,
                }
            }
            let region = memory::attach(&self.region)?;
            let table = self.table(&region)?;
            let state = self.first_state(initial)?;
            let Some(me) = table.claim(slot, Claim::NONE) else { return self.join_next(state) };
            return self.start_founder(me, &region, table, state);
        }
        Err(OpenError::NoSlot(self.config.slots))
    }

    /// Starts the founder that this attachment has claimed.
    fn start_founder(
        &self,
        me: NodeId,
        region: &SharedRegion,
        table: NodeTable,
        machine: S,
    ) -> Result<Node<S>, OpenError> {
        let table = Arc::new(table);
        let peers = Peers::of_founder(region, &table, &self.config, me)?;
        let transport = Transport::open(region, Arc::clone(&table), &self.config, me, peers)?;
        let members = Members::founding((0..self.config.nodes).map(|slot| (founder(slot), FOUNDERS_BOOT)));
        let core = OneNode::new(
            beginning::settings(&self.config, me),
            members.clone(),
            beginning::configuration(&self.config),
        );
        let system = GroupState::new(members);
        let mut driver = Driver::new(core, system, transport, table, self.config.clone(), FOUNDERS_BOOT);
        driver.disk = self.files(me, (&machine, 0), Instant::now() + self.config.joining)?;
        start(Inner::new(region, driver, Applied { machine, count: 0 }))
    }

    /// The state that the nodes have with which the group begins: that of the files, if there are any.
    fn first_state(&self, initial: S) -> Result<S, OpenError> {
        let files = self.config.files;
        match &self.config.durability {
            Some(durability) => durable::read_origin(durability, files, initial),
            None if files.base == 0 => Ok(initial),
            None => Err(OpenError::Config("the group begins with what its files hold: name their folder".to_owned())),
        }
    }

    /// The files of a node that begins with this state, if it keeps any.
    fn files(&self, me: NodeId, state: (&S, Index), until: Instant) -> Result<Option<Disk>, OpenError> {
        let (files, every) = (self.config.files, self.config.snapshot_every);
        let begin = |durability| Disk::begin_by(durability, files, me.slot, every, state, until);
        self.config.durability.as_ref().map(begin).transpose()
    }

    /// Joins as another incarnation in this slot; `None` if another node has it. A log that ran away meanwhile makes it begin
    /// anew.
    fn join_later(&self, slot: usize, initial: &S) -> Result<Option<Node<S>>, OpenError> {
        let until = Instant::now() + self.config.joining;
        loop {
            let node = match self.start_later(slot, initial, until) {
                Ok(Some(node)) => node,
                Ok(None) => return Ok(None),
                // The member that gave its state catches up.
                Err(OpenError::Behind { .. }) if Instant::now() < until => continue,
                Err(error) => return Err(error),
            };
            if node.await_membership(until) {
                node.await_votes(until.min(Instant::now() + VOTING));
                return Ok(Some(node));
            }
            if let Some(ExecuteError::Poisoned { index }) = node.inner().execute_error() {
                return Err(OpenError::Poisoned(index));
            }
            if Instant::now() >= until {
                return Err(OpenError::NotTakenIn(self.config.joining));
            }
        }
    }

    /// Takes the slot and the state of a member, and starts with it; `None` if another node has the slot.
    fn start_later(&self, slot: usize, initial: &S, until: Instant) -> Result<Option<Node<S>>, OpenError> {
        let region = memory::attach(&self.region)?;
        let table = Arc::new(self.table(&region)?);
        let before = table.claim_of(slot);
        let is_free = before == Claim::NONE || table.is_free(slot, before);
        let me = if is_free { table.claim(slot, before) } else { None };
        let Some(me) = me else { return Ok(None) };
        crash_point::here("net-claimed");
        let peers = Peers::of_later(&table, &self.config, me)?;
        let mut transport = Transport::open(&region, Arc::clone(&table), &self.config, me, peers)?;
        crash_point::here("net-announced");
        let waiter = Waiter::new(self.config.wait, region.cpu_sharing(2), None);
        let is_over = || Instant::now() >= until;
        let mut taker = Taker::new(me, &mut transport, &table, waiter, &is_over);
        let ((system, machine), giver) = taker.take(&|from| initial.restore_anew(from))?;
        crash_point::here("net-taken");
        let count = system.applied();
        // It knows of no configuration but the first: the newest comes with the commands that no acceptor may lack.
        let members = system.members().clone();
        let core = OneNode::restored(
            beginning::settings(&self.config, me),
            members,
            beginning::configuration(&self.config),
            count,
        );
        transport.send(giver, &Message::Missing { epoch: 0, first: count });
        let mut driver = Driver::new(core, system, transport, table, self.config.clone(), boot_number(&region, me));
        driver.disk = self.files(me, (&machine, count), until)?;
        start(Inner::new(&region, driver, Applied { machine, count })).map(Some)
    }

    fn found(config: &Config, region: SharedRegion, hosted: Option<Arc<HostedRegion>>) -> Result<Self, OpenError> {
        let not_ours = || OpenError::Version("it holds no group over messages".to_owned());
        let words = region.entry(ENTRY).ok_or_else(not_ours)?.config;
        let config = decode(words, config).ok_or_else(not_ours)?;
        let is_same = region.expect_plan(&plan::<S>(&config)?);
        is_same.map_err(|_| OpenError::Version("it replicates another state, or is of another version".to_owned()))?;
        let mut group = Self { region, hosted, config, machine: PhantomData };
        if matches!(group.config.spread, Spread::Tree(_)) {
            group.config.spread = Spread::Tree(group.table(&group.region)?.parents());
        }
        group.config.check()?;
        Ok(group)
    }

    fn table(&self, region: &SharedRegion) -> Result<NodeTable, OpenError> {
        let entry = region.entry(ENTRY).expect("it was planned");
        NodeTable::open(region, region.section(&entry), self.config.slots, self.config.wait)
    }
}

impl<S> Clone for Group<S> {
    fn clone(&self) -> Self {
        let (region, hosted, config) = (self.region.clone(), self.hosted.clone(), self.config.clone());
        Self { region, hosted, config, machine: PhantomData }
    }
}

impl<S> std::fmt::Debug for Group<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Group({} nodes)", self.config.nodes)
    }
}

/// Starts the thread of a node.
fn start<S: StateMachine>(inner: Inner<S>) -> Result<Node<S>, OpenError> {
    let name = format!("replica-net-{}", inner.id().slot);
    Node::start(inner, name, node_thread::run)
}

/// The contents of a group's region. Groups of other state machines, by type or by kind, have others.
fn plan<S>(config: &Config) -> Result<RegionPlan, OpenError> {
    let refused = |error: RegionPlanError| OpenError::Config(error.to_string());
    let mut hasher = DefaultHasher::new();
    (std::any::type_name::<S>(), &config.kind).hash(&mut hasher);
    let (nodes, slots) = (config.nodes, config.slots);
    let plan = RegionPlan::new().limit_bytes(1 << 36);
    let plan = plan.add(ENTRY, KIND, encode(config, hasher.finish()), NodeTable::bytes(slots) as u64);
    let plan = links::declare(plan.map_err(refused)?, nodes, config.link_bytes).map_err(refused)?;
    let plan = match config.spread {
        Spread::Ring => ring::declare(plan, slots, config.link_bytes).map_err(refused)?,
        Spread::Sequential | Spread::Tree(_) => plan,
    };
    // A process has one to find the group, and one for each node; a node that comes back, one more for a moment.
    plan.participants(slots as u32 * 3 + 8).map_err(refused)
}

fn encode(config: &Config, state: u64) -> [u64; 6] {
    let spread = match config.spread {
        Spread::Sequential => 0,
        Spread::Tree(_) => 1,
        Spread::Ring => 2,
    };
    let wait = Wait::ALL.iter().position(|&each| each == config.wait).expect("ALL names every policy") as u64;
    let sizes = config.nodes as u64 | (config.slots as u64) << 8 | spread << 16 | wait << 24 | config.window << 32;
    let FilesOrigin { group, base } = config.files;
    [sizes, config.link_bytes as u64, config.largest as u64, state, group, base]
}

/// The layout in the words, with the waiting times of `mine`.
fn decode(words: [u64; 6], mine: &Config) -> Option<Config> {
    let [sizes, link_bytes, largest, _, group, base] = words;
    let byte = |at: u32| (sizes >> (8 * at) & 0xff) as usize;
    let slots = byte(1);
    let config = Config {
        nodes: byte(0),
        slots,
        window: sizes >> 32,
        link_bytes: usize::try_from(link_bytes).ok()?,
        spread: match byte(2) {
            0 => Spread::Sequential,
            // The tree itself is in the table.
            1 => Spread::Tree((0..slots.min(super::MAX_NODES)).map(|node| node.checked_sub(1)).collect()),
            2 => Spread::Ring,
            _ => return None,
        },
        wait: *Wait::ALL.get(byte(3))?,
        largest: usize::try_from(largest).ok()?,
        files: FilesOrigin { group, base },
        ..mine.clone()
    };
    config.check().is_ok().then_some(config)
}
