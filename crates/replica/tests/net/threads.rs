//! Nodes of one process that share no state.

use std::time::Duration;

use corecast_replica::net::{Config, Group, Node, Status};
use corecast_replica::{ExecuteError, Level, OpenError, ReadError};

use crate::bytes::Bytes;
use crate::counter::Counter;
use crate::{PATIENCE, group, spreads};

#[test]
fn one_node_alone_counts() {
    let nodes = group::<Counter>(&Config::new(1), 1);
    let mut session = nodes[0].session().expect("a member");
    for n in 1..=100 {
        assert_eq!(session.execute(&1).expect("done").0, n);
    }
    assert_eq!(nodes[0].read(Level::Linearizable, &()).expect("fresh").0, (100, 100));
}

#[test]
fn all_nodes_write_and_all_see_it() {
    for count in [3, 5] {
        for spread in spreads(count) {
            let nodes = group::<Counter>(&Config::new(count).window(256).spread(spread.clone()), count);
            std::thread::scope(|scope| {
                nodes.iter().for_each(|node| {
                    scope.spawn(|| write_and_read(node, 200));
                });
            });
            let expected = 200 * count as u64;
            for node in &nodes {
                let read = node.read_timeout(Level::Linearizable, &(), PATIENCE);
                let read = read.unwrap_or_else(|error| panic!("{error}: {:#?}", statuses(&nodes)));
                assert_eq!(read.0, (expected, expected), "{spread:?}");
            }
        }
    }
}

/// Each read shows what this thread has written, and what it has read before.
fn write_and_read(node: &Node<Counter>, count: u64) {
    let mut session = node.session().expect("a member");
    let mut last = 0;
    for _ in 0..count {
        let (sum, index) = session.execute_timeout(&1, PATIENCE).expect("done");
        let read = node.read_timeout(Level::Linearizable, &(), PATIENCE);
        let (seen, shown) = read.unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
        assert!(sum > last && seen.0 >= sum && shown > index);
        last = seen.0;
    }
}

fn statuses(nodes: &[Node<Counter>]) -> Vec<Status> {
    nodes.iter().map(Node::status).collect()
}

#[test]
fn a_read_sees_what_any_other_node_has_answered() {
    for spread in spreads(3) {
        let nodes = group::<Counter>(&Config::new(3).spread(spread), 3);
        let mut session = nodes[0].session().expect("a member");
        for n in 1..=200 {
            session.execute_timeout(&1, PATIENCE).expect("done");
            let reader = &nodes[n as usize % 3];
            assert_eq!(reader.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0.0, n);
        }
    }
}

#[test]
fn many_readers_share_barriers() {
    let nodes = group::<Counter>(&Config::new(3), 3);
    nodes[2].session().and_then(|mut session| session.execute(&7)).expect("done");
    let before = nodes[2].status().applied;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let read = nodes[2].read_timeout(Level::Linearizable, &(), PATIENCE);
                    assert_eq!(read.expect("fresh").0.0, 7);
                }
            });
        }
    });
    let barriers = nodes[2].status().applied - before;
    assert!((1..=400).contains(&barriers), "{barriers} barriers for 400 reads");
}

#[test]
fn a_pipeline_of_sixteen() {
    let nodes = group::<Counter>(&Config::new(2), 2);
    let mut session = nodes[1].session().expect("a member");
    let rids: Vec<_> = (0..16).map(|_| session.start(&1).expect("room")).collect();
    assert_eq!(session.start(&1), Err(ExecuteError::Full(16)));
    let results: Vec<_> = rids.iter().map(|&rid| session.wait(rid).expect("done").0).collect();
    assert_eq!(results, Vec::from_iter(1..=16), "one session's requests are done in their order");
}

