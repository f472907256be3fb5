//! Nodes that the group put out while they stood still, and that come back by themselves.

use std::time::Instant;

use corecast_replica::net::{Config, Node, Session};
use corecast_replica::wal::Fsync;
use corecast_replica::{ExecuteError, Level};

use crate::counter::Counter;
use crate::{CALM, PATIENCE, group, spreads};

/// Adds one, and checks that nothing was lost, and nothing done twice.
#[track_caller]
fn add(node: &Node<Counter>, session: &mut Session<Counter>, sum: &mut u64) {
    *sum += 1;
    let done = session.execute_timeout(&1, PATIENCE);
    assert_eq!(done.unwrap_or_else(|error| panic!("{error}: {:?}", node.status())).0, *sum);
}

/// A node that is about to come back serves its clients already.
#[track_caller]
fn await_membership(node: &Node<Counter>) {
    let until = Instant::now() + PATIENCE;
    while !node.status().is_member {
        assert!(Instant::now() < until && node.status().ended.is_none(), "{:?}", node.status());
        std::thread::yield_now();
    }
}

#[test]
fn a_node_that_was_put_out_comes_back_with_its_sessions() {
    for spread in spreads(4) {
        let config = Config::new(4).window(256).patience(CALM / 10).spread(spread);
        let nodes = group::<Counter>(&config, 4);
        let [mut busy, mut kept] = [2, 3].map(|at| nodes[at].session().expect("a member"));
        let mut sum = 0;
        for round in 1..=2 {
            add(&nodes[3], &mut kept, &mut sum);
            let before = nodes[3].id();
            // It cannot apply anything while somebody looks at its state. The log has 256 places.
            let stand_still = |_: &Counter| {
                while nodes[2].status().members.contains(&before) {
                    add(&nodes[2], &mut busy, &mut sum);
                }
            };
            nodes[3].read_with(Level::Local, stand_still).expect("never waits");
            add(&nodes[3], &mut kept, &mut sum);
            await_membership(&nodes[3]);
            let status = nodes[3].status();
            assert!(nodes[3].id().inc > before.inc && status.counters.rejoins >= round, "{status:?}");
            let (read, _) = nodes[3].read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
            assert_eq!(read, (sum, sum));
            nodes[2].read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh");
            assert_eq!(nodes[2].status().members.len(), 4);
        }
    }
}

#[test]
fn a_node_that_was_put_out_leaves_when_it_is_asked_to() {
    let config = Config::new(4).window(256).patience(CALM / 10);
    let mut nodes = group::<Counter>(&config, 4);
    let mut busy = nodes[2].session().expect("a member");
    let mut sum = 0;
    let stand_still = |_: &Counter| {
        while nodes[2].status().members.len() == 4 {
            add(&nodes[2], &mut busy, &mut sum);
        }
    };
    nodes[3].read_with(Level::Local, stand_still).expect("never waits");
    let leaving = nodes.pop().expect("four");
    leaving.leave().expect("the others know");
    // It may have been taken in once more before it could say that it leaves.
    while nodes[2].status().members.len() == 4 {
        add(&nodes[2], &mut busy, &mut sum);
    }
    add(&nodes[2], &mut busy, &mut sum);
}

#[test]
fn a_node_that_cannot_write_its_files_when_it_comes_back_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = Config::new(4).window(256).patience(CALM / 10).durable(folder.path(), Fsync::Never);
    let nodes = group::<Counter>(&config, 4);
    let [mut busy, mut kept] = [2, 3].map(|at| nodes[at].session().expect("a member"));
    // It writes there when it comes back, and not before.
    std::fs::remove_dir_all(folder.path().join("replica-3/snapshots")).expect("they are there");
    let (mut sum, before) = (0, nodes[3].id());
    let stand_still = |_: &Counter| {
        while nodes[2].status().members.contains(&before) {
            add(&nodes[2], &mut busy, &mut sum);
        }
    };
    nodes[3].read_with(Level::Local, stand_still).expect("never waits");
    let error = kept.execute_timeout(&1, PATIENCE).expect_err("it has ended");
    assert!(matches!(error, ExecuteError::Files(_)), "{error}");
    let ended = nodes[3].status().ended;
    assert!(ended.as_ref().is_some_and(|why| why.contains("snapshots")), "{ended:?}");
}
