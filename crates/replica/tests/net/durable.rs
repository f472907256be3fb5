//! Groups that keep files: all nodes are gone, and another group begins with what they had done.

use std::path::Path;

use corecast_replica::net::{Config, Group, Node, Spread};
use corecast_replica::wal::Fsync;
use corecast_replica::{ExecuteError, Level, OpenError};

use crate::counter::{Counter, PANIC};
use crate::places::Places;
use crate::{CALM, PATIENCE, await_voters, spreads};

fn config(folder: &Path, spread: Spread) -> Config {
    Config::new(3).slots(3).patience(CALM).spread(spread).durable(folder, Fsync::Always)
}

fn start(config: &Config, nodes: usize) -> (Group<Counter>, Vec<Node<Counter>>) {
    let group = Group::create(config).expect("there is memory, and nobody has the files");
    let nodes = (0..nodes).map(|slot| group.join(slot, Counter::default()).expect("it is free")).collect();
    (group, nodes)
}

/// Adds one at each node in turn; the sum that all agree on.
fn add(nodes: &[Node<Counter>], sum: &mut u64) {
    for node in nodes {
        let mut session = node.session().expect("a member");
        for _ in 0..10 {
            *sum += 1;
            let done = session.execute_timeout(&1, PATIENCE);
            assert_eq!(done.unwrap_or_else(|error| panic!("{error}: {:?}", node.status())).0, *sum);
        }
        assert_eq!(node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0, (*sum, *sum));
    }
}

#[test]
fn a_group_begins_with_what_the_one_before_has_done() {
    for spread in spreads(3) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut sum = 0;
        for _ in 0..4 {
            let (_group, nodes) = start(&config(folder.path(), spread.clone()), 3);
            for node in &nodes {
                assert_eq!(node.read(Level::Local, &()).expect("never waits").0, (sum, sum), "{spread:?}");
            }
            add(&nodes, &mut sum);
        }
    }
}

/// A node that came back has files of its own, and those of the others are older.
#[test]
fn the_files_of_the_replica_that_got_furthest_count() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = config(folder.path(), Spread::Sequential);
    let mut sum = 0;
    for round in 0..3 {
        let (group, mut nodes) = start(&config, 3);
        add(&nodes, &mut sum);
        for slot in [2, 0, 1] {
            let gone = nodes.remove(0);
            assert_eq!(usize::from(gone.id().slot), (slot + 1) % 3);
            drop(gone);
            add(&nodes, &mut sum);
            await_voters(&nodes, 1);
            nodes.push(group.join((slot + 1) % 3, Counter::default()).expect("it is free"));
            await_voters(&nodes, 3);
            add(&nodes, &mut sum);
        }
        // The last ones that are left have more than the others.
        nodes.drain(..1 + round % 2);
        if nodes.len() == 2 {
            add(&nodes, &mut sum);
        }
    }
    let (_group, nodes) = start(&config, 3);
    add(&nodes, &mut sum);
}

#[test]
fn files_have_one_group_and_a_group_knows_its_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = config(folder.path(), Spread::Sequential);
    let mut sum = 0;
    let (_group, nodes) = start(&config, 3);
    add(&nodes, &mut sum);
    let error = Group::<Counter>::create(&config).expect_err("the files are in use");
    assert!(error.to_string().contains("in use"), "{error}");
    drop(nodes);
    let group = Group::<Counter>::create(&config).expect("nobody has the files");
    let other =
        Group::<Counter>::attach_fd(&Config::new(1), group.share().expect("a descriptor")).expect("it is there");
    let error = other.join(0, Counter::default()).expect_err("it begins with files");
    assert!(matches!(error, OpenError::Config(_)), "{error}");
    let node = group.join(0, Counter::default()).expect("it is free");
    assert_eq!(node.read(Level::Local, &()).expect("never waits").0, (sum, sum));
}

/// A state that depends on the places of operations is the same when files are read back, after any number of restarts.
#[test]
fn places_are_the_same_when_files_are_read_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = config(folder.path(), Spread::Sequential);
    let mut expected = Vec::new();
    for round in 0..4 {
        let group = Group::create(&config).expect("nobody has the files");
        let nodes: Vec<_> = (0..3).map(|slot| group.join(slot, Places::default()).expect("it is free")).collect();
        for node in &nodes {
            let read = node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
            assert_eq!(read.0, expected, "round {round}");
        }
        let mut session = nodes[2].session().expect("a member");
        for _ in 0..3 {
            expected.push(session.execute_timeout(&(), PATIENCE).expect("done").0);
        }
        assert!(expected.is_sorted_by(|one, next| one < next), "{expected:?}");
    }
    let group = Group::create(&config).expect("nobody has the files");
    let last = *expected.last().expect("twelve");
    let error = group.join(0, Places::that_panic_at(last)).expect_err("it panics");
    assert!(matches!(error, OpenError::Panicked { index, .. } if index == last), "{error}");
}

/// The operation was never done anywhere, so nobody misses it.
#[test]
fn a_group_whose_replicas_all_panicked_starts_from_its_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut sum = 0;
    for _ in 0..2 {
        let (_group, nodes) = start(&config(folder.path(), Spread::Sequential), 3);
        add(&nodes, &mut sum);
        let mut session = nodes[2].session().expect("a member");
        let error = session.execute_timeout(&PANIC, PATIENCE).expect_err("all panic");
        assert!(matches!(error, ExecuteError::Poisoned { .. }), "{error}");
    }
}
