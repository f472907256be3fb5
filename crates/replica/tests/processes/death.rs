//! Nodes that are killed or stopped: no answered write is lost, and the others go on.

use std::time::Duration;

use corecast_base::region::Liveness;
use corecast_replica::kv::{Condition, Key, Op, Store, Value};
use corecast_replica::wal::Fsync;
use corecast_replica::{ExecuteError, Level, Node, NodeId, Placement, Replicated};
use corecast_testing::actor::Actor;
use rustix::process::Signal;

use crate::sum::Sum;
use crate::{NAME, PATIENCE, add, attach, config, roles, sockets, write_until};

const PLACEMENTS: [Placement; 2] = [Placement::Separate, Placement::Fused];

/// A leader, an acceptor where that is another one, and further members, all of them processes.
fn group(folder: &tempfile::TempDir, placement: Placement, nodes: usize) -> Vec<Actor> {
    let role = |at| if at == 0 { "create" } else { "attach" };
    (0..nodes).map(|at| roles::start(role(at), folder, placement)).collect()
}

#[test]
fn killed_leaders_and_acceptors_lose_nothing() {
    for placement in PLACEMENTS {
        kill(placement, |leader, _| vec![leader]);
        kill(placement, |_, acceptor| vec![acceptor]);
        kill(placement, |leader, acceptor| vec![leader, acceptor]);
        kill(placement, |_, _| vec![0, 1, 2]);
    }
}

/// Kills the nodes in these slots, as far as they are processes of their own, while this process writes.
fn kill(placement: Placement, victims: impl Fn(u16, u16) -> Vec<u16>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut actors = group(&folder, placement, 3);
    let node = attach(&folder, placement);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 50);
    // Where CPUs are few, a node may have been held for stuck, and another have its role.
    let status = node.status();
    let mut victims = victims(status.leader.slot, status.acceptor.slot);
    victims.retain(|&slot| slot < 3);
    victims.dedup();
    victims.iter().for_each(|&slot| actors[usize::from(slot)].signal(Signal::KILL));
    add(&mut session, &mut sum, 50);
    assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, 100);
    write_until(&node, &mut session, &mut sum, || node.status().members.len() == 4 - victims.len());
    let mut dead: Vec<i32> =
        victims.iter().map(|&slot| actors[usize::from(slot)].pid().as_raw_nonzero().get()).collect();
    dead.sort_unstable();
    assert_eq!(pids_of(&node, Liveness::Dead), dead);
    assert_eq!(pids_of(&node, Liveness::Alive).len(), 4 - dead.len());
    actors.clear();
    add(&mut session, &mut sum, 50);
}

/// The numbers of the processes that are in this state, in order.
fn pids_of(node: &Node<Sum>, state: Liveness) -> Vec<i32> {
    let found = node.processes().into_iter().filter(|process| process.liveness == state);
    let mut pids: Vec<i32> = found.map(|process| process.pid as i32).collect();
    pids.sort_unstable();
    pids
}

#[test]
fn writes_go_on_while_leader_and_acceptor_are_stopped_and_both_come_back() {
    for placement in PLACEMENTS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let actors = group(&folder, placement, 3);
        let node = attach(&folder, placement);
        let (mut session, mut sum) = (node.session().expect("a member"), 0);
        add(&mut session, &mut sum, 10);
        actors[..2].iter().for_each(Actor::stop);
        // The log has 256 places.
        add(&mut session, &mut sum, 2000);
        // Where CPUs are few, a living one may have lagged too.
        let members = node.status().members;
        assert!(members.iter().all(|member| member.slot > 1), "those that stand still were put out: {members:?}");
        actors[..2].iter().for_each(|actor| actor.signal(Signal::CONT));
        write_until(&node, &mut session, &mut sum, || node.status().members.len() == 4);
        let members = node.status().members;
        assert!(members[..2].iter().all(|member| member.inc > 1), "they came back by a snapshot: {members:?}");
    }
}

