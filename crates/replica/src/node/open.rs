//! Making a group, and joining one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::CpuId;
use corecast_base::region::{Liveness, ParticipantId, RegionPlan, SealedMemory, SharedRegion};
use corecast_base::rendezvous::{self, HostedRegion, SocketDir};
use corecast_machine::pin;

use super::config::{Config, Placement};
use super::driver::Driver;
use super::inner::Inner;
use super::learning::Learning;
use super::{giving, thread as node_thread};
use crate::crash_point;
use crate::error::OpenError;
use crate::one_paxos::{Node as OneNode, Rules, Settings, Transport};
use crate::runtime::durable::{self, Disk, FilesOrigin};
use crate::runtime::{Applied, GroupState, Node, boot_number};
use crate::segment::{
    Claim, ConfigurationWord, Control, NodeRecord, NodeState, SegmentLayout, SegmentWriter, create_segment,
};
use crate::shm::{Peers, Shm};
use crate::system::{Members, System};
use crate::{Configuration, NodeId, RoleChange, StateMachine};

/// The time between two looks at the configuration.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// The name of the control page in its region, and what kind of contents it is: a number of this crate.
const ENTRY: &str = "replica";
const KIND: u32 = 6;

/// Groups of replicas of `S`: makes them, and joins them.
#[derive(Debug)]
pub struct Replicated<S>(PhantomData<S>);

impl<S: StateMachine> Replicated<S> {
    /// Makes a group without a name, of which this node is the first member. Others get it by [`Node::share`].
    ///
    /// # Errors
    /// [`OpenError`]; `Create` if there is no room for its memory.
    pub fn create(config: &Config, initial: S) -> Result<Node<S>, OpenError> {
        found(config, None, initial)
    }

    /// Makes a group with a name.
    ///
    /// # Errors
    /// [`OpenError`]; `Rendezvous` if a group of this name is in use: of two creators one succeeds.
    pub fn create_named(config: &Config, dir: &SocketDir, name: &str, initial: S) -> Result<Node<S>, OpenError> {
        found(config, Some((dir, name)), initial)
    }

    /// Joins the group with this name.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn attach(config: &Config, dir: &SocketDir, name: &str) -> Result<Node<S>, OpenError> {
        let hosted = rendezvous::connect_timeout(dir, name, config.joining)?;
        join(config, hosted.region().clone(), Some(hosted))
    }

    /// Joins the group of this descriptor: see [`Node::share`].
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn attach_fd(config: &Config, fd: OwnedFd) -> Result<Node<S>, OpenError> {
        join(config, SharedRegion::from_fd(fd)?, None)
    }
}

/// The contents of a group's region. Groups of other state machines, by type or by kind, have others.
fn plan<S>(config: &Config) -> Result<RegionPlan, OpenError> {
    let mut hasher = DefaultHasher::new();
    (std::any::type_name::<S>(), &config.kind).hash(&mut hasher);
    let flags = u64::from(config.placement == Placement::Fused) | config.files.group << 1;
    let words = [config.slots as u64, config.window, config.bulk_bytes, flags, hasher.finish(), config.files.base];
    let plan = RegionPlan::new().add(ENTRY, KIND, words, Control::bytes(config.slots) as u64);
    // A node that comes back has a participant of its own for a moment; a process that looks, too.
    let participants = (config.slots as u32 * 2 + 8).min(1024);
    plan.and_then(|plan| plan.participants(participants)).map_err(|error| OpenError::Config(error.to_string()))
}

/// The configuration that the group was made with, as far as it holds for all.
fn found_config<S>(region: &SharedRegion, mine: &Config) -> Result<Config, OpenError> {
    let entry = region.entry(ENTRY).ok_or_else(|| OpenError::Version("it holds no replicated state".to_owned()))?;
    let [slots, window, bulk_bytes, flags, _, base] = entry.config;
    let placement = if flags & 1 == 1 { Placement::Fused } else { Placement::Separate };
    let files = FilesOrigin { group: flags >> 1, base };
    let config = Config { slots: slots as usize, window, bulk_bytes, placement, files, ..mine.clone() };
    config.check()?;
    let is_same = region.expect_plan(&plan::<S>(&config)?);
    is_same.map_err(|_| OpenError::Version("it replicates another state, or is of another version".to_owned()))?;
    Ok(config)
}

