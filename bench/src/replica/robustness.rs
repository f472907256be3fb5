//! Stratum 1: writers go on when a replica idles, is stopped or dies, and nothing that was acknowledged is lost.
//!
//! The writer is a node of this process; the others are processes, so that they can be killed and stopped. Before each event
//! a writer that has got a role leaves and comes back: the roles are then with processes. A pause runs from the signal, or from
//! the moment at which a stopped process stands still, until a write that began after it is acknowledged. Right before that write
//! the writer's node is read as it is. A stop is judged by the patience of the nodes that have to notice it, which they tell
//! right before.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::wait::Wait;
use corecast::replica::kv::Compact;
use corecast::replica::{Node, NodeId, Replicated, Status};
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};

use super::crew::Program;
use super::host::Setting;
use super::member::{AskPatience, Assignment};
use super::ours::{LOG_COMMANDS, config_of_robustness};
use super::report::RobustRow;
use super::robust_writer::{Writer, as_ms};
use super::series::Series;
use super::standstill;
use crate::stats::{Samples, median};
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// The bytes of a log.
const LOG_BYTES: u64 = LOG_COMMANDS * 64;
/// How long the group may take until it is whole again.
const WHOLE: Duration = Duration::from_secs(10);

/// The run of stratum 1.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) abort: Arc<Abort>,
    pub(super) wait: Wait,
    pub(super) cpus: usize,
    pub(super) replicas: usize,
    pub(super) seed: u64,
}

/// An event that happens to the node that has a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    LeaderKilled,
    AcceptorKilled,
    BothKilled,
    LeaderStopped,
    AcceptorStopped,
    BothStopped,
}

impl Event {
    pub(super) const ALL: [Self; 6] = [
        Self::LeaderKilled,
        Self::AcceptorKilled,
        Self::BothKilled,
        Self::LeaderStopped,
        Self::AcceptorStopped,
        Self::BothStopped,
    ];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::LeaderKilled => "leader killed",
            Self::AcceptorKilled => "acceptor killed",
            Self::BothKilled => "both killed",
            Self::LeaderStopped => "leader stopped",
            Self::AcceptorStopped => "acceptor stopped",
            Self::BothStopped => "both stopped",
        }
    }

    pub(super) fn is_stop(self) -> bool {
        matches!(self, Self::LeaderStopped | Self::AcceptorStopped | Self::BothStopped)
    }

    /// The nodes to which it happens: one, if that has both roles.
    fn targets(self, status: &Status) -> Vec<NodeId> {
        let mut targets = match self {
            Self::LeaderKilled | Self::LeaderStopped => vec![status.leader],
            Self::AcceptorKilled | Self::AcceptorStopped => vec![status.acceptor],
            Self::BothKilled | Self::BothStopped => vec![status.leader, status.acceptor],
        };
        targets.dedup();
        targets
    }

    /// Lets it happen to a process. Returns when the process does nothing any more.
    fn happen(self, pid: Pid) -> Result<(), Failure> {
        if self.is_stop() {
            return standstill::stop(pid);
        }
        // It has not been waited for, so the number is still its own.
        kill_process(pid, Signal::KILL).map_err(Failure::refused)
    }
}

/// The shortest time without a sign of life after which a node counts as stuck: 2 ms, and where nodes share CPUs 12 ms for each
/// node on a CPU, as the runtime has it.
pub(super) fn suspicion(nodes: usize, cpus: usize) -> Duration {
    let crowd = nodes.div_ceil(cpus.max(1)) as u32;
    if crowd > 1 { Duration::from_millis(12) * crowd } else { Duration::from_millis(2) }
}

/// A group whose nodes are processes, but for the writer.
struct Cast<'a> {
    run: &'a Run<'a>,
    series: &'static Series,
    /// Leaves first: a group whose other members have been killed would wait for them.
    writer: Writer,
    /// By slot; `None` for the writer's, and slots that are free.
    children: Vec<Option<Child>>,
    fd: OwnedFd,
}

impl<'a> Cast<'a> {
    fn start(run: &'a Run<'a>, series: &'static Series) -> Result<Self, Failure> {
        let (name, wait) = (series.name.to_owned(), run.wait.name().to_owned());
        let assignment = Assignment::Found { series: name, members: run.replicas, wait };
        let (program, arguments) = run.program;
        let mut first = Child::start("a replica".to_owned(), (program, arguments), &assignment, &[], &run.abort)?;
        let (slot, fds): (u16, _) = first.await_handed()?;
        let fd = fds.into_iter().next().ok_or_else(|| Failure::Refused("no descriptor of a group came".to_owned()))?;
        let writer = Writer::new(attach(run, series, &fd)?);
        let mut cast = Self { run, series, children: Vec::new(), writer, fd };
        cast.place(slot, first);
        for _ in 2..run.replicas {
            cast.add()?;
        }
        Ok(cast)
    }

