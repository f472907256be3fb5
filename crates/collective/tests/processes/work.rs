//! All operations among processes, over every barrier, shape and waiting.

use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Builder, Error, Member};
use corecast_testing::actor::Actor;

use crate::founding;
use crate::roles;
use crate::round::one_round as plain_round;

/// The size of the group whose members take any place.
pub(crate) const ANYBODY: usize = 3;

/// One of each operation, checked, including slices of all kinds of lengths.
pub(crate) fn one_round(me: &mut Member, round: u64) -> Result<(), Error> {
    let (rank, members) = (me.rank(), me.size());
    let root = round as usize % members;
    plain_round(me, round)?;
    // Short, long, and longer than what a member has room for.
    for len in [10, 513, 10_000] {
        let mut values: Vec<u64> = (0..len).map(|i| i * round + rank as u64).collect();
        me.broadcast_slice(root, &mut values)?;
        assert!(values.iter().zip(0..).all(|(&value, i)| value == i * round + root as u64));
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        assert!(values.iter().zip(0..).all(|(&value, i)| value == (i * round + root as u64) * members as u64));
    }
    me.broadcast(root, &mut ())?;
    me.reduce(root, (), |(), ()| ()).map(drop)
}

pub(crate) fn all_operations(me: &mut Member) -> Result<(), Error> {
    (1..=20).try_for_each(|round| one_round(me, round))?;
    me.barrier()
}

/// Starts a process for each member, and waits until all have ended well.
#[track_caller]
fn run(members: usize, change: impl FnOnce(Builder<'_>) -> Builder<'_>) {
    let founding = founding(members, change);
    roles::start_all("work", &founding).into_iter().for_each(Actor::dismiss);
}

#[test]
fn every_barrier_and_waiting_among_two_to_four() {
    // Conformance tries every size; here each barrier meets each policy once, and each size with some policy.
    let policies = [Wait::Adaptive, Wait::Yield, Wait::Park];
    for (line, &barrier) in Barrier::ALL.iter().enumerate() {
        for (at, wait) in policies.into_iter().enumerate() {
            run(2 + (line + at) % 3, |builder| builder.barrier(barrier).wait(wait));
        }
    }
}

#[test]
fn spinning_members_get_there_too() {
    run(2, |builder| builder.wait(Wait::Spin));
}

#[test]
fn every_tree_shape_among_four() {
    for shape in corecast_plan::SHAPES {
        run(4, |builder| builder.shape(shape.name()));
    }
}

#[test]
fn without_room_for_chunks_long_slices_travel_in_messages() {
    // Room for nothing; for the slots that all show each other and one of two trees; and for one of two trees.
    for (members, room) in [(2, 0), (2, 600 << 10), (4, 600 << 10)] {
        run(members, |builder| builder.room_bytes(room));
    }
}

#[test]
fn one_member_is_a_group() {
    run(1, |builder| builder);
}

#[test]
fn members_that_name_no_rank_get_one_each() {
    let founding = founding(ANYBODY, |builder| builder);
    roles::start_all("work in any place", &founding).into_iter().for_each(Actor::dismiss);
}
