//! Nodes whose process was killed, and others that take their place.

use corecast_replica::net::{Node, Spread};
use corecast_replica::{Level, NodeId};
use corecast_testing::actor::{Actor, say, wait_for_dismissal};
use fastrand::Rng;
use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};

use crate::counter::Counter;
use crate::{CALM, Crew, PATIENCE, spreads};

impl Crew {
    /// Starts a process in the place of a dead one. With a word it dies at that place, or does what that says.
    fn start_again(&mut self, slot: usize, word: &str) {
        let role = format!("{slot} {} {word}", self.patience.as_millis()).trim_end().to_owned();
        self.actors[slot] = Actor::start("play", &role, &self.folder.path().display().to_string());
    }

    /// Kills the process of a slot, writes, and has another one join there.
    #[track_caller]
    fn replace(&mut self, slot: usize) {
        self.actors[slot].signal(Signal::KILL);
        self.add(20);
        wait_until_dead(&self.actors[slot]);
        self.start_again(slot, "");
        assert_eq!(self.actors[slot].hear(), "joined");
        self.add(20);
    }

    /// The incarnation of a slot that is a member.
    fn member(&self, slot: usize) -> Option<NodeId> {
        self.node.status().members.into_iter().find(|node| usize::from(node.slot) == slot)
    }
}

/// Waits until all threads of a process are gone: before that its place may still be taken.
pub(crate) fn wait_until_dead(actor: &Actor) {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(actor.pid()), how).expect("it is our child and was not waited for");
}

/// Waits until the node was put out and has come back by itself, and goes on with the session that it had before.
pub(crate) fn come_back(node: &Node<Counter>) {
    let mut session = node.session().expect("a member");
    say("ready");
    let until = std::time::Instant::now() + PATIENCE;
    while !(node.id().inc > 1 && node.status().is_member) {
        let status = node.status();
        assert!(std::time::Instant::now() < until && status.ended.is_none(), "{status:?}");
        std::thread::yield_now();
    }
    say("came back");
    session.execute_timeout(&0, PATIENCE).unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
    say("done");
    wait_for_dismissal();
}

/// Leader, acceptor, and any of three or five, one after another; each has a process in its place before the next.
#[test]
fn killed_nodes_come_back_and_are_killed_again() {
    let seed = 0x5EED_000B;
    for (count, spread) in [3, 5].into_iter().flat_map(|count| spreads(count).into_iter().map(move |how| (count, how)))
    {
        let mut rng = Rng::with_seed(seed);
        let mut crew = Crew::start_patient(count, spread.clone(), CALM);
        crew.add(20);
        for round in 0..8 {
            let status = crew.node.status();
            let victims = [status.leader.slot, status.acceptor.slot, rng.u16(..count as u16 - 1)];
            let slot = usize::from(victims[round % 3]);
            if slot == count - 1 {
                // This process has the role.
                continue;
            }
            let before = crew.member(slot).expect("it joined");
            crew.replace(slot);
            let now = crew.member(slot).expect("it joined");
            assert!(now.inc > before.inc, "seed {seed:#x}, {spread:?}: {now} after {before}");
            crew.add_until(|node| {
                let status = node.status();
                status.voters.len() == count && status.voters.iter().all(|voter| status.members.contains(voter))
            });
        }
        assert_eq!(crew.node.status().members.len(), count, "{spread:?}");
    }
}

#[test]
fn a_process_that_dies_while_it_joins_leaves_its_place_free() {
    let mut crew = Crew::start_patient(4, Spread::Sequential, CALM);
    crew.add(20);
    crew.actors[2].signal(Signal::KILL);
    wait_until_dead(&crew.actors[2]);
    for label in ["net-claimed", "net-announced", "net-taken"] {
        crew.start_again(2, label);
        wait_until_dead(&crew.actors[2]);
        crew.add(20);
    }
    crew.start_again(2, "");
    assert_eq!(crew.actors[2].hear(), "joined");
    crew.add(20);
    assert_eq!(crew.member(2), Some(NodeId::new(2, 5)), "one for each attempt");
}

#[test]
fn a_member_that_dies_while_it_gives_its_state_is_passed_over() {
    // The first node, the leader, is asked first.
    let word = |slot| if slot == 0 { "net-part-given" } else { "" };
    let mut crew = Crew::start_with(5, Spread::Sequential, CALM, word);
    crew.add(20);
    crew.replace(3);
    crew.add_until(|node| node.status().leader.slot != 0);
    assert_eq!(crew.member(3), Some(NodeId::new(3, 2)));
    assert_eq!(crew.member(0), None);
}

#[test]
fn a_node_that_the_log_did_not_wait_for_comes_back_by_itself() {
    let word = |slot| if slot == 2 { "returns" } else { "" };
    for spread in spreads(4) {
        let mut crew = Crew::start_with(4, spread, CALM / 10, word);
        assert_eq!(crew.actors[2].hear(), "ready");
        crew.add(10);
        crew.actors[2].stop();
        // The log has 256 places.
        crew.add_until(|node| node.status().members.len() == 3);
        crew.actors[2].signal(Signal::CONT);
        // Its session may have come in meanwhile.
        crew.write(20);
        assert_eq!([(); 2].map(|()| crew.actors[2].hear()), ["came back", "done"]);
        crew.session.execute_timeout(&1, PATIENCE).unwrap_or_else(|error| panic!("{error}: {:?}", crew.node.status()));
        let read = crew.node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
        assert_eq!(read.0, (crew.sum + 1, crew.sum + 2), "its session has added nothing once");
        assert_eq!(crew.node.status().members.len(), 4);
    }
}
