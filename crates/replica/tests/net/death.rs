//! Nodes that go, are gone, or panic.

use std::time::Duration;

use corecast_replica::net::{Config, Group, Node, Spread};
use corecast_replica::{ExecuteError, Level, ReadError};

use crate::counter::{Counter, PANIC};
use crate::{CALM, PATIENCE, await_voters, group, spreads};

const SHORT: Duration = Duration::from_millis(50);

/// A group in which no node is held for stuck, so that the first two keep their roles however busy the machine is.
fn patient(nodes: usize, spread: Spread) -> Vec<Node<Counter>> {
    group(&Config::new(nodes).spread(spread).patience(Duration::from_secs(600)), nodes)
}

/// Writes at all nodes in turn; the sum that they agree on.
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
        assert_eq!(node.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0.0, *sum);
    }
}

#[test]
fn any_one_node_goes_and_the_others_go_on() {
    for count in [3, 5] {
        for spread in spreads(count) {
            for victim in 0..3 {
                for leaves in [true, false] {
                    let mut nodes = group::<Counter>(&Config::new(count).patience(CALM).spread(spread.clone()), count);
                    let mut sum = 0;
                    write(&nodes, &mut sum);
                    let gone = nodes.remove(victim);
                    if leaves {
                        let node = gone.clone();
                        gone.leave().unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
                    } else {
                        drop(gone);
                    }
                    write(&nodes, &mut sum);
                }
            }
        }
    }
}

#[test]
fn two_of_five_go_one_after_another() {
    for spread in spreads(5) {
        let mut nodes = group::<Counter>(&Config::new(5).patience(CALM).spread(spread), 5);
        let mut sum = 0;
        for _ in 0..2 {
            write(&nodes, &mut sum);
            let leader = nodes[0].status().leader;
            nodes.retain(|node| node.id() != leader);
        }
        write(&nodes, &mut sum);
    }
}

#[test]
fn without_leader_and_acceptor_nothing_is_done_and_nothing_wrong() {
    let mut nodes = patient(5, Spread::Sequential);
    let mut session = nodes[4].session().expect("a member");
    session.execute_timeout(&1, PATIENCE).expect("done");
    nodes.drain(..2);
    let blocked = session.execute_timeout(&1, SHORT);
    assert!(matches!(blocked, Err(ExecuteError::Unknown { rid: 2 })), "{blocked:?}");
    let read = nodes[0].read_timeout(Level::Linearizable, &(), SHORT);
    assert!(matches!(read, Err(ReadError::Unconfirmed { .. })), "{read:?}");
    assert_eq!(nodes[2].read(Level::Local, &()).expect("never waits").0, (1, 1));
}

/// Those that live are a majority, and still nobody can go on: a new leader waits for the dead acceptor.
#[test]
fn clients_are_told_that_leader_and_acceptor_are_gone() {
    for _ in 0..20 {
        let mut nodes = group::<Counter>(&Config::new(5), 5);
        let mut session = nodes[4].session().expect("a member");
        session.execute_timeout(&1, PATIENCE).expect("done");
        let status = nodes[4].status();
        nodes.retain(|node| ![status.leader, status.acceptor].contains(&node.id()));
        let executed = session.execute_timeout(&1, PATIENCE);
        if executed.is_ok() {
            // Another node had one of the roles before both were gone.
            continue;
        }
        assert_eq!(executed, Err(ExecuteError::NoMajority));
        let read = nodes[0].read_timeout(Level::Linearizable, &(), PATIENCE);
        return assert_eq!(read, Err(ReadError::NoMajority));
    }
    panic!("others were quicker twenty times");
}

#[test]
fn without_a_majority_roles_cannot_change_hands() {
    for _ in 0..20 {
        let mut nodes = group::<Counter>(&Config::new(3), 3);
        let mut session = nodes[2].session().expect("a member");
        session.execute_timeout(&1, PATIENCE).expect("done");
        nodes.drain(..2);
        let executed = session.execute(&1);
        if executed.is_ok() {
            // It was quick enough to have the roles of the first before the second was gone.
            continue;
        }
        assert_eq!(executed, Err(ExecuteError::NoMajority));
        assert_eq!(nodes[0].read(Level::Linearizable, &()), Err(ReadError::NoMajority));
        return assert_eq!(nodes[0].read(Level::Local, &()).expect("never waits").0, (1, 1));
    }
    panic!("the last node was quicker twenty times");
}

#[test]
fn leader_and_acceptor_go_in_turn_again_and_again() {
    for spread in spreads(3) {
        let config = Config::new(3).patience(CALM).spread(spread);
        let group = Group::create(&config).expect("there is memory");
        let join = |slot| group.join(slot, Counter::default()).expect("it is free");
        let mut nodes = Vec::from_iter((0..3).map(join));
        let mut sum = 0;
        for round in 0..6 {
            write(&nodes, &mut sum);
            let status = nodes[0].status();
            let victim = if round % 2 == 0 { status.leader } else { status.acceptor };
            nodes.retain(|node| node.id() != victim);
            write(&nodes, &mut sum);
            await_voters(&nodes, 1);
            nodes.push(join(usize::from(victim.slot)));
            await_voters(&nodes, 3);
        }
        write(&nodes, &mut sum);
        assert!(nodes.iter().all(|node| node.id().inc > 1), "no founder is left: {nodes:?}");
    }
}

#[test]
fn all_but_one_go_one_after_another() {
    let mut nodes = group::<Counter>(&Config::new(5).patience(CALM), 5);
    let mut sum = 0;
    for left in (1..5).rev() {
        write(&nodes, &mut sum);
        // Of the last two, the one that votes stays.
        let status = nodes[0].status();
        let victim = if left > 1 { status.leader } else { status.acceptor };
        nodes.retain(|node| node.id() != victim);
        write(&nodes, &mut sum);
        await_voters(&nodes, if left > 2 { 3 } else { 1 });
    }
}

#[test]
fn a_majority_may_die_while_leader_and_acceptor_live() {
    for spread in spreads(5) {
        let mut nodes = patient(5, spread);
        let mut sum = 0;
        write(&nodes, &mut sum);
        nodes.truncate(2);
        write(&nodes, &mut sum);
    }
}

#[test]
fn all_replicas_panic_and_the_group_stops() {
    let nodes = group::<Counter>(&Config::new(3), 3);
    let mut session = nodes[1].session().expect("a member");
    let (_, index) = session.execute_timeout(&1, PATIENCE).expect("done");
    let error = session.execute(&PANIC).expect_err("it panics everywhere");
    assert_eq!(error, ExecuteError::Poisoned { index: index + 1 });
    let read = nodes[1].read(Level::Local, &());
    assert_eq!(read, Err(ReadError::Poisoned { index: index + 1 }), "its state may be half changed");
}
