//! Cuts through groups over messages.

use corecast_replica::net::{Config, Group, Node};
use corecast_replica::{ExecuteError, Level, ReadError, StateMachine};

use crate::counter::Counter;
use crate::{CALM, PATIENCE, group, spreads};

#[test]
fn a_cut_is_the_same_in_all_replicas_while_others_write() {
    for spread in spreads(4) {
        let nodes = group::<Counter>(&Config::new(4).patience(CALM).spread(spread), 4);
        std::thread::scope(|scope| {
            let write = |node: &Node<Counter>| {
                let mut session = node.session().expect("a member");
                (0..100).for_each(|_| _ = session.execute_timeout(&1, PATIENCE).expect("done"));
            };
            nodes[..3].iter().for_each(|node| _ = scope.spawn(move || write(node)));
            for _ in 0..5 {
                let mut bytes = Vec::new();
                let cut = nodes[3].checkpoint(&mut bytes, PATIENCE).expect("all take part");
                assert_eq!((cut.digests.len(), cut.diverged.len(), cut.bytes), (4, 0, bytes.len() as u64));
                // The state machine's snapshot is at the end: the sum and the count.
                let state = Counter::restore(&mut &bytes[bytes.len() - 16..]).expect("its own bytes");
                assert_eq!(state.digest(), cut.digest);
                assert!(state.sum <= 300 && state.sum == state.count);
            }
        });
    }
}

#[test]
fn a_member_with_another_state_is_put_out() {
    let group = Group::create(&Config::new(3).patience(CALM)).expect("there is memory");
    let wrong = Counter { sum: 7, count: 1 };
    let states = [Counter::default(), Counter::default(), wrong];
    let nodes = Vec::from_iter(states.into_iter().enumerate().map(|(slot, state)| group.join(slot, state)));
    let nodes = Vec::from_iter(nodes.into_iter().map(|node| node.expect("it is free")));
    let cut = nodes[0].compare(PATIENCE).expect("all take part");
    assert_eq!((cut.bytes, cut.diverged), (0, vec![nodes[2].id()]));
    let mut session = nodes[0].session().expect("a member");
    while nodes[0].status().members.len() == 3 {
        session.execute_timeout(&1, PATIENCE).expect("done");
    }
    let error = nodes[2].session().map(drop).expect_err("it is out");
    assert!(matches!(error, ExecuteError::Diverged { .. }), "{error}");
    for level in [Level::Linearizable, Level::Local] {
        let read = nodes[2].read(level, &());
        assert!(matches!(read, Err(ReadError::Diverged { .. })), "{read:?}");
    }
    drop(nodes);
}
