//! Learners whose parent in the learn tree is killed or stopped: that costs time, and no command.

use corecast_replica::{Level, Node, Placement, Replicated, Session};
use corecast_testing::actor::Actor;
use rustix::process::Signal;

use crate::sum::Sum;
use crate::{NAME, add, config, in_chain, roles, sockets, write_until};

/// Three processes and this one, in slots 0 to 3 of the chain. This one learns from the process in slot 2.
fn chain(folder: &tempfile::TempDir) -> (Vec<Actor>, Node<Sum>) {
    let role = |slot| if slot == 0 { "create a chain" } else { "join the chain" };
    let actors: Vec<Actor> = (0..3).map(|slot| roles::start(role(slot), folder, Placement::Separate)).collect();
    let config = in_chain(config(Placement::Separate));
    let node = Replicated::attach(&config, &sockets(folder), NAME).expect("the group lives");
    assert_eq!(node.id().slot, 3, "slots are taken in order");
    (actors, node)
}

/// Where CPUs are few, a node may have been held for stuck, and another have its role. Here this node hears of decisions from its
/// parent, which has no role.
fn is_told_by_a_mere_learner(node: &Node<Sum>) -> bool {
    let status = node.status();
    status.leader.slot < 2 && status.acceptor.slot < 2
}

fn writer(node: &Node<Sum>) -> (Session<Sum>, u64) {
    let (mut session, mut sum) = (node.session().expect("a member"), 0);
    add(&mut session, &mut sum, 50);
    (session, sum)
}

#[test]
fn a_killed_relay_costs_no_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut actors, node) = chain(&folder);
    let (mut session, mut sum) = writer(&node);
    actors.remove(2).kill();
    add(&mut session, &mut sum, 50);
    assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, sum);
    write_until(&node, &mut session, &mut sum, || node.status().members.len() == 3);
    // The rest of the chain goes on without the link that is missing.
    add(&mut session, &mut sum, 200);
    actors.remove(1).kill();
    add(&mut session, &mut sum, 50);
    assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, sum);
}

#[test]
fn a_stopped_relay_is_passed_by_and_comes_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (actors, node) = chain(&folder);
    let (mut session, mut sum) = writer(&node);
    let was_told = is_told_by_a_mere_learner(&node);
    actors[2].stop();
    add(&mut session, &mut sum, 20);
    if was_told && is_told_by_a_mere_learner(&node) {
        // On a busy machine it may have been passed by before, too, and not have caught up since.
        assert!(node.status().counters.silences > 0, "{:?}", node.status());
    }
    // The log has 256 places: the relay is put out.
    add(&mut session, &mut sum, 2000);
    assert_eq!(node.status().members.len(), 3);
    actors[2].signal(Signal::CONT);
    write_until(&node, &mut session, &mut sum, || node.status().members.len() == 4);
    add(&mut session, &mut sum, 50);
    assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, sum);
}
