//! Processes that do not call the same operation: each of them gets an error with the members and their calls.

use corecast_collective::{Error, Member};
use corecast_testing::actor::{Actor, say};

use crate::calls::{ALL, SAME};
use crate::founding;
use crate::roles;

/// Pairs of calls that meet in messages, in words or nowhere: that of one member, and that of all others.
const PAIRS: &[[&str; 2]] = &[
    ["barrier", "allreduce"],
    ["allreduce", "barrier"],
    ["broadcast 1", "broadcast 0"],
    ["broadcast 0", "reduce 0"],
    ["reduce 0", "reduce 1"],
    ["reduce 0", "reduce by rank 0"],
    ["allreduce_slice", "allreduce"],
    ["allreduce_slice", "barrier"],
    ["broadcast_slice 1", "broadcast_slice 0"],
    ["gather 0", "scatter 0"],
    ["scatter_slice 0", "gather_slice 0"],
    ["two-phase commit 0", "two-phase commit 1"],
    ["atomic_stream", "two-phase commit 1"],
    ["acknowledged broadcast", "atomic_stream"],
    ["split", "barrier"],
    ["allreduce_records", "split"],
];

/// Makes a call, and a barrier behind it if the call is complete; prints the result.
pub(crate) fn call_and_tell(me: &mut Member, name: &str) {
    let mut calls = ALL.iter().chain(SAME.as_flattened());
    let (_, call) = calls.find(|call| call.0 == name).expect("a call of this name");
    match call(me).and_then(|()| me.barrier()) {
        Ok(()) => say("complete"),
        Err(error @ Error::Mismatched { .. }) => {
            assert_eq!(me.barrier(), Err(error), "it stays so");
            say(&error.to_string());
        }
        Err(error) => say(&format!("another error: {error}")),
    }
}

#[test]
fn a_member_with_another_call_gets_an_error_and_so_do_all_others() {
    for (i, [own, others]) in PAIRS.iter().enumerate() {
        for members in [2, 3, 5] {
            let (founding, differs) = (founding(members, |builder| builder), i % members);
            let role = |rank| format!("call {}", if rank == differs { own } else { others });
            let mut actors: Vec<Actor> = (0..members).map(|rank| roles::start(&role(rank), &founding, rank)).collect();
            let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
            let circumstances = format!("{own} at member {differs} of {members}, {others} at the others");
            assert!(told.iter().all(|words| *words == told[0]), "{circumstances}: {told:?}");
            let is_named = told[0].contains(&format!("member {differs} called ")) && told[0].contains(" where member ");
            assert!(is_named, "{circumstances}: {told:?}");
            actors.into_iter().for_each(Actor::dismiss);
        }
    }
}

#[test]
fn forms_of_one_operation_may_be_mixed() {
    for [a, b] in SAME {
        let founding = founding(2, |builder| builder);
        let mut actors =
            [(0, a), (1, b)].map(|(rank, call)| roles::start(&format!("call {}", call.0), &founding, rank));
        let told = actors.each_mut().map(Actor::hear);
        assert_eq!(told, ["complete"; 2], "{} and {}", a.0, b.0);
        actors.into_iter().for_each(Actor::dismiss);
    }
}