    fn place(&mut self, slot: u16, child: Child) {
        let slot = usize::from(slot);
        if self.children.len() <= slot {
            self.children.resize_with(slot + 1, || None);
        }
        self.children[slot] = Some(child);
    }

    /// One more process.
    fn add(&mut self) -> Result<(), Failure> {
        let (name, wait) = (self.series.name.to_owned(), self.run.wait.name().to_owned());
        let assignment = Assignment::Replicate { series: name, members: self.run.replicas, wait };
        let fd = self.fd.try_clone().map_err(Failure::while_doing("share a group"))?;
        let (program, arguments) = self.run.program;
        let mut child =
            Child::start("a replica".to_owned(), (program, arguments), &assignment, &[fd], &self.run.abort)?;
        let slot: u16 = child.await_told()?;
        self.place(slot, child);
        Ok(())
    }

    /// Gives the roles to processes: a writer that has one leaves and comes back. Those of a node that has left come to others
    /// while there is something to write.
    fn hand_over(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + WHOLE;
        while Instant::now() < until {
            let status = self.writer.node.status();
            let roles = [status.leader, status.acceptor];
            if roles.iter().all(|role| self.child(role.slot).is_some()) {
                return Ok(());
            }
            if !roles.contains(&status.me) {
                let mut session = self.writer.session()?;
                self.writer.write(&mut session)?;
                continue;
            }
            let node = attach(self.run, self.series, &self.fd)?;
            let before = std::mem::replace(&mut self.writer.node, node);
            let failed = |error| Failure::Refused(format!("a writer with a role cannot leave: {error}"));
            before.leave().map_err(failed)?;
        }
        Err(Failure::Refused("the roles stay with the writer, or with a node that has left".to_owned()))
    }

    /// How long the nodes wait that have to notice a stop: the least of them, as the first of them acts. Only the leader watches
    /// its acceptor. `None` if none of the nodes here notices it.
    fn patience(&mut self, event: Event, status: &Status) -> Result<Option<Duration>, Failure> {
        let targets = event.targets(status);
        let notices = |slot: u16| match event {
            Event::AcceptorStopped if status.leader != status.acceptor => slot == status.leader.slot,
            _ => targets.iter().all(|target| target.slot != slot),
        };
        let mut least = notices(status.me.slot).then_some(status.patience);
        for (slot, child) in self.children.iter_mut().enumerate() {
            let Some(child) = child.as_mut().filter(|_| notices(slot as u16)) else { continue };
            child.tell(&AskPatience, &[])?;
            let told: Duration = child.await_told()?;
            least = Some(least.map_or(told, |least| least.min(told)));
        }
        Ok(least)
    }

    /// The process that has a slot.
    fn child(&self, slot: u16) -> Option<&Child> {
        self.children.get(usize::from(slot)).and_then(Option::as_ref)
    }

