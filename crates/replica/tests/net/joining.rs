//! Nodes that come after the group has begun, and in the place of others that went.

use std::time::Duration;

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_replica::kv::{Compact, CompactSet};
use corecast_replica::net::{Config, Group, Node, Spread};
use corecast_replica::{Level, NodeId, OpenError};

use crate::counter::Counter;
use crate::{CALM, PATIENCE, spreads};

/// The founders of a group, which is kept for those that come later.
fn founders(config: &Config, count: usize) -> (Group<Counter>, Vec<Node<Counter>>) {
    let group = Group::create(config).expect("there is memory");
    let nodes = (0..count).map(|slot| group.join(slot, Counter::default()).expect("it is free")).collect();
    (group, nodes)
}

#[track_caller]
fn join(group: &Group<Counter>, slot: usize) -> Node<Counter> {
    group.join(slot, Counter::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes at all nodes in turn; the sum that they agree on.
#[track_caller]
fn write(nodes: &[Node<Counter>], sum: &mut u64) {
    for node in nodes {
        let mut session = node.session().unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
        for _ in 0..20 {
            *sum += 1;
            let done = session.execute_timeout(&1, PATIENCE);
            assert_eq!(done.unwrap_or_else(|error| panic!("{error}: {:?}", node.status())).0, *sum);
        }
    }
    for node in nodes {
        assert_eq!(node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0, (*sum, *sum));
    }
}

#[test]
fn nodes_that_come_at_once_get_a_place_each() {
    // A node that loses a place to another looks for the next one, which not every group has happen.
    (0..8).for_each(|_| three_come_at_once());
}

#[track_caller]
fn three_come_at_once() {
    let (group, _founders) = founders(&Config::new(2).slots(5).patience(CALM), 2);
    let start = std::sync::Barrier::new(3);
    let come = || {
        start.wait();
        group.join_next(Counter::default())
    };
    let nodes = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(come));
        threads.map(|thread| thread.join().expect("no panic").unwrap_or_else(|error| panic!("{error}")))
    });
    let mut slots = nodes.each_ref().map(|node| node.id().slot);
    slots.sort_unstable();
    assert_eq!(slots, [2, 3, 4]);
}

#[test]
fn each_node_in_turn_goes_and_comes_back() {
    for spread in spreads(3) {
        for leaves in [true, false] {
            let (group, mut nodes) = founders(&Config::new(3).patience(CALM).spread(spread.clone()), 3);
            let mut sum = 0;
            write(&nodes, &mut sum);
            let gone = nodes.remove(2);
            if leaves {
                gone.leave().expect("the others know")
            } else {
                drop(gone)
            }
            write(&nodes, &mut sum);
            for inc in 2..5 {
                let node = join(&group, 2);
                assert_eq!(node.id(), NodeId::new(2, inc));
                assert_eq!(node.read(Level::Local, &()).expect("never waits").0, (sum, sum), "the state of the others");
                nodes.push(node);
                write(&nodes, &mut sum);
                assert_eq!(nodes[0].status().members, nodes[2].status().members);
                drop(nodes.pop());
                write(&nodes, &mut sum);
            }
        }
    }
}

#[test]
fn places_beyond_the_founders_are_taken_and_lead() {
    for spread in spreads(5) {
        let (group, mut nodes) = founders(&Config::new(3).slots(5).patience(CALM).spread(spread.clone()), 3);
        let mut sum = 0;
        write(&nodes, &mut sum);
        nodes.extend([3, 4].map(|slot| join(&group, slot)));
        write(&nodes, &mut sum);
        assert_eq!(nodes[4].status().members.len(), 5);
        // Those that came later vote in the places of founders, and fill the roles.
        for _ in 0..3 {
            let leader = nodes.last().expect("five, and two go").status().leader;
            nodes.retain(|node| node.id() != leader);
            write(&nodes, &mut sum);
        }
        assert!(matches!(group.join(5, Counter::default()), Err(OpenError::Config(_))), "there are five");
    }
}