/// The only survivor has all the patience in the world, and yet does not wait for a stopped acceptor when it takes over.
#[test]
fn a_new_leader_passes_over_an_acceptor_that_is_stopped() {
    let attempt = |_| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let actors = group(&folder, Placement::Separate, 2);
        let patient = config(Placement::Separate).patience(PATIENCE * 10);
        let node: Node<Sum> = Replicated::attach(&patient, &sockets(&folder), NAME).expect("the group lives");
        let (mut session, mut sum) = (node.session().expect("a member"), 0);
        add(&mut session, &mut sum, 10);
        let status = node.status();
        let [leader, acceptor] = [status.leader, status.acceptor].map(|role| actors.get(usize::from(role.slot)));
        // Where CPUs are few, one of them may have been held for stuck: then this process has a role.
        let (Some(leader), Some(acceptor)) = (leader, acceptor) else { return false };
        acceptor.stop();
        leader.signal(Signal::KILL);
        add(&mut session, &mut sum, 10);
        true
    };
    assert!((0..20).any(attempt), "the roles were never with the others");
}

/// Patience doubles when a node was held for stuck that runs. One attempt is enough in which no other node was: where CPUs are
/// few, that happens.
#[test]
fn a_leader_that_was_stopped_costs_no_patience() {
    let attempt = |_| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let actors = group(&folder, Placement::Separate, 3);
        let node = attach(&folder, Placement::Separate);
        let (mut session, mut sum) = (node.session().expect("a member"), 0);
        add(&mut session, &mut sum, 10);
        let before = node.status();
        let Some(leader) = actors.get(usize::from(before.leader.slot)) else { return false };
        leader.stop();
        write_until(&node, &mut session, &mut sum, || node.status().leader != before.leader);
        node.status().patience <= before.patience
    };
    assert!((0..20).any(attempt), "it has more patience each time");
}

#[test]
fn a_node_that_stands_still_never_stops_writers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let actors = group(&folder, Placement::Separate, 3);
    let node = attach(&folder, Placement::Separate);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    actors[2].stop();
    add(&mut session, &mut sum, 3000);
    assert_eq!(node.status().members.len(), 3);
}

/// A reader that is stopped while it looks at its replica's state keeps that replica from applying, and nobody else.
#[test]
fn a_reader_that_is_stopped_inside_a_read_never_stops_writers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let _first = roles::start("create", &folder, Placement::Separate);
    let mut reader = roles::start("stay inside a read", &folder, Placement::Separate);
    let node = attach(&folder, Placement::Separate);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    assert_eq!(reader.hear(), "inside");
    reader.stop();
    // The log has 256 places.
    add(&mut session, &mut sum, 2000);
    assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, 2000);
    reader.signal(Signal::CONT);
    reader.nod();
    assert_eq!(reader.hear(), "outside");
    write_until(&node, &mut session, &mut sum, || node.status().members.len() == 3);
}

/// Long operations lie in an arena that is full long before the log is. A member that stands still does not keep it full.
#[test]
fn a_node_that_stands_still_never_stops_writers_of_long_values() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, dir) = (config(Placement::Fused), sockets(&folder));
    let patient = Replicated::create_named(&config.clone().patience(PATIENCE), &dir, NAME, Store::default());
    let patient = patient.expect("there is memory");
    let actor = roles::start("attach a store", &folder, Placement::Fused);
    let node = Replicated::<Store>::attach(&config, &dir, NAME).expect("the group lives");
    let (mut first, mut second) = (patient.session().expect("a member"), node.session().expect("a member"));
    let key = Key::new(b"long").expect("a key");
    // The arena has 64 KiB.
    let value = Value::new(&[7; 8192]).expect("a value");
    let set = Op::Set { key, value, condition: Condition::Always };
    actor.stop();
    let refused = (0..100).find_map(|_| first.execute_timeout(&set, Duration::from_millis(100)).err());
    assert_eq!(
        refused,
        Some(ExecuteError::NoRoom),
        "one that has all the patience in the world waits no longer than told"
    );
    assert_eq!(first.start_timeout(&set, Duration::from_millis(100)), Err(ExecuteError::NoRoom));
    assert_eq!(first.unanswered().next(), None, "it was not begun");
    for _ in 0..100 {
        second.execute_timeout(&set, PATIENCE).expect("the one that stands still is put out");
    }
    assert_eq!(node.status().members.len(), 2);
    first.execute_timeout(&set, PATIENCE).expect("there is room again");
}

