//! The survivors of a failed group form a group again: its members, its operations, and its own failure and shrinking.

use std::sync::{Barrier as Meeting, Mutex};
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Error, Group, Loss, Member, RunError, Shrunk};

use crate::{SIZES, group, one_round};

/// Works until the group fails, and shrinks it.
fn shrunk_after_work(me: &mut Member) -> Shrunk {
    let lost = (1..).find_map(|round| one_round(me, round).err()).expect("there is no end");
    assert!(matches!(lost, Error::MemberLost { .. }), "{lost}");
    let shrunk = me.shrink().expect("the others shrink it too");
    assert_eq!(me.barrier(), Err(lost), "the old group stays failed");
    shrunk
}

/// The message of the member that panics at last.
fn planted(me: &mut Member, rounds: u64) -> ! {
    (1..=rounds).for_each(|round| one_round(me, round).expect("nobody is lost before"));
    panic!("planted");
}

/// Runs `body`, in which all but `lost` members succeed.
fn run_and_lose(group: &Group, lost: usize, body: impl Fn(&mut Member) + Sync) {
    let ended = Mutex::new(0);
    let outcome = group.run(|me| {
        body(me);
        *ended.lock().expect("nobody panics with the lock") += 1;
    });
    match outcome {
        Err(RunError::Panicked { message, .. }) => assert_eq!(message, "planted"),
        other => panic!("somebody panicked, but run said {other:?}"),
    }
    assert_eq!(ended.into_inner().expect("nobody panics with the lock"), group.size() - lost);
}

/// Shrinks a group in which one member panics.
fn one_panics(group: &Group, victim: usize) {
    let members = group.size();
    run_and_lose(group, 1, |me| {
        let rank = me.rank();
        if rank == victim {
            planted(me, 5);
        }
        let mut shrunk = shrunk_after_work(me);
        assert_eq!((shrunk.old_rank, shrunk.gone), (rank, vec![victim]));
        assert_eq!((shrunk.me.rank(), shrunk.me.size()), (rank - usize::from(rank > victim), members - 1));
        assert!(shrunk.completed <= shrunk.highest && shrunk.highest < 7 * 5, "{} operations", shrunk.highest);
        (1..=10).try_for_each(|round| one_round(&mut shrunk.me, round)).expect("the new group is whole");
    });
}

#[test]
fn survivors_of_a_panic_go_on_at_every_size() {
    for members in SIZES.skip(1) {
        for victim in [0, members / 2, members - 1] {
            one_panics(&group(members, |builder| builder), victim);
        }
    }
}

#[test]
fn survivors_go_on_with_every_barrier_and_waiting() {
    for &barrier in Barrier::ALL {
        for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
            one_panics(&group(4, |builder| builder.barrier(barrier).wait(wait)), 1);
        }
    }
}

#[test]
fn a_shrunk_group_can_lose_another_and_shrink_again() {
    for wait in [Wait::Adaptive, Wait::Park] {
        run_and_lose(&group(6, |builder| builder.wait(wait)), 3, |me| {
            let rank = me.rank();
            if rank == 5 {
                planted(me, 3);
            }
            let mut first = shrunk_after_work(me).me;
            if rank == 0 {
                planted(&mut first, 4);
            }
            let mut second = shrunk_after_work(&mut first);
            assert_eq!((second.me.size(), second.gone), (4, vec![0]));
            let mut part = second.me.split(second.me.rank() as u32 % 2, 0).expect("nobody is lost").expect("a color");
            if rank == 4 {
                planted(&mut part, 4);
            }
            if part.rank() == 1 && part.size() == 2 && rank == 2 {
                let mut alone = shrunk_after_work(&mut part);
                assert_eq!((alone.me.size(), alone.gone), (1, vec![1]));
                one_round(&mut alone.me, 1).expect("it is alone");
            }
        });
    }
}

#[test]
fn a_member_that_leaves_the_new_group_before_its_first_operation_is_lost_to_it() {
    run_and_lose(&group(4, |builder| builder), 1, |me| {
        if me.rank() == 2 {
            planted(me, 1);
        }
        let mut shrunk = shrunk_after_work(me);
        if shrunk.me.rank() > 0 {
            let lost = shrunk.me.barrier().expect_err("member 0 has left");
            assert_eq!(lost, Error::MemberLost { rank: 0, loss: Loss::Left });
            let mut again = shrunk.me.shrink().expect("both shrink it");
            assert_eq!((again.gone, again.me.size()), (vec![0], 2));
            one_round(&mut again.me, 1).expect("the newest group is whole");
        }
    });
}

/// Two members of a group that a third has left, which they know.
fn left_by_the_third() -> (Group, [Member; 2]) {
    let group = group(3, |builder| builder);
    let [mut first, mut second, third] = [0, 1, 2].map(|rank| group.join(rank).expect("nobody has joined"));
    drop(third);
    let left = Err(Error::MemberLost { rank: 2, loss: Loss::Left });
    assert_eq!(first.barrier(), left);
    assert_eq!(second.barrier(), left);
    (group, [first, second])
}

