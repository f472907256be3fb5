//! Proposals of any length: whole at every participant, applied by all or by none.

use corecast_base::ArenaError;
use corecast_base::sync::{AtomicBool, Ordering::SeqCst};
use std::sync::Mutex;
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_collective::{Error, Loss, Plain, RunError};

use crate::group;

const MOMENT: Duration = Duration::from_millis(1);
const EVER: Duration = Duration::MAX;
/// Nothing, the shortest, both sides of what goes in a message, one piece, some pieces, and an odd end.
const LENGTHS: [usize; 8] = [0, 1, 504, 505, 4096, 100_000, 1 << 20, (1 << 20) - 3];
const LONGEST: usize = 1 << 20;

/// The bytes of a proposal, which no other one has.
fn proposal(number: usize, len: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(0x5eed_0017 + number as u64);
    let mut bytes = vec![number as u8; len];
    random.fill(&mut bytes);
    bytes
}

#[test]
fn slices_of_every_length_are_whole_also_where_one_refuses_them() {
    let proposals: Vec<Vec<u8>> = (0..3 * LENGTHS.len()).map(|n| proposal(n, LENGTHS[n % LENGTHS.len()])).collect();
    // Each length is refused once, by the last member.
    let is_refused = |number: usize| number / LENGTHS.len() == 1;
    for (members, wait) in [(1, Wait::Adaptive), (2, Wait::Yield), (3, Wait::Park), (5, Wait::Adaptive)] {
        let group = group(members, |builder| builder.wait(wait));
        let results = group.run(|me| {
            let (rank, root) = (me.rank(), members / 2);
            if rank == root {
                let mut coordinator = me.slice_coordinator::<u8>(LONGEST)?;
                for (number, bytes) in proposals.iter().enumerate() {
                    let is_commit = coordinator.commit(bytes, EVER)?;
                    assert_eq!(is_commit, members == 1 || !is_refused(number), "{number} of {members}");
                }
            } else {
                let mut participant = me.slice_participant::<u8>(root, LONGEST)?;
                let refuser = if root + 1 == members { 0 } else { members - 1 };
                for (number, expected) in proposals.iter().enumerate() {
                    let vote = |bytes: &[u8]| {
                        assert!(bytes == expected, "{number} of {members} before the vote");
                        rank != refuser || !is_refused(number)
                    };
                    let apply = |bytes: &[u8], is_commit| {
                        assert!(bytes == expected, "{number} of {members} after the decision");
                        assert_eq!(is_commit, !is_refused(number));
                    };
                    assert_eq!(participant.serve(vote, apply), Ok(true));
                }
                assert_eq!(participant.serve(|_| true, |_, _| panic!("there is no other")), Ok(false));
            }
            me.barrier()
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

/// Commits some values of a fixed type.
fn commit_values<T: Plain + PartialEq>(values: &[T]) {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 0 {
            let mut coordinator = me.coordinator::<T>()?;
            for value in values {
                assert_eq!(coordinator.commit(value, EVER), Ok(true));
            }
        } else {
            let mut participant = me.participant::<T>(0)?;
            for expected in values {
                let is_whole = |value: &T| value == expected;
                assert_eq!(
                    participant.serve(is_whole, |value, is_commit| assert!(is_commit && is_whole(value))),
                    Ok(true)
                );
            }
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 3]);
}

#[test]
fn values_of_every_size() {
    commit_values(&[(); 3]);
    commit_values(&[1u8, 2, 3]);
    commit_values(&[[4u8; 504], [5; 504]]);
    commit_values(&[[4u8; 505], [5; 505], [6; 505]]);
    commit_values(&[[7u64; 512], [8; 512]]);
    // Larger than a piece.
    commit_values(&[[9u16; 20_000], [10; 20_000], [11; 20_000]]);
}

#[test]
fn slices_of_no_size_have_a_length() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 0 {
            let mut coordinator = me.slice_coordinator::<()>(usize::MAX)?;
            assert_eq!(coordinator.commit(&[(); 7], EVER), Ok(true));
        } else {
            let mut participant = me.slice_participant::<()>(0, usize::MAX)?;
            assert_eq!(participant.serve(|units| units.len() == 7, |_, is_commit| assert!(is_commit)), Ok(true));
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 2]);
}

/// The late one keeps one of two areas; the others go on with the other one.
#[test]
fn a_late_participant_reads_what_it_was_sent_while_others_go_on() {
    let group = group(3, |builder| builder);
    let is_awake = AtomicBool::new(false);
    let results = group.run(|me| {
        let mut outcomes = Vec::new();
        let rank = me.rank();
        if rank == 0 {
            let mut coordinator = me.slice_coordinator::<u8>(100_000)?;
            for number in 0..70 {
                assert_eq!(coordinator.commit(&proposal(number, 100_000), MOMENT), Ok(false), "member 2 sleeps");
            }
            is_awake.store(true, SeqCst);
            assert_eq!(coordinator.commit(&proposal(70, 90_000), EVER), Ok(true));
            return Ok(outcomes);
        }
        let mut participant = me.slice_participant::<u8>(0, 100_000)?;
        while rank == 2 && !is_awake.load(SeqCst) {
            std::thread::yield_now();
        }
        let mut apply = |bytes: &[u8], is_commit| {
            let found = (0..=70).find(|&number| proposal(number, bytes.len()) == bytes);
            outcomes.push((found.expect("it is whole"), is_commit));
        };
        while participant.serve(|_| true, &mut apply)? {}
        Ok::<_, Error>(outcomes)
    });
    let results = results.expect("nobody panics");
    assert_eq!(results[2], Ok(vec![(0, false), (70, true)]), "sent one, and no more before it voted");
    let other = results[1].as_ref().expect("nobody is lost");
    assert!(other.iter().all(|&(number, is_commit)| is_commit == (number == 70)), "{other:?}");
    assert!(other.is_sorted_by(|a, b| a.0 < b.0), "{other:?}");
}

#[test]
fn a_member_that_panics_while_voting_on_a_long_one_has_not_voted() {
    let group = group(4, |builder| builder);
    let applied = Mutex::new(Vec::new());
    let outcome = group.run(|me| match me.rank() {
        0 => {
            let mut coordinator = me.slice_coordinator::<u8>(LONGEST)?;
            assert_eq!(coordinator.commit(&proposal(1, LONGEST), EVER), Ok(false));
            Ok(())
        }
        rank => {
            let mut participant = me.slice_participant::<u8>(0, LONGEST)?;
            let vote = |_: &[u8]| if rank == 3 { panic!("planted") } else { true };
            participant.serve(vote, |_, is_commit| applied.lock().expect("no panic").push(is_commit)).map(drop)
        }
    });
    assert!(matches!(outcome, Err(RunError::Panicked { rank: 3, .. })), "{outcome:?}");
    let applied = applied.into_inner().expect("nobody panics with the lock");
    assert!(applied.iter().all(|&is_commit| !is_commit), "{applied:?}");
}

#[test]
fn participants_that_end_leave_the_area_to_others() {
    let group = group(4, |builder| builder);
    let results = group.run(|me| {
        let rank = me.rank();
        if rank == 0 {
            let mut coordinator = me.slice_coordinator::<u8>(4096)?;
            for number in 0..20 {
                let bytes = proposal(number, 4096 - number);
                while coordinator.commit(&bytes, EVER)? != (number < 1) {}
            }
            return Ok(());
        }
        // Members 1 and 2 end after one and three proposals.
        let mut participant = me.slice_participant::<u8>(0, 4096)?;
        let mut number = 0;
        while rank == 3 || number < 2 * rank - 1 {
            let is_whole = |bytes: &[u8]| bytes == proposal(number, 4096 - number);
            if !participant.serve(is_whole, |bytes, _| assert!(is_whole(bytes)))? {
                break;
            }
            number += 1;
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 4]);
}

#[test]
fn a_slice_that_is_too_long_is_refused_and_nobody_hears_of_it() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 0 {
            let mut coordinator = me.slice_coordinator::<u16>(1000)?;
            assert_eq!(coordinator.commit(&[1; 1001], EVER), Err(Error::TooLong { values: 1001, most: 1000 }));
            assert_eq!(coordinator.commit(&[2; 1000], EVER), Ok(true));
        } else {
            let mut participant = me.slice_participant::<u16>(0, 1000)?;
            assert_eq!(participant.serve(|values| values == [2; 1000], |_, is_commit| assert!(is_commit)), Ok(true));
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 2]);
}

#[test]
fn members_that_mean_other_lengths_are_told_so() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 0 {
            let mut coordinator = me.slice_coordinator::<u8>(100)?;
            assert_eq!(coordinator.commit(&[1], EVER), Ok(false));
        } else {
            let mut participant = me.slice_participant::<u8>(0, 101)?;
            participant.serve(|_| true, |_, _| panic!("it is not asked"))?;
        }
        me.barrier()
    });
    let lost = Err(Error::MemberLost { rank: 0, loss: Loss::OtherLength });
    assert_eq!(results.expect("nobody panics"), vec![lost; 2]);
}

#[test]
fn what_no_memory_holds_is_refused() {
    let group = group(1, |builder| builder);
    let mut me = group.join(0).expect("nobody has joined");
    for longest in [usize::MAX, usize::MAX / 2, 1 << 60] {
        let refused = me.slice_coordinator::<u8>(longest).map(drop);
        assert!(matches!(refused, Err(Error::Memory(ArenaError::Full { .. }))), "{refused:?}");
    }
    assert_eq!(me.slice_coordinator::<u8>(1000).map(drop), Ok(()));
}
