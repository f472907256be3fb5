//! Parts of a group of processes: their operations, the room they take, and their fate when a member is killed.

use std::time::Duration;

use corecast_base::ArenaError;
use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Error, Member};
use corecast_testing::actor::{Actor, say};

use crate::founding;
use crate::roles;
use crate::work::one_round;

/// Works in parts, a part of a part, and the whole in turns.
pub(crate) fn split(me: &mut Member) -> Result<(), Error> {
    let (rank, members) = (me.rank(), me.size());
    let mut reversed = me.split(0, -(rank as i64))?.expect("a color");
    assert_eq!((reversed.rank(), reversed.size()), (members - 1 - rank, members));
    let mut halves = reversed.split(rank as u32 % 2, 0)?.expect("a color");
    assert_eq!(halves.size(), (members + 1 - rank % 2) / 2);
    let mut others = me.split((rank > 0).then_some(1), 0)?;
    assert_eq!(others.as_ref().map(Member::size), (rank > 0).then_some(members - 1));
    for round in 1..=4 {
        one_round(&mut halves, round)?;
        one_round(me, round)?;
        others.iter_mut().try_for_each(|others| one_round(others, round))?;
        one_round(&mut reversed, round)?;
    }
    me.barrier()
}

/// Splits until there is no room; prints the error, and the number of parts by then.
pub(crate) fn split_until_full(me: &mut Member) -> String {
    let mut parts = Vec::new();
    let full = loop {
        match me.split(me.rank() as u32 % 2, 0) {
            Ok(part) => parts.extend(part),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Memory(ArenaError::Full { .. })), "{full}");
    one_round(me, 1).expect("the group is as it was");
    parts.iter_mut().for_each(|part| one_round(part, 1).expect("so is each part"));
    assert!(me.split(None, 0).expect("that takes no room").is_none());
    me.barrier().expect("nobody has left");
    format!("{full}, after {}", parts.len())
}

/// Works in a part by parity and in the whole until one of them fails; prints the results of the whole and of the part.
pub(crate) fn split_and_work_for_ever(me: &mut Member) {
    let mut part = me.split(me.rank() as u32 % 2, 0).expect("nobody is lost").expect("a color");
    say("begun");
    let mut work = || {
        // All members of a part hear in the same operation that the whole has failed at one of them.
        while part.allreduce(u8::from(me.barrier().is_err()), u8::max)? == 0 {}
        (1..=20).try_for_each(|round| one_round(&mut part, round))
    };
    let told = work().map_or_else(|error| error.to_string(), |()| "works".to_owned());
    say(&format!("{}; {told}", me.barrier().expect_err("somebody is killed")));
}

#[test]
fn parts_work_among_two_to_five_by_every_barrier() {
    for (line, &barrier) in Barrier::ALL.iter().enumerate() {
        let members = 2 + line % 4;
        let founding = founding(members, |builder| builder.barrier(barrier));
        roles::start_all("split", &founding).into_iter().for_each(Actor::dismiss);
    }
    for wait in [Wait::Yield, Wait::Park] {
        let founding = founding(4, |builder| builder.wait(wait).shape("binary"));
        roles::start_all("split", &founding).into_iter().for_each(Actor::dismiss);
    }
}

#[test]
fn a_room_that_is_used_up_is_told_to_all_alike() {
    for room in [0, 1 << 20] {
        let founding = founding(3, |builder| builder.room_bytes(room));
        let mut actors = roles::start_all("split until full", &founding);
        let told: Vec<String> = actors.iter_mut().map(Actor::hear).collect();
        assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
        let parts: usize = told[0].rsplit(' ').next().expect("a word").parse().expect("a number");
        assert_eq!(parts == 0, room == 0, "{}", told[0]);
        actors.into_iter().for_each(Actor::dismiss);
    }
}

#[test]
fn a_killed_member_is_lost_to_its_part_and_the_whole_and_to_no_other_part() {
    let seed = 0x5eed_0003;
    let mut random = fastrand::Rng::with_seed(seed);
    for wait in [Wait::Adaptive, Wait::Yield, Wait::Park, Wait::Adaptive] {
        let founding = founding(4, |builder| builder.wait(wait));
        let mut actors = roles::start_all("split and work for ever", &founding);
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "begun"));
        std::thread::sleep(Duration::from_micros(random.u64(0..3000)));
        actors.pop().expect("four").kill();
        for (rank, mut survivor) in actors.into_iter().enumerate() {
            let told = survivor.hear();
            let expected = if rank == 1 { "member 1 died" } else { "works" };
            assert!(told.ends_with(&format!("died; {expected}")), "{rank}: {told}, {wait}, seed {seed:#x}");
            survivor.dismiss();
        }
    }
}