#[test]
fn operations_of_any_length_in_pieces() {
    for spread in spreads(3) {
        let config = Config::new(3).link_bytes(4096).largest(300_000).spread(spread);
        let nodes = group::<Bytes>(&config, 3);
        let mut session = nodes[2].session().expect("a member");
        let mut sum = 0;
        for len in [0, 1, 24, 55, 56, 57, 1000, 1024, 4096, 100_000, 300_000, 3] {
            sum += len as u64;
            assert_eq!(session.execute_timeout(&vec![1; len], PATIENCE).expect("done").0, sum, "{len} bytes");
        }
        for node in &nodes {
            assert_eq!(node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0, sum);
        }
        let too_large = session.execute(&vec![1; 300_001]).expect_err("more than the group takes");
        assert_eq!(too_large, ExecuteError::TooLarge { bytes: 300_001, most: 300_000 });
    }
}

#[test]
fn levels_of_reads() {
    let nodes = group::<Counter>(&Config::new(3), 3);
    let (_, index) = nodes[0].session().and_then(|mut session| session.execute(&5)).expect("done");
    let read = nodes[2].read_timeout(Level::AtLeast(index), &(), PATIENCE).expect("it comes");
    assert_eq!(read.0, (5, 1));
    assert_eq!(nodes[2].read(Level::Local, &()).expect("never waits").0, (5, 1));
    let late = nodes[2].read_timeout(Level::AtLeast(1 << 40), &(), Duration::from_millis(1));
    assert!(matches!(late, Err(ReadError::Lagging { wanted, .. }) if wanted == (1 << 40) + 1), "{late:?}");
}

#[test]
fn wrong_places_and_other_states_are_refused() {
    let config = Config::new(2);
    let group = Group::<Counter>::create(&config).expect("there is memory");
    let first = group.join(0, Counter::default()).expect("it is free");
    let refused = |slot| group.join(slot, Counter::default()).expect_err("refused").to_string();
    assert!(refused(0).contains("node 0 of the group is taken"), "{}", refused(0));
    assert!(refused(2).contains("no node 2 in a group of 2 nodes"), "{}", refused(2));
    drop(first);
    assert!(refused(0).contains("all members of the group are gone"), "{}", refused(0));
    let other = Group::<Bytes>::attach_fd(&config, group.share().expect("/proc"));
    assert!(matches!(other, Err(OpenError::Version(_))), "{other:?}");
    assert!(Group::<Counter>::create(&Config::new(65)).is_err());
    assert_eq!(Group::<Counter>::attach_fd(&config, group.share().expect("/proc")).expect("the same").nodes(), 2);
}

/// By the type of the state machine, and by the kind that the maker named.
#[test]
fn groups_of_other_state_are_refused() {
    let mine = Config::new(2).kind("counter");
    let group = Group::<Counter>::create(&mine).expect("there is memory");
    let share = || group.share().expect("there is /proc");
    let another = Group::<Bytes>::attach_fd(&mine, share()).expect_err("another type");
    assert!(another.to_string().contains("it replicates another state"), "{another}");
    for kind in ["", "Counter"] {
        let another = Group::<Counter>::attach_fd(&mine.clone().kind(kind), share()).expect_err("another kind");
        assert!(matches!(another, OpenError::Version(_)), "{another}");
    }
    assert_eq!(Group::<Counter>::attach_fd(&mine, share()).expect("the same kind").nodes(), 2);
}

#[test]
fn a_late_node_is_waited_for() {
    for spread in spreads(3) {
        let group = Group::<Counter>::create(&Config::new(3).spread(spread)).expect("there is memory");
        let last = group.join(2, Counter::default()).expect("it is free");
        let writer = std::thread::spawn(move || {
            let mut session = last.session().expect("leader and acceptor come");
            (session.execute_timeout(&1, PATIENCE).expect("done").0, last)
        });
        let _acceptor = group.join(1, Counter::default()).expect("it is free");
        let leader = group.join(0, Counter::default()).expect("it is free");
        let (sum, _last) = writer.join().expect("it writes");
        assert_eq!(sum, 1);
        assert_eq!(leader.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0, (1, 1));
    }
}
