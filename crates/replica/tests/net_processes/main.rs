//! Groups over messages whose nodes are processes: what happens to the others when some are killed or stopped.
//!
//! A test starts this very program several times as a node; the process of the test is a node too, and never dies.
#![cfg(not(loom))]

#[path = "../nodes/counter.rs"]
mod counter;
mod files;
mod returning;

use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use corecast_base::rendezvous::SocketDir;
use corecast_replica::net::{Config, Group, Node, Session, Spread};
use corecast_replica::wal::Fsync;
use corecast_replica::{ExecuteError, Level};
use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
use rustix::process::Signal;

use crate::counter::Counter;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough that no node is held for stuck on a busy machine.
const CALM: Duration = Duration::from_secs(1);
/// The word of a node that keeps files.
const FILES: &str = "files";
/// The name of each group, which has a folder to itself.
const NAME: &str = "count";

fn spreads(nodes: usize) -> Vec<Spread> {
    // A chain from the first acceptor on, with the leader at its side: every other node relays.
    let parent = |node: usize| match node {
        1 => None,
        0 => Some(1),
        other => Some(other - 1),
    };
    vec![Spread::Sequential, Spread::Tree((0..nodes).map(parent).collect()), Spread::Ring]
}

fn sockets(folder: &str) -> SocketDir {
    SocketDir::at(format!("{folder}/names"))
}

/// A group of which this process is the last node, and processes are the others.
struct Crew {
    actors: Vec<Actor>,
    node: Node<Counter>,
    session: Session<Counter>,
    sum: u64,
    /// Kept for the name.
    _group: Group<Counter>,
    folder: tempfile::TempDir,
    patience: Duration,
}

impl Crew {
    fn start(nodes: usize, spread: Spread) -> Self {
        Self::start_patient(nodes, spread, Duration::from_millis(2))
    }

    /// A crew in which a node counts as stuck after this time.
    fn start_patient(nodes: usize, spread: Spread, patience: Duration) -> Self {
        Self::start_with(nodes, spread, patience, |_| "")
    }

    /// The same with a word for each process, by slot.
    fn start_with(nodes: usize, spread: Spread, patience: Duration, word: impl Fn(usize) -> &'static str) -> Self {
        Self::start_in(tempfile::tempdir().expect("a temporary folder"), nodes, spread, patience, word)
    }

    /// The same in a folder.
    fn start_in(
        folder: tempfile::TempDir,
        nodes: usize,
        spread: Spread,
        patience: Duration,
        word: impl Fn(usize) -> &'static str,
    ) -> Self {
        let place = folder.path().display().to_string();
        let config = with_files(Config::new(nodes).window(256).spread(spread).patience(patience), &place, word(0));
        let group = Group::create_named(&config, &sockets(&place), NAME).expect("the name is free");
        let role = |slot| format!("{slot} {} {}", patience.as_millis(), word(slot)).trim_end().to_owned();
        let mut actors: Vec<_> = (0..nodes - 1).map(|slot| Actor::start("play", &role(slot), &place)).collect();
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "joined"));
        let node = group.join(nodes - 1, Counter::default()).expect("it is free");
        let session = node.session().expect("leader and acceptor are there");
        Self { actors, node, session, sum: 0, patience, _group: group, folder }
    }

    /// Adds one `count` times. Each answer shows all that were answered before, and no addition twice.
    #[track_caller]
    fn add(&mut self, count: u64) {
        self.write(count);
        let read = self.node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
        assert_eq!(read.0, (self.sum, self.sum));
    }

    /// The same where others may write as well.
    #[track_caller]
    fn write(&mut self, count: u64) {
        for _ in 0..count {
            self.sum += 1;
            let done = self.session.execute_timeout(&1, PATIENCE);
            let (sum, _) = done.unwrap_or_else(|error| panic!("{error}: {:?}", self.node.status()));
            assert_eq!(sum, self.sum, "nothing was lost, and nothing done twice");
        }
    }

    /// Writes until it is so.
    #[track_caller]
    fn add_until(&mut self, is_so: impl Fn(&Node<Counter>) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(&self.node) {
            assert!(Instant::now() < until, "{:?}", self.node.status());
            self.add(1);
        }
    }
}

/// A configuration that keeps files, if the word says so.
fn with_files(config: Config, place: &str, word: &str) -> Config {
    if word == FILES { config.durable(format!("{place}/files"), Fsync::Always) } else { config }
}

/// Not a test: the program's work when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    std::thread::spawn(|| {
        // A test fails rather than lasts.
        std::thread::sleep(PATIENCE * 2);
        std::process::exit(9);
    });
    let words = Vec::from_iter(role.name.split(' '));
    let (slot, patience) = (words[0].parse().expect("a slot"), words[1].parse().expect("milliseconds"));
    if let Some(label) = words.get(2) {
        die_at(label);
    }
    let config = Config::new(1).patience(Duration::from_millis(patience)).joining(PATIENCE);
    let config = with_files(config, &role.place, words.get(2).copied().unwrap_or_default());
    let group = Group::attach(&config, &sockets(&role.place), NAME).expect("the group has this name");
    let node = group.join(slot, Counter::default()).expect("it is free");
    say("joined");
    if role.name.ends_with("returns") {
        returning::come_back(&node);
    } else {
        wait_for_dismissal();
    }
}