/// A node that comes back, and cannot keep files any more, ends as a whole.
#[test]
fn a_node_that_comes_back_without_its_files_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = folder.path().join("files");
    let durable = config(Placement::Fused).durable(&files, Fsync::Never);
    let created = Replicated::create_named(&durable, &sockets(&folder), NAME, Sum::default());
    let node = created.expect("there is memory");
    let mut actor = roles::start("keep files and tell the end", &folder, Placement::Fused);
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    actor.stop();
    add(&mut session, &mut sum, 1000);
    assert_eq!(node.status().members.len(), 1, "the log has 256 places");
    let snapshots = files.join("replica-1").join("snapshots");
    std::fs::rename(&snapshots, folder.path().join("away")).expect("it is there");
    std::fs::write(&snapshots, "no folder").expect("room");
    actor.signal(Signal::CONT);
    let said = actor.hear();
    assert!(said.starts_with("the write-ahead log cannot be written"), "{said}");
    add(&mut session, &mut sum, 10);
}

/// Members that stand still are put out for the sake of the others. If the last of those dies before any of them came back, what
/// it did meanwhile is gone, and they say so to callers that wait.
#[test]
fn nodes_that_were_put_out_before_the_last_member_died_say_that_the_group_is_gone() {
    const GONE: &str = "all members of the group are gone, and this node lacks what they did last";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut last = roles::start("create and write alone", &folder, Placement::Separate);
    let mut others: Vec<_> = (0..2).map(|_| roles::start("tell the end", &folder, Placement::Separate)).collect();
    others.iter().for_each(Actor::stop);
    last.nod();
    assert_eq!(last.hear(), "alone");
    last.signal(Signal::KILL);
    // Each of them waits for the others as long as these may have the state.
    others.iter().for_each(|other| other.signal(Signal::CONT));
    for other in &mut others {
        assert_eq!(other.hear(), GONE);
    }
}

#[test]
fn another_process_takes_the_slot_of_a_dead_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let placement = Placement::Separate;
    let first = roles::start("create", &folder, placement);
    let node = attach(&folder, placement);
    let fillers: Vec<_> = (0..6).map(|_| roles::start("attach", &folder, placement)).collect();
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 10);
    let full = roles::start("attach", &folder, placement);
    assert_eq!(full.said, "refused: all 8 slots of the group are taken");
    first.kill();
    add(&mut session, &mut sum, 10);
    let second = roles::start("attach", &folder, placement);
    assert_eq!(second.said, "joined as 0.2");
    add(&mut session, &mut sum, 10);
    assert!(node.status().members.contains(&NodeId::new(0, 2)));
    drop(fillers);
    add(&mut session, &mut sum, 10);
}

#[test]
fn slots_of_processes_that_died_while_they_joined_are_taken_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = roles::start("create", &folder, Placement::Separate);
    // The group has 8 slots, of which each is claimed by a process that says nothing more, or no more than where its memory is.
    for at in 1..8 {
        roles::die_joining(if at % 2 == 0 { "segment-published" } else { "slot-claimed" }, &folder);
    }
    let second = roles::start("attach", &folder, Placement::Separate);
    assert_eq!((&*first.said, &*second.said), ("joined as 0.1", "joined as 1.2"));
    let node = attach(&folder, Placement::Separate);
    assert_eq!(node.id(), NodeId::new(2, 2));
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 10);
    assert_eq!(node.status().members.len(), 3);
}