#[test]
fn a_leader_comes_back_as_a_learner() {
    let (group, mut nodes) = founders(&Config::new(3).patience(CALM), 3);
    let mut sum = 0;
    write(&nodes, &mut sum);
    drop(nodes.remove(0));
    write(&nodes, &mut sum);
    nodes.push(join(&group, 0));
    write(&nodes, &mut sum);
    let status = nodes[2].status();
    assert!(status.members.contains(&NodeId::new(0, 2)), "{status:?}");
    let learner = nodes.iter().find(|node| node.id() != status.leader && node.id() != status.acceptor);
    assert_eq!(learner.map(Node::id), Some(NodeId::new(0, 2)), "{status:?}");
}

#[test]
fn a_node_joins_beside_busy_writers() {
    for spread in spreads(4) {
        let config = Config::new(3).slots(4).window(256).patience(CALM).spread(spread.clone());
        let (group, nodes) = founders(&config, 3);
        let is_over = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            let write = |node: &Node<Counter>| {
                let (mut session, mut count) = (node.session().expect("a member"), 0);
                // ORDERING: Relaxed, the threads are joined
                while !is_over.load(Ordering::Relaxed) {
                    session
                        .execute_timeout(&1, PATIENCE)
                        .unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
                    count += 1;
                }
                count
            };
            let writers = Vec::from_iter(nodes.iter().map(|node| scope.spawn(move || write(node))));
            for _ in 0..3 {
                let node = join(&group, 3);
                let mut session = node.session().expect("a member");
                session.execute_timeout(&0, PATIENCE).expect("done");
                drop(session);
                node.leave().expect("the others know");
            }
            // ORDERING: Relaxed, the threads are joined
            is_over.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().expect("it writes")).sum::<u64>()
        });
        let read = nodes[1].read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
        assert_eq!(read.0.0, written, "{spread:?}");
    }
}

#[test]
fn a_state_of_megabytes_comes_in_parts() {
    let config = Config::new(2).slots(3).spread(Spread::Sequential).patience(CALM);
    let group = Group::create(&config).expect("there is memory");
    let store = || Compact::with_capacity(60_000).expect("small");
    let mut full = store();
    for key in 0..60_000_u64 {
        let set = CompactSet { key: key.to_le_bytes(), value: u128::from(key * 3).to_le_bytes() };
        corecast_replica::StateMachine::apply(&mut full, 0, &set);
    }
    let mut other = store();
    for key in 0..60_000_u64 {
        let set = CompactSet { key: key.to_le_bytes(), value: u128::from(key * 3).to_le_bytes() };
        corecast_replica::StateMachine::apply(&mut other, 0, &set);
    }
    let _first = [group.join(0, full).expect("it is free"), group.join(1, other).expect("it is free")];
    let late = group.join_next(store()).expect("a third place");
    for key in [0, 1, 31_337, 59_999_u64] {
        let (found, _) = late.read_timeout(Level::Linearizable, &key.to_le_bytes(), PATIENCE).expect("fresh");
        assert_eq!(found, Some(u128::from(key * 3).to_le_bytes()));
    }
    assert!(matches!(group.join_next(store()), Err(OpenError::NoSlot(3))));
}

#[test]
fn places_of_the_living_and_groups_of_the_dead_are_refused() {
    let (group, nodes) = founders(&Config::new(2).slots(3).joining(Duration::from_secs(5)), 2);
    let late = join(&group, 2);
    for slot in 0..3 {
        let error = group.join(slot, Counter::default()).expect_err("it lives").to_string();
        assert_eq!(error, format!("node {slot} of the group is taken"));
    }
    drop((nodes, late));
    for slot in 0..3 {
        let error = group.join(slot, Counter::default()).expect_err("nobody lives");
        assert!(matches!(error, OpenError::Lost), "{error}");
    }
}

#[test]
fn a_group_that_can_do_nothing_takes_in_nobody() {
    for _ in 0..20 {
        let (group, mut nodes) = founders(&Config::new(3).joining(Duration::from_millis(300)), 3);
        let mut sum = 0;
        write(&nodes, &mut sum);
        nodes.drain(..2);
        // The last node may have been quick enough to have the roles of the first before the second was gone.
        let Err(error) = group.join(0, Counter::default()) else { continue };
        assert!(matches!(error, OpenError::NotTakenIn(_)), "{error}");
        return assert_eq!(nodes[0].read(Level::Local, &()).expect("never waits").0, (sum, sum));
    }
    panic!("the last node was quicker twenty times");
}
