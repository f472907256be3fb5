//! Members that do not call the same get an error that names node and rank, at all nodes.

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{Error, Member};
use corecast_collective::{Call, CallKind, Loss};

use crate::cluster::{all, run};

/// The errors of all members, where those of node 1 call something else.
fn errors(of_node_1: impl Fn(&mut Member) -> Result<(), Error> + Sync) -> Vec<Error> {
    let outcomes = all(run(Network::of(3).delays(10), &[2, 2, 1], |me| {
        me.barrier()?;
        let called = match me.node() {
            1 => of_node_1(me),
            _ => me.allreduce(0u64, |a, _| a).map(drop),
        };
        called.and_then(|()| me.barrier()).and_then(|()| me.barrier())
    }));
    outcomes.into_iter().map(|outcome| outcome.expect_err("all fail")).collect()
}

#[test]
fn other_operations_are_named() {
    for error in errors(Member::barrier) {
        let Error::Mismatched { rank, node, called, other, expected } = error else { panic!("{error}") };
        assert!(matches!((rank, node), (0, 0) | (2, 1) | (4, 2)) && other != rank, "{error}");
        let calls = [called, expected].map(|Call { operation, root, .. }| (operation, root));
        assert!(calls.contains(&(CallKind::Barrier, None)) && calls.contains(&(CallKind::Allreduce, None)), "{error}");
        assert_eq!(called.operation == CallKind::Barrier, node == 1, "{error}");
    }
}

#[test]
fn other_roots_are_named() {
    let outcomes = all(run(Network::of(2), &[1, 1], |me| {
        // Each gives its value to the other one; the next operation finds it.
        me.broadcast(me.rank(), &mut 0u64)?;
        me.barrier().and_then(|()| me.barrier())
    }));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Mismatched { .. }))), "{outcomes:?}");
}

#[test]
fn other_lengths_and_types_are_named() {
    let lengths = all(run(Network::of(2), &[2, 1], |me| me.allreduce_slice(&mut vec![0u64; 5 + me.node()], |a, _| a)));
    let types = all(run(Network::of(2), &[2, 1], |me| match me.node() {
        0 => me.allreduce(0u64, |a, _| a).map(drop),
        _ => me.allreduce(0i64, |a, _| a).map(drop),
    }));
    for (outcomes, expected) in [(lengths, Loss::OtherLength), (types, Loss::Mismatched)] {
        for outcome in outcomes {
            let Err(Error::MemberLost { rank, node, loss }) = outcome else { panic!("{outcome:?}") };
            assert!(loss == expected && matches!((rank, node), (0, 0) | (2, 1)), "{rank} {node} {loss}");
        }
    }
}

#[test]
fn a_difference_within_a_node_is_known_to_all() {
    let outcomes = all(run(Network::of(2), &[3, 2], |me| {
        let called = if me.rank() == 2 { me.barrier() } else { me.allreduce(0u64, |a, _| a).map(drop) };
        called.and_then(|()| me.barrier()).and_then(|()| me.barrier())
    }));
    let is_named = |outcome: &Result<(), Error>| matches!(outcome, Err(Error::Mismatched { node: 0, .. }));
    assert!(outcomes.iter().all(is_named), "{outcomes:?}");
    assert!(matches!(outcomes[0], Err(Error::Mismatched { rank: 2, .. })), "{outcomes:?}");
}

#[test]
fn impossible_roots_are_refused_and_nothing_has_begun() {
    let outcomes = all(run(Network::of(2), &[1, 2], |me| {
        let refused = me.broadcast(3, &mut 0u8);
        assert_eq!(refused, Err(Error::BadRank { rank: 3, members: 3 }));
        assert_eq!(me.gather(9, 0u8), Err(Error::BadRank { rank: 9, members: 3 }));
        assert!(matches!(me.shrink(), Err(Error::NotFailed)));
        me.barrier()
    }));
    assert_eq!(outcomes, vec![Ok(()); 3]);
}
