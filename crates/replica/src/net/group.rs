//! The region of a group: making it, finding it, and becoming a node of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;

use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion};
use corecast_base::rendezvous::{self, HostedRegion, SocketDir};
use corecast_base::wait::Wait;
use corecast_channel::OpenChannelError;

use super::config::{Config, Spread};
use super::driver::Driver;
use super::handle::{Handle, Node};
use super::inner::Inner;
use super::table::NodeTable;
use super::thread as node_thread;
use super::transport::{Transport, node};
use super::{links, ring};
use crate::error::OpenError;
use crate::one_paxos::{self, Node as OneNode, Rules, Settings};
use crate::runtime::GroupState;
use crate::system::Members;
use crate::{Configuration, RoleChange, StateMachine};

/// The name of the table in the region, and what kind of contents it is: a number of this crate.
const ENTRY: &str = "replica-net";
const KIND: u32 = 7;

/// The channels of a group of replicas of `S`, through which its nodes find each other.
///
/// One process makes the group and shares it by a descriptor or a name; each node takes its number in it. All nodes have to begin
/// with the same state. A clone is the same group.
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
        let region = SharedRegion::memfd(&plan::<S>(config)?)?;
        let group = Self { region, hosted: None, config: config.clone(), machine: PhantomData };
        if let Spread::Tree(parents) = &config.spread {
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

    /// The number of its nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.config.nodes
    }

    /// Becomes node `slot`, from 0, which begins with this state. It runs at once; operations are done as soon as leader and
    /// acceptor are there, which are nodes 0 and 1 in the beginning.
    ///
    /// # Errors
    /// [`OpenError`]; `Config` if there is no such node, or if another process is that node, or was and is dead.
    pub fn join(&self, slot: usize, initial: S) -> Result<Node<S>, OpenError> {
        if slot >= self.config.nodes {
            let nodes = self.config.nodes;
            return Err(OpenError::Config(format!("no node {slot} in a group of {nodes} nodes, which begin with 0")));
        }
        let region = self.attachment()?;
        let table = self.table(&region)?;
        table.claim(slot)?;
        self.start(slot, &region, table, initial)
    }

    /// Becomes the first node that no process was yet, as [`join`](Self::join) does.
    ///
    /// # Errors
    /// As [`join`](Self::join); `NoSlot` if all nodes have come.
    pub fn join_next(&self, initial: S) -> Result<Node<S>, OpenError> {
        let region = self.attachment()?;
        let table = self.table(&region)?;
        let slot = (0..self.config.nodes).find(|&slot| table.claim(slot).is_ok());
        self.start(slot.ok_or(OpenError::NoSlot(self.config.nodes))?, &region, table, initial)
    }

    /// A participant of its own: others see when it is gone, also among the threads of one process.
    fn attachment(&self) -> Result<SharedRegion, OpenError> {
        let fd = self.region.share().map_err(OpenError::State)?;
        Ok(SharedRegion::from_fd(fd)?)
    }

    /// Starts the node that this attachment has claimed.
    fn start(&self, slot: usize, region: &SharedRegion, table: NodeTable, initial: S) -> Result<Node<S>, OpenError> {
        let table = Arc::new(table);
        let transport = Transport::open(region, Arc::clone(&table), &self.config, slot);
        let transport = transport.map_err(|error| channel_error(&error))?;
        let members = Members::founding((0..self.config.nodes).map(|slot| (node(slot), 1)));
        let core = OneNode::new(self.settings(slot), members.clone(), self.first_configuration());
        let system = GroupState::new(members);
        let driver = Driver::new(core, system, transport, table, self.config.clone());
        let inner = Arc::new(Inner::new(region, driver, initial));
        let theirs = Arc::clone(&inner);
        let name = format!("replica-net-{slot}");
        let thread = thread::Builder::new().name(name).spawn(move || node_thread::run(&theirs));
        let thread = Mutex::new(Some(thread.map_err(OpenError::Thread)?));
        Ok(Node::new(Handle { inner, thread }))
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
        NodeTable::open(region, region.section(&entry), self.config.nodes, self.config.wait)
    }

    fn settings(&self, slot: usize) -> Settings {
        Settings {
            me: node(slot),
            transport: one_paxos::Transport::Messages,
            window: self.config.window,
            founders: (0..self.config.nodes).map(node).collect(),
            rules: Rules::ALL,
        }
    }

    fn first_configuration(&self) -> Configuration {
        let leader = node(0);
        let acceptor = node(usize::from(self.config.nodes > 1));
        Configuration {
            epoch: 0,
            change: RoleChange::Acceptor,
            leader,
            acceptor,
            inst: 0,
            stable: 0,
            source: leader,
            hi: 0,
        }
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

/// The contents of a group's region. Groups of other state machines, by type or by kind, have others.
fn plan<S>(config: &Config) -> Result<RegionPlan, OpenError> {
    let refused = |error: RegionPlanError| OpenError::Config(error.to_string());
    let mut hasher = DefaultHasher::new();
    (std::any::type_name::<S>(), &config.kind).hash(&mut hasher);
    let nodes = config.nodes;
    let plan = RegionPlan::new().limit_bytes(1 << 36);
    let plan = plan.add(ENTRY, KIND, encode(config, hasher.finish()), NodeTable::bytes(nodes) as u64);
    let plan = links::declare(plan.map_err(refused)?, nodes, config.link_bytes).map_err(refused)?;
    let plan = match config.spread {
        Spread::Ring => ring::declare(plan, nodes, config.link_bytes).map_err(refused)?,
        Spread::Sequential | Spread::Tree(_) => plan,
    };
    // A process has one to find the group, and one for each node.
    plan.participants(nodes as u32 * 2 + 8).map_err(refused)
}

fn encode(config: &Config, state: u64) -> [u64; 6] {
    let spread = match config.spread {
        Spread::Sequential => 0,
        Spread::Tree(_) => 1,
        Spread::Ring => 2,
    };
    let wait = Wait::ALL.iter().position(|&each| each == config.wait).expect("ALL names every policy");
    let largest = config.largest as u64;
    [config.nodes as u64 | config.window << 32, config.link_bytes as u64, spread, wait as u64, largest, state]
}

/// The layout in the words, with the waiting times of `mine`.
fn decode(words: [u64; 6], mine: &Config) -> Option<Config> {
    let [sizes, link_bytes, spread, wait, largest, _] = words;
    let nodes = (sizes & u64::from(u32::MAX)) as usize;
    let config = Config {
        nodes,
        window: sizes >> 32,
        link_bytes: usize::try_from(link_bytes).ok()?,
        spread: match spread {
            0 => Spread::Sequential,
            // The tree itself is in the table.
            1 => Spread::Tree((0..nodes.min(super::MAX_NODES)).map(|node| node.checked_sub(1)).collect()),
            2 => Spread::Ring,
            _ => return None,
        },
        wait: *Wait::ALL.get(usize::try_from(wait).ok()?)?,
        largest: usize::try_from(largest).ok()?,
        ..mine.clone()
    };
    config.check().is_ok().then_some(config)
}

fn channel_error(error: &OpenChannelError) -> OpenError {
    OpenError::Version(error.to_string())
}
