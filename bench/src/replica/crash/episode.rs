//! One group, from its making until all that its clients saw is read.

use std::path::Path;
use std::time::{Duration, Instant};

use corecast_race::failure::Failure;
use corecast_race::options::Options;

use super::child::{News, Node, Roles};
use super::event::{self, Event, Places};
use super::history::now_ns;
use super::judge::{self, Histories};
use super::plan::NodePlan;
use super::report::{CrashEpisode, CrashOptions};

/// The time during which nodes are killed.
const LENGTH: Duration = Duration::from_secs(6);
/// A group that answers nothing for this long is stuck.
const STUCK: Duration = Duration::from_secs(10);
/// How long the parent waits for an answer about roles.
const ASKING: Duration = Duration::from_millis(250);
/// How long it waits for the clients to finish.
const FINISHING: Duration = Duration::from_secs(20);
/// How a client says that its node was put out as too slow, and that the last member died then.
const GONE: &str = "all members of the group are gone";
/// The longest time from the death of the last member until another node says that it was that.
const JUST_NOW: Duration = Duration::from_secs(2);
/// The longest pause between two events.
const PAUSE_MS: u64 = 160;

/// An event that has happened: its number, and when.
pub(super) type Happened = (usize, u64);

/// The outcome of an episode.
pub(super) struct Outcome {
    pub(super) counts: CrashEpisode,
    pub(super) happened: Vec<Happened>,
    pub(super) histories: Histories,
    /// When all processes were dead, in order.
    pub(super) deaths_of_all: Vec<u64>,
    /// The fault of the group as a whole.
    pub(super) faults: Vec<String>,
    /// Things that may happen, for those who look for the cause of a fault.
    pub(super) remarks: Vec<String>,
}

/// Whether a node lives as long as the parent lets it, and can give its state to others.
fn is_able(node: &Node) -> bool {
    node.is_at_work() && !node.is_armed && !node.is_cramped
}

/// A group while its nodes are killed.
struct Episode<'a> {
    wanted: &'a CrashOptions,
    plan: NodePlan,
    random: fastrand::Rng,
    /// The number of nodes that there should be.
    size: usize,
    nodes: Vec<Node>,
    counts: CrashEpisode,
    happened: Vec<Happened>,
    deaths_of_all: Vec<u64>,
    faults: Vec<String>,
    remarks: Vec<String>,
    /// The size of all histories, and when it last grew.
    written: (u64, Instant),
    /// True once a node says that no member is left.
    is_gone: bool,
    /// When a node last killed itself.
    own_death: Option<Instant>,
}

/// Runs an episode in an empty folder.
pub(super) fn run(
    options: &Options,
    wanted: &CrashOptions,
    seed: u64,
    most: Option<u64>,
    folder: &Path,
) -> Result<Outcome, Failure> {
    let mut random = fastrand::Rng::with_seed(seed);
    let size = random.usize(3..=5);
    let plan = NodePlan {
        folder: folder.to_owned(),
        number: 0,
        founds: true,
        seed,
        clients: random.u64(1..=2),
        window: 256 << (2 * random.u64(..3)),
        is_fused: random.bool(),
        snapshot_every: if wanted.has_files { 4096 << random.u32(..8) } else { 0 },
        room_bytes: 0,
        founders: if wanted.is_by_messages { size as u64 } else { 0 },
        began_ns: now_ns(),
    };
    let mut episode = Episode::start(wanted, plan, size, random)?;
    episode.rage(options, most)?;
    if episode.faults.is_empty() && !episode.is_gone {
        episode.end()?;
    }
    episode.judge_end_of_group();
    let Episode { counts, happened, deaths_of_all, faults, remarks, nodes, .. } = episode;
    // Nobody may write any more.
    drop(nodes);
    Ok(Outcome { counts, happened, histories: judge::read(folder)?, deaths_of_all, faults, remarks })
}