    /// Waits until the group has all its members.
    fn await_whole(&self) -> Result<(), Failure> {
        let until = Instant::now() + WHOLE;
        while self.writer.node.status().members.len() != self.run.replicas {
            self.run.abort.check()?;
            if Instant::now() > until {
                let members = self.writer.node.status().members.len();
                return Err(Failure::Refused(format!("{members} members are left of {}", self.run.replicas)));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// One event, at a moment that is drawn, and the pause after it.
    fn suffer(&mut self, event: Event, random: &mut Rng) -> Result<(), Failure> {
        let (mut session, victims, patience) = loop {
            self.run.abort.check()?;
            self.hand_over()?;
            let mut session = self.writer.session()?;
            let at = Instant::now() + Duration::from_micros(random.u64(2_000..8_000));
            while Instant::now() < at {
                self.writer.write(&mut session)?;
            }
            let status = self.writer.node.status();
            let patience = if event.is_stop() { self.patience(event, &status)? } else { None };
            if event.is_stop() && patience.is_none() {
                continue;
            }
            // Where CPUs are few, the writer may have got a role meanwhile.
            if let Some(victims) = self.victims(event, &status) {
                break (session, victims, patience);
            }
        };
        // A process that is killed ends after this, so the pause begins before; one that is stopped went on until it stood still.
        let before = Instant::now();
        victims.iter().try_for_each(|&(_, pid)| event.happen(pid))?;
        let begin = if event.is_stop() { Instant::now() } else { before };
        self.writer.read_locally()?;
        self.writer.write(&mut session)?;
        let pause = as_ms(begin.elapsed());
        self.writer.pauses.push(pause);
        self.writer.beyond.extend(patience.map(|patience| pause - as_ms(patience)));
        self.recover(&victims, event)
    }

    /// The slots and processes to which an event happens; `None` if one of the nodes is no process of its own.
    fn victims(&self, event: Event, status: &Status) -> Option<Vec<(usize, Pid)>> {
        let victim = |node: NodeId| {
            let pid = Pid::from_raw(self.child(node.slot)?.pid() as i32).expect("a process has a number");
            Some((usize::from(node.slot), pid))
        };
        event.targets(status).into_iter().map(victim).collect()
    }

    fn recover(&mut self, victims: &[(usize, Pid)], event: Event) -> Result<(), Failure> {
        if event.is_stop() {
            // They come back by themselves; one that was put out takes a state of another member.
            for &(_, pid) in victims {
                let _ = kill_process(pid, Signal::CONT);
            }
            return self.await_whole();
        }
        // All of them first: new processes take the slots of the dead.
        victims.iter().for_each(|&(slot, _)| self.children[slot] = None);
        victims.iter().try_for_each(|_| self.add())?;
        self.await_whole()
    }
}

fn attach(run: &Run<'_>, series: &Series, fd: &OwnedFd) -> Result<Node<Compact>, Failure> {
    let setting = Setting { members: run.replicas, clients: 1, cpus: Vec::new(), wait: run.wait };
    let fd = fd.try_clone().map_err(Failure::while_doing("share a group"))?;
    Replicated::attach_fd(&config_of_robustness(series, &setting), fd).map_err(Failure::refused)
}

/// The pauses of the writer when this happens `events` times.
pub(super) fn events(
    run: &Run<'_>,
    series: &'static Series,
    event: Event,
    events: usize,
) -> Result<RobustRow, Failure> {
    let mut cast = Cast::start(run, series)?;
    let mut random = Rng::with_seed(run.seed ^ event as u64);
    for _ in 0..events {
        run.abort.check()?;
        cast.suffer(event, &mut random)?;
    }
    let lost = cast.writer.lost()?;
    let [samples, beyond, local] =
        [&cast.writer.pauses, &cast.writer.beyond, &cast.writer.local].map(|times| Samples::of(times.iter().copied()));
    Ok(RobustRow {
        event: event.words(),
        replicas: run.replicas,
        events,
        asked: cast.writer.writes,
        writes: cast.writer.writes,
        lost,
        median_ms: median(samples.all()),
        p99_ms: samples.quantile(0.99),
        longest_ms: samples.most(),
        beyond_ms: beyond.quantile(0.99),
        local_ms: local.most(),
        local_p99_ms: local.quantile(0.99),
        ..of(run, series)
    })
}

/// The part that all rows of a series share.
pub(super) fn of(run: &Run<'_>, series: &Series) -> RobustRow {
    let suspicion = suspicion(run.replicas, run.cpus).as_secs_f64() * 1e3;
    RobustRow {
        contender: series.name.to_owned(),
        ours: true,
        replicas: run.replicas,
        suspicion_ms: Some(suspicion),
        ..RobustRow::default()
    }
}

/// This number of writes through a log of 2 MiB while a replica has no caller, or is stopped all the time.
pub(super) fn held_back(
    run: &Run<'_>,
    series: &'static Series,
    is_stopped: bool,
    writes: u64,
) -> Result<RobustRow, Failure> {
    let mut cast = Cast::start(run, series)?;
    cast.hand_over()?;
    let status = cast.writer.node.status();
    let has_role = |slot: usize| [status.leader, status.acceptor].iter().any(|role| usize::from(role.slot) == slot);
    let idle = (0..cast.children.len()).find(|&slot| cast.children[slot].is_some() && !has_role(slot));
    let idle = idle.and_then(|slot| cast.children[slot].as_ref());
    let idle = idle.ok_or_else(|| Failure::Refused("every process has a role".to_owned()))?;
    let pid = Pid::from_raw(idle.pid() as i32).expect("a process has a number");
    if is_stopped {
        kill_process(pid, Signal::STOP).map_err(Failure::refused)?;
    }
    let mut session = cast.writer.session()?;
    let written = (0..writes).try_for_each(|_| {
        run.abort.check()?;
        cast.writer.write(&mut session)
    });
    let _ = kill_process(pid, Signal::CONT);
    run.abort.check()?;
    let (done, longest) = (cast.writer.writes, cast.writer.longest);
    // A writer that got stuck is the finding, and no reason to have no row.
    let (lost, failed) = if written.is_ok() { (cast.writer.lost()?, false) } else { (0, true) };
    Ok(RobustRow {
        event: if is_stopped { "stopped" } else { "idle" },
        events: 1,
        asked: writes,
        writes: done,
        lost,
        longest_ms: Some(longest.as_secs_f64() * 1e3),
        bytes: LOG_BYTES,
        failed,
        ..of(run, series)
    })
}

/// The same of `node-replication`, of which one replica idles.
pub(super) fn node_replication(run: &Run<'_>, writes: u64) -> Result<RobustRow, Failure> {
    let (program, arguments) = run.program;
    let assignment = Assignment::Idle { writes };
    let mut child = Child::start("a rival".to_owned(), (program, arguments), &assignment, &[], &run.abort)?;
    let done: u64 = child.await_told()?;
    Ok(RobustRow {
        contender: "node-replication".to_owned(),
        event: "idle",
        replicas: 2,
        events: 1,
        asked: writes,
        writes: done,
        bytes: LOG_BYTES,
        ..RobustRow::default()
    })
}