/// Starts this program once more, as a process that dies at this place. The same process, so that the test can wait for it.
fn die_at(label: &str) {
    const VARIABLE: &str = "CORECAST_CRASH_AT";
    if label.starts_with("net-") && std::env::var_os(VARIABLE).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().expect("a program has a path"));
        let failed = again.args(std::env::args_os().skip(1)).env(VARIABLE, label).exec();
        panic!("{failed}");
    }
}

#[test]
fn killed_leaders_and_acceptors_lose_nothing() {
    for count in [3, 5] {
        for spread in spreads(count) {
            for is_leader in [true, false] {
                let mut crew = Crew::start_patient(count, spread.clone(), CALM);
                crew.add(50);
                // Where CPUs are few, a node may have been held for stuck, and another have its role.
                let status = crew.node.status();
                let victim = if is_leader { status.leader } else { status.acceptor };
                if usize::from(victim.slot) == count - 1 {
                    continue;
                }
                crew.actors[usize::from(victim.slot)].signal(Signal::KILL);
                crew.add(50);
                crew.add_until(|node| !node.status().members.contains(&victim));
                crew.add(50);
            }
        }
    }
}

#[test]
fn one_role_after_the_other_of_five() {
    let mut crew = Crew::start_patient(5, Spread::Sequential, CALM);
    for is_leader in [true, false] {
        crew.add(50);
        let status = crew.node.status();
        let victim = if is_leader { status.leader } else { status.acceptor };
        let Some(actor) = crew.actors.get(usize::from(victim.slot)) else { continue };
        actor.signal(Signal::KILL);
        crew.add_until(|node| !node.status().members.contains(&victim));
    }
    crew.add(50);
}

#[test]
fn a_node_that_stands_still_never_stops_writers() {
    for spread in spreads(4) {
        let mut crew = Crew::start(4, spread);
        crew.add(10);
        // A learner; in the tree, the relay before this process.
        crew.actors[2].stop();
        // The log has 256 places.
        crew.add(1500);
        assert_eq!(crew.node.status().members.len(), 3, "the log did not wait for it");
        crew.actors[2].signal(Signal::CONT);
        crew.add(50);
    }
}

#[test]
fn a_stopped_leader_is_replaced_and_follows() {
    for spread in spreads(3) {
        let mut crew = Crew::start(3, spread);
        crew.add(10);
        let leader = crew.node.status().leader;
        let Some(actor) = crew.actors.get(usize::from(leader.slot)) else { continue };
        actor.stop();
        crew.add(20);
        assert_ne!(crew.node.status().leader, leader);
        crew.actors[usize::from(leader.slot)].signal(Signal::CONT);
        crew.add(50);
    }
}

/// Leader and acceptor stand still. The acceptor dies before it has answered the next leader; the former one goes on.
#[test]
fn a_deposed_leader_stands_in_for_a_dead_acceptor() {
    for spread in spreads(5) {
        let mut crew = Crew::start_patient(5, spread, CALM / 5);
        crew.add(10);
        let before = crew.node.status();
        let [leader, acceptor] = [before.leader, before.acceptor].map(|node| usize::from(node.slot));
        if leader == acceptor || leader.max(acceptor) >= crew.actors.len() {
            continue;
        }
        [acceptor, leader].into_iter().for_each(|slot| crew.actors[slot].stop());
        // There is something to do, so that they are missed.
        let rid = crew.session.start(&1).expect("there is room");
        crew.sum += 1;
        let until = Instant::now() + PATIENCE;
        while crew.node.status().leader == before.leader {
            assert!(Instant::now() < until, "{:?}", crew.node.status());
            std::thread::yield_now();
        }
        crew.actors[acceptor].signal(Signal::KILL);
        crew.actors[leader].signal(Signal::CONT);
        let (sum, _) = crew.session.wait_timeout(rid, PATIENCE).expect("the former leader tells what it had");
        assert_eq!(sum, crew.sum);
        crew.add(20);
    }
}

#[test]
fn with_both_roles_killed_the_result_stays_unknown() {
    // No node is held for stuck, so that the first two keep their roles however busy the machine is.
    let mut crew = Crew::start_patient(5, Spread::Sequential, PATIENCE);
    crew.add(10);
    crew.actors[..2].iter().for_each(|actor| actor.signal(Signal::KILL));
    let error = crew.session.execute_timeout(&1, Duration::from_millis(300)).expect_err("nobody can do it");
    assert!(matches!(error, ExecuteError::Unknown { .. }), "{error}");
    assert_eq!(crew.node.read(Level::Local, &()).expect("never waits").0, (10, 10));
}

#[test]
fn without_a_majority_it_says_so() {
    for _ in 0..20 {
        let mut crew = Crew::start(3, Spread::Ring);
        crew.add(10);
        crew.actors.iter().for_each(|actor| actor.signal(Signal::KILL));
        // It may have been quick enough to have the roles of the first before the second was dead.
        if let Err(error) = crew.session.execute(&1) {
            return assert_eq!(error, ExecuteError::NoMajority);
        }
    }
    panic!("the last node was quicker twenty times");
}