#[test]
fn a_late_member_is_named_and_may_come_later() {
    let (_group, [mut first, mut second]) = left_by_the_third();
    for _ in 0..2 {
        match first.shrink_timeout(Duration::from_millis(1)) {
            Err(Error::Timeout { missing }) => assert_eq!(missing.ranks().collect::<Vec<_>>(), [1]),
            other => panic!("member 1 has not come: {other:?}"),
        }
    }
    let mut theirs = second.shrink().expect("the other one waits, as far as it knows");
    let mut ours = first.shrink_timeout(Duration::from_secs(60)).expect("all have come");
    assert_eq!((&ours.gone, &theirs.gone), (&vec![2], &vec![2]));
    std::thread::scope(|scope| {
        scope.spawn(|| one_round(&mut theirs.me, 1).expect("nobody is lost"));
        one_round(&mut ours.me, 1).expect("nobody is lost");
    });
    assert!(matches!(first.shrink(), Err(Error::AlreadyJoined { rank: 0 })), "it is there already");
    drop((first, second));
    std::thread::scope(|scope| {
        scope.spawn(|| one_round(&mut theirs.me, 2).expect("to leave the old group is no loss to the new one"));
        one_round(&mut ours.me, 2).expect("nobody is lost");
    });
}

#[test]
fn a_member_that_leaves_instead_of_coming_is_lost_to_the_new_group() {
    let (_group, [mut first, mut second]) = left_by_the_third();
    assert!(first.shrink_timeout(Duration::ZERO).is_err(), "member 1 has not come");
    drop(first);
    let mut shrunk = second.shrink().expect("the other one said that it stays");
    assert_eq!((shrunk.me.rank(), shrunk.me.size()), (1, 2));
    assert_eq!(shrunk.me.barrier(), Err(Error::MemberLost { rank: 0, loss: Loss::Left }));
    let mut alone = shrunk.me.shrink().expect("nobody else is left");
    assert_eq!((alone.me.size(), alone.gone), (1, vec![0]));
    one_round(&mut alone.me, 1).expect("it is alone");
}

#[test]
fn a_group_that_nobody_was_lost_to_can_be_shrunk_to_all_of_it() {
    let results = group(3, |builder| builder).run(|me| {
        let lost = match me.rank() {
            0 => me.broadcast(0, &mut 2u8).and_then(|()| me.barrier()),
            _ => me.broadcast(0, &mut 1i8).and_then(|()| me.barrier()),
        };
        assert_eq!(lost, Err(Error::MemberLost { rank: 0, loss: Loss::Mismatched }));
        let mut shrunk = me.shrink()?;
        assert_eq!((shrunk.me.rank(), shrunk.gone), (me.rank(), vec![]));
        one_round(&mut shrunk.me, 1)
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 3]);
}

#[test]
fn a_group_that_has_not_failed_is_not_shrunk() {
    let results = group(2, |builder| builder).run(|me| {
        assert!(matches!(me.shrink(), Err(Error::NotFailed)));
        me.barrier()
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 2]);
}

#[test]
fn survivors_learn_what_others_have_completed() {
    let failed = Meeting::new(2);
    let results = group(3, |builder| builder.shape("sequential")).run(|me| {
        me.barrier()?;
        if me.rank() == 2 {
            return Ok((0, 0));
        }
        if me.rank() == 0 {
            // Two that the root completes by itself, and one that fails.
            me.broadcast(0, &mut ())?;
            me.broadcast(0, &mut ())?;
            me.barrier().expect_err("member 2 has left");
            failed.wait();
        } else {
            failed.wait();
            me.broadcast(0, &mut ()).expect_err("the group has failed");
        }
        me.shrink().map(|shrunk| (shrunk.completed, shrunk.highest))
    });
    assert_eq!(results.expect("nobody panics"), [Ok((3, 3)), Ok((1, 3)), Ok((0, 0))]);
}

#[test]
fn a_slice_of_another_length_is_no_operation_completed() {
    let results = group(2, |builder| builder).run(|me| {
        me.barrier()?;
        let mut values = vec![0u8; 1 + me.rank()];
        me.allreduce_slice(&mut values, |a, b| a + b).expect_err("they differ");
        me.shrink().map(|shrunk| (shrunk.completed, shrunk.gone.len(), shrunk.me.size()))
    });
    assert_eq!(results.expect("nobody panics"), [Ok((1, 0, 2)); 2]);
}

#[test]
fn an_object_that_was_opened_is_complete_whatever_happens_to_it() {
    let group = group(3, |builder| builder);
    let opened = Meeting::new(3);
    run_and_lose(&group, 1, |me| {
        me.barrier().expect("nobody is lost before");
        let limit = Duration::from_millis(20);
        match me.rank() {
            0 => {
                let mut coordinator = me.coordinator::<u64>().expect("nobody is lost before");
                opened.wait();
                while !matches!(coordinator.commit(&1, limit), Err(Error::MemberLost { .. })) {}
            }
            1 => {
                let mut participant = me.participant::<u64>(0).expect("nobody is lost before");
                opened.wait();
                while participant.serve(|_| true, |_, _| ()).is_ok() {}
            }
            _ => {
                let _participant = me.participant::<u64>(0).expect("nobody is lost before");
                opened.wait();
                panic!("planted");
            }
        }
        let shrunk = me.shrink().expect("both are left");
        assert_eq!((shrunk.completed, shrunk.highest), (2, 2), "a barrier, and opening the object");
    });
}
