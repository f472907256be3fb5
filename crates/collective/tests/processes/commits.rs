//! Two-phase commits among processes: proposals of any length, and the roles of members that commit.

use corecast_collective::{Error, Member};
use corecast_testing::actor::say;

use crate::{PATIENCE, rounds};

/// The roles in which a member commits.
pub(crate) const ROLES: [&str; 4] =
    ["commit and count", "commit any length and count", "commit other lengths", "commit without room"];

/// Plays one of them.
pub(crate) fn play(role: &str, me: &mut Member, after: &mut dyn FnMut() -> bool) {
    let mut committed = 0;
    match role {
        "commit and count" => {
            let error = rounds::counted_commit(me, PATIENCE, &mut committed, after);
            say(&format!("{}, {committed} committed", error.expect_err("one is lost")));
        }
        "commit any length and count" => {
            let error = counted_long_commit(me, &mut committed, after);
            say(&format!("{}, {committed} committed", error.expect_err("one is lost")));
        }
        "commit other lengths" => {
            let error = commit_of_other_lengths(me).expect_err("they do not agree");
            say(&error.to_string());
        }
        _ => commit_without_room(me),
    }
}

/// The last member proposes slices of all lengths, of which member 0 refuses every third one; counts what is
/// committed.
pub(crate) fn counted_long_commit(
    me: &mut Member,
    committed: &mut u64,
    after: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    const LENGTHS: [usize; 6] = [0, 505, 1, 1 << 20, 504, 4096];
    const LONGEST: usize = 1 << 20;
    // The last one is of all ones.
    let bytes = |number: usize| vec![number as u8 & 0x7f; LENGTHS[number % LENGTHS.len()]];
    let is_wanted = |number: usize| number % 3 != 0;
    let coordinator = me.size() - 1;
    if me.rank() == coordinator {
        let mut coordinator = me.slice_coordinator::<u8>(LONGEST)?;
        for number in 1.. {
            let is_commit = coordinator.commit(&bytes(number), PATIENCE)?;
            assert!(!is_commit || is_wanted(number));
            *committed += u64::from(is_commit);
            if !after() {
                break;
            }
        }
        while !coordinator.commit(&[u8::MAX], PATIENCE)? {}
        return Ok(());
    }
    let is_refuser = me.rank() == 0;
    let mut participant = me.slice_participant::<u8>(coordinator, LONGEST)?;
    let (mut number, mut is_over) = (1, false);
    while !is_over {
        let vote = |proposal: &[u8]| proposal == [u8::MAX] || !is_refuser || is_wanted(number);
        let goes_on = participant.serve(vote, |proposal, is_commit| {
            is_over = proposal == [u8::MAX];
            assert!(is_over || proposal == bytes(number), "whole, whether it is applied or not");
            assert!(!is_commit || is_over || is_wanted(number), "nobody applies what one has refused");
            *committed += u64::from(is_commit);
            after();
        })?;
        (number, is_over) = (number + 1, is_over || !goes_on);
    }
    Ok(())
}

/// Members that do not agree on the longest proposal, which takes memory: each gets an error.
fn commit_of_other_lengths(me: &mut Member) -> Result<(), Error> {
    if me.rank() == 0 {
        let mut coordinator = me.slice_coordinator::<u8>(10_000)?;
        while !coordinator.commit(&[1; 10_000], PATIENCE)? {}
    } else {
        let mut participant = me.slice_participant::<u8>(0, 10_001)?;
        participant.serve(|_| true, |_, _| panic!("it is not asked"))?;
    }
    Ok(())
}

/// Opening a commit fails at all members alike, and they go on.
fn commit_without_room(me: &mut Member) {
    let opened = match me.rank() {
        0 => me.slice_coordinator::<u8>(1 << 20).map(drop),
        _ => me.slice_participant::<u8>(0, 1 << 20).map(drop),
    };
    assert!(matches!(opened, Err(Error::Memory(_))), "{opened:?}");
    me.barrier().expect("nobody is lost");
}