fn found<S: StateMachine>(config: &Config, name: Option<(&SocketDir, &str)>, initial: S) -> Result<Node<S>, OpenError> {
    config.check()?;
    let (config, initial) = start_from_files(config, initial)?;
    let config = &config;
    let region = SharedRegion::memfd(&plan::<S>(config)?)?;
    let entry = region.entry(ENTRY).expect("it was planned");
    let layout = SegmentLayout::new(config.slots, config.window, config.bulk_bytes);
    let control = Control::create(&region, region.section(&entry), layout, config.wait);
    let control = control.map_err(|error| OpenError::Version(error.to_string()))?;
    let me = NodeId::new(0, 1);
    let by = Claim { inc: me.inc, participant: region.me().to_word() };
    control.claim(0, Claim::NONE, by).map_err(|_| OpenError::Version("two creators".to_owned()))?;
    let mut place = Place::take(config, region, control, me)?;
    let first = Configuration {
        epoch: 0,
        change: RoleChange::Acceptor,
        leader: me,
        acceptor: me,
        inst: 0,
        stable: 0,
        source: me,
        hi: 0,
    };
    let cell = place.shm.writer.write_cell(&first);
    let named = place.shm.control.swap(ConfigurationWord::NONE, ConfigurationWord::new(0, me, cell));
    named.map_err(|_| OpenError::Version("two creators".to_owned()))?;
    place.shm.writer.set_state(NodeState::Member);
    let members = Members::founding([(me, place.boot)]);
    let core = OneNode::new(settings(config, me), members.clone(), first);
    let region = place.region.clone();
    // The name comes last: nobody finds a group that has no member.
    let hosted = name.map(|(dir, name)| rendezvous::host(dir, name, region)).transpose()?;
    place.start(config, core, System::new(members), initial, hosted)
}

/// The state that the files of the group hold, if it keeps any, and the configuration that says so.
fn start_from_files<S: StateMachine>(config: &Config, initial: S) -> Result<(Config, S), OpenError> {
    let Some(durability) = &config.durability else { return Ok((config.clone(), initial)) };
    let (files, machine) = durable::start_from_files(durability, initial)?;
    Ok((Config { files, ..config.clone() }, machine))
}

fn join<S: StateMachine>(
    config: &Config,
    region: SharedRegion,
    hosted: Option<HostedRegion>,
) -> Result<Node<S>, OpenError> {
    let until = Instant::now() + config.joining;
    let config = &found_config::<S>(&region, config)?;
    let entry = region.entry(ENTRY).expect("it was found just now");
    let control = Control::open(&region, region.section(&entry));
    let control = control.map_err(|error| OpenError::Version(error.to_string()))?;
    if let Some(index) = control.poisoned() {
        return Err(OpenError::Poisoned(index));
    }
    let me = claim(&region, &control)?;
    crash_point::here("slot-claimed");
    let mut place = Place::take(config, region, control, me)?;
    let (system, machine) = take_state(config, &mut place, until)?;
    crash_point::here("state-taken");
    place.shm.writer.set_applied(system.applied(), Some(system.prefix()));
    place.shm.writer.ask(place.asked, None);
    let core = restored(config, me, &mut place.shm, &system)?;
    let node = place.start(config, core, system, machine, hosted)?;
    node.await_membership(until, config.joining)?;
    Ok(node)
}

/// The state of a member, which shows no fewer commands than the files that an earlier node has left in the slot.
fn take_state<S: StateMachine>(
    config: &Config,
    place: &mut Place,
    until: Instant,
) -> Result<(GroupState, S), OpenError> {
    loop {
        let taken = giving::take(&mut place.shm, until, &mut place.asked, &S::restore);
        let taken = taken.map_err(|error| match error.kind() {
            _ if !place.shm.peers.has_source(place.shm.me) => OpenError::Lost,
            std::io::ErrorKind::TimedOut => OpenError::NotTakenIn(config.joining),
            _ => OpenError::State(error),
        })?;
        match durable::check_kept(config.durability.as_ref(), config.files, place.shm.me.slot, taken.0.applied()) {
            // The member that gave its state catches up.
            Err(OpenError::Behind { .. }) if Instant::now() < until => thread::sleep(LOOK_AGAIN),
            checked => return checked.map(|()| taken),
        }
    }
}

/// The core of a node that begins with a state.
pub(super) fn restored(
    config: &Config,
    me: NodeId,
    shm: &mut Shm,
    system: &GroupState,
) -> Result<OneNode<crate::segment::Body>, OpenError> {
    let newest = await_configuration(shm, Instant::now() + config.joining)?;
    Ok(OneNode::restored(settings(config, me), system.members().clone(), newest, system.applied()))
}

/// The newest configuration. The node that has proposed it may be dead, and its memory unknown here, until others take over.
fn await_configuration(shm: &mut Shm, until: Instant) -> Result<Configuration, OpenError> {
    loop {
        match shm.newest_configuration() {
            Some(newest) => return Ok(newest),
            None if Instant::now() >= until => return Err(OpenError::Lost),
            None => thread::sleep(LOOK_AGAIN),
        }
    }
}

fn settings(config: &Config, me: NodeId) -> Settings {
    let is_fused = config.placement == Placement::Fused;
    Settings {
        me,
        transport: Transport::Shared { is_fused },
        window: config.window,
        founders: vec![NodeId::new(0, 1)],
        rules: Rules::ALL,
    }
}

