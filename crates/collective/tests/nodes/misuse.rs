//! Members that do not call the same get an error that names node and rank, at all nodes.

use std::time::Duration;

use corecast_collective::nodes::local::Network;
use corecast_collective::nodes::{
    Engine, Error, Facts, Fault, FaultWord, Member, NodeSet, Slot, Step, Survival, Ticket,
};
use corecast_collective::{Call, CallKind, Loss, op};

use crate::cluster::{all, run, run_over};

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
fn other_lengths_within_a_node_are_named() {
    // Threads read the long ones where they lie.
    for (len, other) in [(100, 101), (40_000, 40_001), (40_000, 10), (10, 40_000)] {
        let outcomes = all(run(Network::of(2), &[1, 3], |me| {
            let mut values = vec![1u64; if me.rank() == 2 { other } else { len }];
            me.allreduce_slice(&mut values, |a, b| a + b)?;
            me.barrier()
        }));
        for outcome in outcomes {
            let Err(Error::MemberLost { node: 1, loss, .. }) = outcome else { panic!("{len} {other}: {outcome:?}") };
            assert!(loss == Loss::OtherLength, "{len} {other}: {loss}");
        }
    }
}

/// The outcomes of members that are one on each node, whose slices have these lengths; long ones go by the engine's allreduce.
fn summed(lengths: &[usize]) -> Vec<Result<(), Error>> {
    all(run(Network::of(lengths.len()).delays(5), &vec![1; lengths.len()], |me| {
        me.allreduce_slice_with(&mut vec![1u64; lengths[me.rank()]], op::Sum)
    }))
}

#[test]
fn other_lengths_of_the_engines_own_operation_are_named() {
    assert_eq!(summed(&[20_000; 3]), vec![Ok(()); 3]);
    // The second one is short on some node, which takes messages.
    for lengths in [&[20_000, 10_000][..], &[20_000, 5], &[20_000, 20_000, 10_000], &[20_000, 5, 20_000, 20_000]] {
        for outcome in summed(lengths) {
            let is_named = matches!(outcome, Err(Error::MemberLost { loss: Loss::OtherLength, .. }));
            assert!(is_named, "{lengths:?}: {outcome:?}");
        }
    }
}

#[test]
fn another_call_beside_the_engines_own_operation_is_named() {
    let outcomes = all(run(Network::of(3).delays(5), &[1; 3], |me| {
        let called = match me.node() {
            2 => me.barrier(),
            _ => me.allreduce_slice_with(&mut [1u64; 20_000], op::Sum),
        };
        called.and_then(|()| me.barrier())
    }));
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::Mismatched { .. }))), "{outcomes:?}");
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

/// An engine that reports an error when it is asked for words the third time, and then keeps the rule that it is remade first.
struct Failing {
    engine: Box<dyn Engine>,
    listens: u32,
    has_failed: bool,
}

impl Engine for Failing {
    fn facts(&self) -> &Facts {
        self.engine.facts()
    }

    fn room(&mut self, slot: Slot, bytes: usize) -> &mut [u8] {
        self.engine.room(slot, bytes)
    }

    fn start(&mut self, step: Step) -> Result<Ticket, Fault> {
        assert!(!self.has_failed, "no step after a fault");
        self.engine.start(step)
    }

    fn poll(&mut self, ticket: Ticket) -> Result<bool, Fault> {
        assert!(!self.has_failed, "no poll after a fault");
        self.engine.poll(ticket)
    }

    fn listen(&mut self) -> Result<Option<FaultWord>, Fault> {
        self.listens += 1;
        if self.listens == 3 {
            self.has_failed = true;
            return Err(Fault::Engine { class: 5, text: "as the test says".to_owned() });
        }
        self.engine.listen()
    }

    fn tell(&mut self, word: FaultWord) {
        self.engine.tell(word);
    }

    fn remake(&mut self, living: &NodeSet, limit: Option<Duration>) -> Result<NodeSet, Fault> {
        self.has_failed = false;
        self.engine.remake(living, limit)
    }

    fn close(self: Box<Self>, is_clean: bool) {
        self.engine.close(is_clean);
    }
}

#[test]
fn an_error_that_is_found_before_an_operation_ends_it_at_all_nodes() {
    let mut engines = Network::of(2).survival(Survival::Members).engines();
    let engine = engines.pop().expect("two nodes");
    engines.push(Box::new(Failing { engine, listens: 0, has_failed: false }));
    let outcomes = all(run_over(engines, &[2, 2], |me| {
        let failed = (0..5).find_map(|_| me.barrier().err());
        let shrunk = me.shrink().map(|shrunk| shrunk.me).map_err(|error| error.to_string());
        (failed, shrunk.and_then(|mut me| me.allreduce(1, |a, b| a + b).map_err(|error| error.to_string())))
    }));
    for (failed, sum) in outcomes {
        assert!(matches!(failed, Some(Error::Engine { node: 1, class: 5, .. })), "{failed:?}");
        assert_eq!(sum, Ok(4));
    }
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