impl<'a> Episode<'a> {
    /// Starts the first node.
    fn start(wanted: &'a CrashOptions, plan: NodePlan, size: usize, random: fastrand::Rng) -> Result<Self, Failure> {
        let first = Node::start(wanted, &plan, None)?;
        Ok(Self {
            wanted,
            plan: NodePlan { founds: false, ..plan },
            size,
            random,
            nodes: vec![first],
            counts: CrashEpisode::default(),
            happened: Vec::new(),
            deaths_of_all: Vec::new(),
            faults: Vec::new(),
            remarks: Vec::new(),
            written: (0, Instant::now()),
            is_gone: false,
            own_death: None,
        })
    }

    /// Kills and stops nodes until the time is up, or something is wrong.
    fn rage(&mut self, options: &Options, most: Option<u64>) -> Result<(), Failure> {
        let end = Instant::now() + LENGTH;
        let mut next = Instant::now() + Duration::from_millis(300);
        while Instant::now() < end && self.faults.is_empty() && !self.is_gone {
            options.go_on().map_err(|_| Failure::Aborted)?;
            if most.is_some_and(|most| self.counts.kills + self.counts.stops >= most) {
                return Ok(());
            }
            self.look_around()?;
            if Instant::now() >= next {
                if self.plan.has_files() && event::draws_all(&mut self.random) {
                    self.begin_anew()?;
                } else {
                    self.strike()?;
                }
                next = Instant::now() + Duration::from_millis(self.random.u64(1..PAUSE_MS));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Hears news, continues stopped nodes, starts new ones for those that are gone, and sees whether the group moves.
    fn look_around(&mut self) -> Result<(), Failure> {
        let now = Instant::now();
        for node in &mut self.nodes {
            while let Some(news) = node.hear() {
                self.remarks.push(format!("{} slot {:?}: {news:?}\n", now_ns(), node.slot));
                match news {
                    News::NotJoined(why) if node.founds => self.faults.push(format!("no group can be made: {why}\n")),
                    News::NotJoined(_) => self.counts.not_joined += 1,
                    News::Ended(why) if why.contains(GONE) => self.is_gone = true,
                    News::Ended(why) if why.contains("expired") => self.counts.expired += 1,
                    News::Ended(why) if why.contains("no longer a member") => self.counts.put_out += 1,
                    News::Ended(why) => self.faults.push(format!("a client ended: {why}\n")),
                }
                // It is of no use any more.
                node.kill()?;
            }
            if node.stopped_until.is_some_and(|until| until <= now) {
                node.go_on();
            }
            // Over messages a process dies at places of its way into the group only.
            node.is_armed &= !self.wanted.is_by_messages || node.slot.is_none();
        }
        self.bury();
        self.go_on_from_files()?;
        self.start_nodes()?;
        self.see_progress(now)
    }

    /// Makes a group with files anew if all of its members are gone.
    fn go_on_from_files(&mut self) -> Result<(), Failure> {
        let may_join = |node: &Node| node.founds || node.slot.is_some();
        let is_over = self.is_gone || !self.nodes.iter().any(may_join);
        if self.plan.has_files() && is_over && self.faults.is_empty() { self.begin_anew() } else { Ok(()) }
    }

    /// Kills all nodes, and starts one that makes the group anew from its files.
    fn begin_anew(&mut self) -> Result<(), Failure> {
        self.bury();
        self.happened.push((Event::ALL_KILLED, now_ns()));
        self.remarks.push(format!("{} all are killed\n", now_ns()));
        for node in &mut self.nodes {
            node.is_armed = false;
            node.kill()?;
            self.counts.kills += 1;
        }
        let until = Instant::now() + STUCK;
        if !self.nodes.iter_mut().all(|node| node.ends_by(until)) {
            return Err(Failure::Refused("a process goes on after SIGKILL".to_owned()));
        }
        self.nodes.clear();
        self.is_gone = false;
        self.counts.restarts += 1;
        self.deaths_of_all.push(now_ns());
        self.start_node(true)
    }

    /// Starts nodes for those that are gone, once there is a group.
    fn start_nodes(&mut self) -> Result<(), Failure> {
        let has_group = self.nodes.iter().any(|node| node.slot.is_some()) || !self.nodes.iter().any(|node| node.founds);
        while has_group && self.nodes.len() < self.size {
            self.start_node(false)?;
        }
        Ok(())
    }

    fn start_node(&mut self, founds: bool) -> Result<(), Failure> {
        self.plan.number += 1;
        let (is_by_messages, has_files) = (self.wanted.is_by_messages, self.plan.has_files());
        let place = event::draw_place(&mut self.random, Places { is_by_messages, has_files });
        let room_bytes = event::draw_room(&mut self.random) * u64::from(!is_by_messages && !has_files);
        let plan = NodePlan { founds, ..self.plan.cramped(room_bytes) };
        self.nodes.push(Node::start(self.wanted, &plan, place)?);
        self.counts.cramped += u64::from(room_bytes > 0);
        self.counts.respawns += u64::from(self.plan.number >= self.size as u64);
        Ok(())
    }

    /// A group may go if its last member kills itself while the one that the parent spares is put out as too slow, and not else.
    fn judge_end_of_group(&mut self) {
        if !self.is_gone || self.plan.has_files() {
            return;
        }
        self.bury();
        self.counts.gone += 1;
        if self.own_death.is_none_or(|death| death.elapsed() > JUST_NOW) {
            self.faults.push("all members are gone, and none has killed itself just now\n".to_owned());
        }
    }

    /// Takes nodes out that have ended.
    fn bury(&mut self) {
        let (counts, remarks, own_death) = (&mut self.counts, &mut self.remarks, &mut self.own_death);
        self.nodes.retain_mut(|node| {
            let has_ended = node.has_ended();
            if has_ended && node.is_armed {
                counts.crash_points += 1;
                *own_death = node.slot.map(|_| Instant::now()).or(*own_death);
                remarks.push(format!("{} slot {:?} ended at {:?}\n", now_ns(), node.slot, node.place));
            }
            !has_ended
        });
    }

    /// Complains if no history has grown for long.
    fn see_progress(&mut self, now: Instant) -> Result<(), Failure> {
        let files = std::fs::read_dir(&self.plan.folder).map_err(Failure::while_doing("list the histories"))?;
        let written = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum();
        if written != self.written.0 {
            self.written = (written, now);
        } else if now.duration_since(self.written.1) > STUCK {
            self.stuck("nobody is answered");
        }
        Ok(())
    }

    /// Does something to some nodes. One that runs and is a member survives in any case.
    fn strike(&mut self) -> Result<(), Failure> {
        let mut event = Event::draw(&mut self.random);
        if self.wanted.is_by_messages {
            event = event.of_one();
            if self.nodes.len() < self.size || !self.nodes.iter().all(Node::is_at_work) {
                return Ok(());
            }
        }
        let Some((survivor, roles)) = self.survivor() else { return Ok(()) };
        let others: Vec<usize> = (0..self.nodes.len()).filter(|&at| at != survivor).collect();
        let slots: Vec<u16> = others.iter().filter_map(|&at| self.nodes[at].slot).collect();
        if slots.is_empty() {
            return Ok(());
        }
        let any = slots[self.random.usize(..slots.len())];
        let hits = |&at: &usize| self.nodes[at].slot.is_some_and(|slot| event.hits(slot, &roles, any));
        let victims: Vec<usize> = others.into_iter().filter(hits).collect();
        if victims.is_empty() {
            return Ok(());
        }
        self.happened.push((event.number(), now_ns()));
        let hit = victims.iter().map(|&at| self.nodes[at].slot);
        let remark = format!("{} {event:?} of {roles:?}, {:?}\n", now_ns(), Vec::from_iter(hit));
        self.remarks.push(remark);
        let now = Instant::now();
        for &at in &victims {
            match event.stop {
                Some(stop) => {
                    self.nodes[at].stop(now + stop);
                    self.counts.stops += 1;
                }
                None => {
                    self.nodes[at].is_armed = false;
                    self.nodes[at].kill()?;
                    self.counts.kills += 1;
                }
            }
        }
        Ok(())
    }

    /// A node that is a member, lives as long as the parent lets it, and can give its state to others. With it come the roles as
    /// it knows them.
    fn survivor(&mut self) -> Option<(usize, Roles)> {
        let able: Vec<usize> = (0..self.nodes.len()).filter(|&at| is_able(&self.nodes[at])).collect();
        let at = *able.get(self.random.usize(..able.len().max(1)))?;
        let roles = self.nodes[at].roles(ASKING)?;
        roles.is_member.then_some((at, roles))
    }

    /// Lets all nodes join and finish, and has each of them read everything. A group with files is made anew in between: it has
    /// all that was answered.
    fn end(&mut self) -> Result<(), Failure> {
        self.nodes.iter_mut().filter(|node| node.stopped_until.is_some()).for_each(Node::go_on);
        // Those that are about to join or to die may do so.
        if !self.await_all()? {
            return Ok(());
        }
        self.all("finish", "finished", FINISHING);
        if self.plan.has_files() && self.faults.is_empty() {
            self.plan.clients = 0;
            self.begin_anew()?;
            if !self.await_all()? {
                return Ok(());
            }
        }
        let processes = self.plan.number + 1;
        self.all(&format!("read {processes}"), "read", FINISHING);
        self.compare_replicas();
        Ok(())
    }

    /// True once all nodes have joined; false if the group is gone or something is wrong.
    fn await_all(&mut self) -> Result<bool, Failure> {
        let until = Instant::now() + STUCK * 2;
        while self.nodes.len() < self.size || self.nodes.iter().any(|node| node.slot.is_none()) {
            // Nobody writes any more if there are no clients.
            self.written.1 = if self.plan.clients == 0 { Instant::now() } else { self.written.1 };
            self.look_around()?;
            if self.is_gone || !self.faults.is_empty() {
                return Ok(false);
            }
            if Instant::now() > until {
                self.stuck("a node does not join");
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(true)
    }

    /// Gives all nodes an order, and waits for their answers.
    fn all(&mut self, order: &str, answer: &str, patience: Duration) {
        if !self.faults.is_empty() {
            return;
        }
        for node in &mut self.nodes {
            // One that is gone gives no answer.
            let _ = node.order(order);
        }
        let until = Instant::now() + patience;
        let mut mute = 0;
        for node in &mut self.nodes {
            match node.answer(answer, until) {
                Some(line) if line.starts_with("un") => self.faults.push(format!("{order}: {line}\n")),
                Some(_) => {}
                None => mute += usize::from(!node.ends_by(until)),
            }
        }
        if mute > 0 {
            self.stuck(&format!("{mute} nodes do not answer: {order}"));
        }
    }

    /// All replicas show the same digest at a cut.
    fn compare_replicas(&mut self) {
        let Some(node) = self.nodes.iter_mut().find(|node| is_able(node)) else { return };
        if !self.faults.is_empty() || !node.order("cut") {
            return;
        }
        match node.answer("cut", Instant::now() + FINISHING) {
            Some(line) if line.starts_with("cut ") && line.ends_with(" 0") => {}
            Some(line) if line.starts_with("cut ") => {
                self.counts.diverged += 1;
                self.faults.push(format!("replicas differ: {line}\n"));
            }
            other => self.stuck(&format!("no cut: {other:?}")),
        }
    }

    /// Notes that the group is stuck, with all that its nodes say of themselves.
    fn stuck(&mut self, how: &str) {
        self.counts.stuck += 1;
        let mut text = format!("the group is stuck: {how}; {:?}\n", self.plan);
        for node in &mut self.nodes {
            let asked = node.stopped_until.is_none() && node.order("status");
            let status = if asked { node.answer("status", Instant::now() + ASKING) } else { None };
            let (slot, armed, age) = (node.slot, node.is_armed, node.started.elapsed());
            text += &format!("slot {slot:?}, armed {armed}, started {age:?} ago: {}\n", status.unwrap_or_default());
        }
        self.faults.push(text);
    }
}
