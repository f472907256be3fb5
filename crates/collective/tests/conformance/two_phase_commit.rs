//! A proposal is applied by all or by none, even if a member refuses, is late or is lost.

use corecast_base::sync::{AtomicBool, Ordering::SeqCst};
use std::sync::Mutex;
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_collective::{Error, Loss, RunError};

use crate::{SIZES, group};

const MOMENT: Duration = Duration::from_millis(1);
const EVER: Duration = Duration::MAX;

/// The outcome of each proposal at one member.
type Outcomes = Vec<(u64, bool)>;

#[test]
fn all_apply_what_nobody_refuses() {
    for members in SIZES {
        for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
            let group = group(members, |builder| builder.wait(wait));
            let results = group.run(|me| {
                let (rank, first) = (me.rank() as u64, members / 2);
                let mut random = fastrand::Rng::with_seed(rank);
                let mut outcomes = Outcomes::new();
                if me.rank() == first {
                    let mut coordinator = me.coordinator::<u64>()?;
                    for number in 0..200 {
                        outcomes.push((number, coordinator.commit(&number, EVER)?));
                    }
                } else {
                    let mut participant = me.participant::<u64>(first)?;
                    let accepts = |number: &u64| number % 16 != rank;
                    while participant.serve(accepts, |number, is_commit| outcomes.push((*number, is_commit)))? {
                        (0..random.u32(0..3)).for_each(|_| std::thread::yield_now());
                    }
                }
                me.barrier()?;
                Ok::<_, Error>(outcomes)
            });
            let others = (0..members as u64).filter(|&rank| rank != members as u64 / 2);
            let refused: Vec<u64> = others.collect();
            let expected: Outcomes = (0..200).map(|number| (number, !refused.contains(&(number % 16)))).collect();
            for outcomes in results.expect("nobody panics") {
                let outcomes = outcomes.expect("nobody is lost");
                assert_eq!(outcomes, expected, "every proposal reaches every member");
            }
        }
    }
}

#[test]
fn a_late_participant_makes_it_abort_and_learns_so() {
    let group = group(3, |builder| builder);
    let is_awake = AtomicBool::new(false);
    let results = group.run(|me| {
        let mut outcomes = Outcomes::new();
        let rank = me.rank();
        if rank == 0 {
            let mut coordinator = me.coordinator::<u64>()?;
            for number in 0..70 {
                assert_eq!(coordinator.commit(&number, MOMENT), Ok(false), "member 2 sleeps");
            }
            is_awake.store(true, SeqCst);
            assert_eq!(coordinator.commit(&70, EVER), Ok(true));
            return Ok(outcomes);
        }
        let mut participant = me.participant::<u64>(0)?;
        while rank == 2 && !is_awake.load(SeqCst) {
            std::thread::yield_now();
        }
        while participant.serve(|_| true, |number, is_commit| outcomes.push((*number, is_commit)))? {}
        Ok::<_, Error>(outcomes)
    });
    let results = results.expect("nobody panics");
    assert_eq!(results[2], Ok(vec![(0, false), (70, true)]), "sent one, and no more before it voted");
    let other = results[1].as_ref().expect("nobody is lost");
    assert!(other.iter().all(|&(number, is_commit)| is_commit == (number == 70)), "{other:?}");
}

#[test]
fn a_member_that_panics_while_voting_has_not_voted() {
    let group = group(4, |builder| builder);
    let applied = Mutex::new(Vec::new());
    let outcome = group.run(|me| match me.rank() {
        0 => {
            let mut coordinator = me.coordinator::<u64>()?;
            assert_eq!(coordinator.commit(&1, EVER), Ok(false));
            Ok(())
        }
        rank => {
            let mut participant = me.participant::<u64>(0)?;
            let vote = |_: &u64| if rank == 3 { panic!("planted") } else { true };
            participant.serve(vote, |_, is_commit| applied.lock().expect("no panic").push(is_commit)).map(drop)
        }
    });
    assert!(matches!(outcome, Err(RunError::Panicked { rank: 3, .. })), "{outcome:?}");
    let applied = applied.into_inner().expect("nobody panics with the lock");
    assert!(applied.iter().all(|&is_commit| !is_commit), "{applied:?}");
}

#[test]
fn a_coordinator_that_is_lost_is_told_by_name() {
    let group = group(3, |builder| builder);
    let outcome = group.run(|me| {
        if me.rank() == 0 {
            let mut coordinator = me.coordinator::<u64>().expect("nobody is lost");
            assert_eq!(coordinator.commit(&1, EVER), Ok(true));
            panic!("planted");
        }
        let mut participant = me.participant::<u64>(0).expect("nobody is lost");
        assert_eq!(participant.serve(|_| true, |_, is_commit| assert!(is_commit)), Ok(true));
        let lost = participant.serve(|_| true, |_, _| panic!("there is no proposal"));
        // Its edge may be found closed before the group is found failed.
        let panicked = Err(Error::MemberLost { rank: 0, loss: Loss::Panicked });
        assert!(lost == panicked || lost == Ok(false), "{lost:?}");
    });
    assert!(matches!(outcome, Err(RunError::Panicked { rank: 0, .. })), "{outcome:?}");
}

#[test]
fn nothing_is_committed_without_those_who_ended() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| match me.rank() {
        0 => {
            let mut coordinator = me.coordinator::<u64>()?;
            let mut commits = 0;
            for number in 0..200 {
                commits += u32::from(coordinator.commit(&number, EVER)?);
            }
            Ok(commits)
        }
        rank => {
            let mut participant = me.participant::<u64>(0)?;
            let mut served = 0;
            while (rank == 1 || served < 5) && participant.serve(|_| true, |_, _| {})? {
                served += 1;
            }
            Ok::<_, Error>(5)
        }
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(5); 3]);
}

#[test]
fn commits_between_members_that_cannot_be_are_refused() {
    let group = group(2, |builder| builder);
    let mut me = group.join(0).expect("nobody has joined");
    for rank in [0, 2] {
        assert_eq!(me.participant::<u8>(rank).map(drop), Err(Error::BadRank { rank, members: 2 }));
    }
}

#[test]
fn commits_and_other_operations_take_turns() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        for round in 0..20u64 {
            let first = round as usize % 3;
            if me.rank() == first {
                assert_eq!(me.coordinator::<u64>()?.commit(&round, EVER), Ok(true));
            } else {
                let mut participant = me.participant::<u64>(first)?;
                assert!(participant.serve(|_| true, |number, is_commit| assert!(is_commit && *number == round))?);
            }
            assert_eq!(me.allreduce(1, |a: u32, b| a + b)?, 3);
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 3]);
}