/// A slot without a living node: one that nobody ever had, else one whose process is gone. A claim names its process, so it does
/// not matter how far that one came.
fn claim(region: &SharedRegion, control: &Control) -> Result<NodeId, OpenError> {
    let slots = control.layout().slots();
    let is_free = |last: Claim| {
        let who = ParticipantId::from_word(last.participant);
        who.is_some_and(|who| region.liveness(who) != Liveness::Alive)
    };
    let fresh = (0..slots).filter(|&slot| control.claimed(slot) == 0);
    let left = (0..slots).filter(|&slot| is_free(control.last_claim(slot)));
    for slot in fresh.chain(left) {
        let before = control.last_claim(slot);
        if before != Claim::NONE && !is_free(before) {
            continue;
        }
        // A slot that has had all its incarnations is not used any more.
        let Some(by) = before.next(region.me().to_word()) else { continue };
        if control.claim(slot, before, by).is_ok() {
            return Ok(NodeId::new(slot as u16, by.inc));
        }
    }
    Err(OpenError::NoSlot(slots))
}

/// A slot that this process has, with its segment.
pub(super) struct Place {
    region: SharedRegion,
    shm: Shm,
    boot: u64,
    asked: u32,
}

impl Place {
    fn take(config: &Config, region: SharedRegion, control: Control, me: NodeId) -> Result<Self, OpenError> {
        let boot = boot_number(&region, me);
        let (mut writer, memory) = segment(config, me)?;
        let bulk = writer.take_bulk().expect("it is the first time");
        let at = memory.announcement();
        let record = NodeRecord {
            inc: me.inc,
            participant: region.me().to_word(),
            pid: at.pid,
            fd: at.fd,
            identity: at.identity,
            boot,
        };
        control.publish(usize::from(me.slot), &record);
        crash_point::here("segment-published");
        let peers = Peers::new(region.clone(), control.clone(), writer.reader(), record);
        let mut shm = Shm::new(me, control, memory, writer, bulk, peers);
        shm.set_cpu(own_cpu());
        Ok(Self { region, shm, boot, asked: 0 })
    }

    /// Starts the node with this state.
    fn start<S: StateMachine>(
        self,
        config: &Config,
        core: OneNode<crate::segment::Body>,
        system: GroupState,
        machine: S,
        hosted: Option<HostedRegion>,
    ) -> Result<Node<S>, OpenError> {
        let Self { region, shm, boot, asked } = self;
        let count = system.applied();
        let (control, me) = (shm.control.clone(), shm.me);
        let largest = shm.bulk.max_bytes();
        let mut driver = Driver::new(core, system, shm, config.clone(), boot, asked);
        if let Learning::Tree(tree) = &config.learning {
            driver.learn_over(Some(tree.clone()));
        }
        if let Some(durability) = &config.durability {
            let (files, every) = (config.files, config.snapshot_every);
            driver.disk = Some(Disk::begin(durability, files, me.slot, every, (&machine, count))?);
        }
        let inner = Inner::new(&region, control, driver, Applied { machine, count }, largest, hosted);
        Node::start(inner, format!("replica-{}", me.slot), node_thread::run)
    }
}

/// The CPU that this thread, and so the thread of a node that it starts, is bound to.
fn own_cpu() -> Option<CpuId> {
    let cpus = pin::affinity().ok()?;
    if let [cpu] = cpus.as_slice() { Some(*cpu) } else { None }
}

/// The owner's end of a segment, and its memory.
pub(super) type NewSegment = (SegmentWriter, SealedMemory);

/// A fresh segment of a node.
pub(super) fn segment(config: &Config, me: NodeId) -> Result<NewSegment, OpenError> {
    let layout = SegmentLayout::new(config.slots, config.window, config.bulk_bytes);
    create_segment(layout, me).map_err(|error| OpenError::Segment { node: me.slot, cause: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_SLOTS;

    #[test]
    fn a_group_takes_1023_nodes_and_slots_of_the_dead_again() {
        let config = Config::default().slots(MAX_SLOTS).window(256).bulk_bytes(4096);
        let region = SharedRegion::memfd(&plan::<u8>(&config).expect("a plan")).expect("memory");
        let entry = region.entry(ENTRY).expect("it was planned");
        let layout = SegmentLayout::new(config.slots, config.window, config.bulk_bytes);
        let control = Control::create(&region, region.section(&entry), layout, config.wait).expect("room");
        for slot in 0..MAX_SLOTS {
            assert_eq!(claim(&region, &control).expect("a free slot"), NodeId::new(slot as u16, 1));
        }
        let is_full = || matches!(claim(&region, &control), Err(OpenError::NoSlot(MAX_SLOTS)));
        assert!(is_full(), "this process lives, though it said nothing more");
        // A participant that is not there any more.
        let dead = ParticipantId { index: 900, generation: 7 }.to_word();
        control.claim(5, control.last_claim(5), Claim { inc: 2, participant: dead }).expect("nobody else");
        control.claim(6, control.last_claim(6), Claim { inc: u16::MAX, participant: dead }).expect("nobody else");
        assert_eq!(claim(&region, &control).expect("a slot of the dead"), NodeId::new(5, 3));
        assert!(is_full(), "an incarnation is never used twice");
    }

    #[test]
    fn more_slots_than_a_group_may_have_are_refused() {
        for slots in [0, MAX_SLOTS + 1] {
            let refused = Config::default().slots(slots).check().expect_err("not a number of slots");
            assert_eq!(refused.to_string(), format!("a group of {slots} slots, expected 1 to 1023"));
        }
    }
}
