//! Slices, gathered and scattered values that are started, polled, given limits and gone on with arrive as plain ones do.

use std::time::Duration;

use corecast_base::sync::{AtomicUsize, Ordering::SeqCst};
use corecast_base::wait::Wait;
use corecast_collective::{Error, Loss, Member, Order, Started};

use crate::{SIZES, group};

const MOMENT: Duration = Duration::from_millis(1);

/// Nothing, one message, a few, and more than an edge holds.
const LENGTHS: [usize; 6] = [0, 1, 63, 64, 1000, 30_000];

/// The values of member `rank`; `salt` differs from operation to operation.
fn given(len: usize, rank: usize, salt: usize) -> Vec<u64> {
    (0..len).map(|i| (i * (rank + 1) + salt) as u64).collect()
}

fn total(len: usize, members: usize, salt: usize) -> Vec<u64> {
    (0..len).map(|i| (i * members * (members + 1) / 2 + salt * members) as u64).collect()
}

fn is_timeout<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Timeout { .. }))
}

#[test]
fn slices_are_gone_on_with_after_a_limit() {
    for members in 2..=5 {
        for (late, len) in LENGTHS.map(|len| [(0, len), (members - 1, len)]).concat() {
            let group = group(members, |builder| builder);
            let timed_out = AtomicUsize::new(0);
            let results = group.run(|me| {
                let is_late = me.rank() == late;
                while is_late && timed_out.load(SeqCst) < members - 1 {
                    std::thread::yield_now();
                }
                let mut values = given(len, me.rank(), 7);
                let mut started = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
                if !is_late {
                    for _ in 0..3 {
                        let early = started.finish_timeout(MOMENT);
                        assert!(is_timeout(&early), "one has not come: {early:?}");
                    }
                    timed_out.fetch_add(1, SeqCst);
                }
                started.finish()?;
                assert!(values == total(len, members, 7), "{len} values of {members}, {late} late");
                me.barrier()
            });
            assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
        }
    }
}

/// Until it is finished, with limits that have passed at once.
fn interrupted<T>(mut started: Started<'_, T>, limits: &mut usize) -> Result<T, Error> {
    loop {
        match started.finish_timeout(Duration::ZERO) {
            Err(Error::Timeout { .. }) => *limits += 1,
            result => return result,
        }
        std::thread::yield_now();
    }
}

#[test]
fn slices_that_are_interrupted_again_and_again_arrive_whole() {
    for members in SIZES {
        // A member that polls or yields before looking at the time would seldom see it pass.
        let group = group(members, |builder| builder.wait(Wait::Park));
        let results = group.run(|me| {
            let (rank, mut limits) = (me.rank(), 0);
            for (round, len) in LENGTHS.into_iter().cycle().take(12).enumerate() {
                let root = round % members;
                let mut values = if rank == root { given(len, root, round) } else { vec![u64::MAX; len] };
                interrupted(me.start().broadcast_slice(root, &mut values)?, &mut limits)?;
                assert!(values == given(len, root, round), "broadcast of {len} from {root} of {members}");
                let mut values = given(len, rank, round);
                interrupted(me.start().reduce_slice(root, &mut values, |a, b| a + b)?, &mut limits)?;
                assert!(rank != root || values == total(len, members, round), "reduction of {len} to {root}");
                let mut values = given(len, rank, round);
                interrupted(me.start().allreduce_slice(&mut values, |a, b| a + b)?, &mut limits)?;
                assert!(values == total(len, members, round), "allreduce of {len} among {members}");
                let ranks = interrupted(me.start().gather(root, rank)?, &mut limits)?;
                assert_eq!(ranks, (rank == root).then(|| (0..members).collect()));
                let all = given(members, 2, round);
                let own = interrupted(me.start().scatter(root, (rank == root).then_some(&all[..]))?, &mut limits)?;
                assert_eq!(own, all[rank]);
                let mine = given(len + rank, rank, round);
                let slices = interrupted(me.start().gather_slice(root, &mine)?, &mut limits)?;
                let theirs: Vec<_> = (0..members).map(|rank| given(len + rank, rank, round)).collect();
                assert!(slices == (rank == root).then_some(theirs), "gather of {len} to {root} of {members}");
                let all = given(members * len, 2, round);
                let mut own = vec![u64::MAX; len];
                let parts = (rank == root).then_some(&all[..]);
                interrupted(me.start().scatter_slice(root, parts, &mut own)?, &mut limits)?;
                assert!(own == all[rank * len..][..len], "scatter of {len} from {root} of {members}");
            }
            Ok::<_, Error>(limits)
        });
        let limits: Result<Vec<usize>, Error> = results.expect("nobody panics").into_iter().collect();
        let limits = limits.expect("nobody is lost");
        assert!(members == 1 || limits.iter().sum::<usize>() > 0, "limits have passed: {limits:?}");
    }
}

#[test]
fn plain_limits_that_suffice_change_nothing() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        let rank = me.rank();
        let mut values = given(1000, rank, 1);
        me.start().allreduce_slice(&mut values, |a, b| a + b)?.finish_timeout(Duration::MAX)?;
        assert!(values == total(1000, 3, 1));
        me.start().broadcast_slice(1, &mut values[rank..rank + 900])?.finish_timeout(Duration::MAX)?;
        assert!(values[rank..rank + 900] == total(1000, 3, 1)[1..901], "the values of member 1");
        let mut values = given(1000, rank, 2);
        me.start().reduce_slice(2, &mut values, |a, b| a + b)?.finish_timeout(Duration::MAX)?;
        assert!(rank != 2 || values == total(1000, 3, 2));
        assert_eq!(me.start().gather(0, rank)?.finish_timeout(Duration::MAX)?, (rank == 0).then(|| vec![0, 1, 2]));
        let slices = me.start().gather_slice(1, &values[..rank])?.finish_timeout(Duration::MAX)?;
        assert!(rank != 1 || slices.is_some_and(|slices| slices.iter().map(Vec::len).eq([0, 1, 2])));
        let (all, mut own) = ([1, 2, 3, 4, 5, 6], [0; 2]);
        me.start().scatter_slice(2, (rank == 2).then_some(&all[..]), &mut own)?.finish_timeout(Duration::MAX)?;
        assert_eq!(own, all[2 * rank..][..2]);
        me.start()
            .scatter(0, (rank == 0).then_some(&[5, 6, 7]))
            .and_then(|mut started| started.finish_timeout(Duration::MAX))
    });
    assert_eq!(results.expect("nobody panics"), [Ok(5), Ok(6), Ok(7)]);
}

#[test]
fn one_thread_polls_all_members_through_slices() {
    for (members, len) in SIZES.flat_map(|members| LENGTHS.map(|len| (members, len))) {
        let group = group(members, |builder| builder);
        let mut all: Vec<Member> = (0..members).map(|rank| group.join(rank).expect("nobody has joined")).collect();
        for round in 0..3 {
            let mut values: Vec<Vec<u64>> = (0..members).map(|rank| given(len, rank, round)).collect();
            let start = |(me, values)| {
                let me: &mut Member = me;
                let values: &mut Vec<u64> = values;
                me.start().allreduce_slice(values, |a, b| a + b).expect("nobody is lost")
            };
            let mut started: Vec<_> = all.iter_mut().zip(&mut values).map(start).collect();
            let mut poll_all =
                || started.iter_mut().fold(true, |all, one| all & one.try_finish().expect("nobody is lost"));
            assert!((0..100_000).any(|_| poll_all()), "all have come");
            drop(started);
            assert!(values.iter().all(|values| *values == total(len, members, round)), "{len} values of {members}");
        }
    }
}

#[test]
fn a_late_root_of_a_scatter_and_a_late_leaf_of_a_gather() {
    let group = group(3, |builder| builder.shape("sequential"));
    let mut all: Vec<Member> = (0..3).map(|rank| group.join(rank).expect("nobody has joined")).collect();
    for round in 0..10 {
        let [first, second, third] = &mut all[..] else { panic!("three members") };
        let mut waits = [
            first.start().scatter::<usize>(2, None).expect("nobody is lost"),
            second.start().scatter::<usize>(2, None).expect("nobody is lost"),
        ];
        assert!(waits.iter_mut().all(|wait| is_timeout(&wait.finish_timeout(Duration::ZERO))));
        let root = third.start().scatter(2, Some(&[round, round + 1, round + 2])).expect("nobody is lost");
        assert_eq!(root.finish(), Ok(round + 2), "a root waits for nobody");
        assert!((0..1000).any(|_| waits.iter_mut().all(|wait| wait.try_finish() == Ok(true))));
        assert_eq!(waits.map(Started::finish), [Ok(round), Ok(round + 1)]);

        let mut root = first.start().gather(0, round).expect("nobody is lost");
        let mut second = second.start().gather(0, round + 1).expect("nobody is lost");
        assert!(is_timeout(&root.finish_timeout(Duration::ZERO)), "two are late");
        let third = third.start().gather(0, round + 2).expect("nobody is lost");
        assert_eq!(third.finish(), Ok(None), "a member below all others waits for nobody");
        assert!((0..1000).any(|_| second.try_finish() == Ok(true) && root.try_finish() == Ok(true)));
        assert_eq!(second.finish(), Ok(None));
        assert_eq!(root.finish(), Ok(Some(vec![round, round + 1, round + 2])));
    }
}

#[test]
fn started_limited_and_plain_gathers_and_scatters_of_slices_meet() {
    let group = group(5, |builder| builder.shape("binary"));
    let results = group.run(|me| {
        let (rank, members) = (me.rank(), me.size());
        for (round, len) in LENGTHS.into_iter().enumerate() {
            let root = round % members;
            let mine = given(len, rank, round);
            let slices = match (rank + round) % 3 {
                0 => me.gather_slice(root, &mine)?,
                1 => me.start().gather_slice(root, &mine)?.finish_timeout(Duration::MAX)?,
                _ => me.start().gather_slice(root, &mine)?.finish()?,
            };
            let theirs: Vec<_> = (0..members).map(|rank| given(len, rank, round)).collect();
            assert!(slices == (rank == root).then_some(theirs), "gather of {len} to {root}");
            let all = given(members * len, 2, round);
            let (parts, mut own) = ((rank == root).then_some(&all[..]), vec![u64::MAX; len]);
            match (rank + round) % 3 {
                0 => me.scatter_slice(root, parts, &mut own)?,
                1 => me.start().scatter_slice(root, parts, &mut own)?.finish_timeout(Duration::MAX)?,
                _ => me.start().scatter_slice(root, parts, &mut own)?.finish()?,
            }
            assert!(own == all[rank * len..][..len], "scatter of {len} from {root}");
        }
        Ok::<_, Error>(())
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 5]);
}

#[test]
fn slices_that_cannot_be_started_are_refused_and_harm_nobody() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        let large = Err(Error::TooLarge { bytes: 505, most: 504 });
        let values = &mut [[0u8; 505]; 2];
        assert_eq!(me.start().broadcast_slice(0, values).map(drop), large);
        assert_eq!(
            me.start().reduce_slice(0, values, |a, _| a).and_then(|mut started| started.finish_timeout(MOMENT)),
            large
        );
        assert_eq!(
            me.start().allreduce_slice(values, |a, _| a).and_then(|mut started| started.finish_timeout(MOMENT)),
            large
        );
        assert_eq!(
            me.start().gather(0, values[0]).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
            large
        );
        assert_eq!(
            me.start().scatter(0, Some(&values[..])).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
            large
        );
        assert_eq!(
            me.start().gather_slice(0, values).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
            large
        );
        assert_eq!(
            me.start().scatter_slice(0, None, values).and_then(|mut started| started.finish_timeout(MOMENT)),
            large
        );
        let nobody = Err(Error::BadRank { rank: 2, members: 2 });
        assert_eq!(me.start().broadcast_slice(2, &mut [0]).map(drop), nobody);
        assert_eq!(me.start().reduce_slice(2, &mut [0], |a, _| a).map(drop), nobody);
        assert_eq!(me.start().gather(2, 0).map(drop), nobody);
        assert_eq!(me.start().scatter(2, Some(&[0])).map(drop), nobody);
        assert_eq!(me.start().gather_slice(2, &[0]).map(drop), nobody);
        assert_eq!(me.start().scatter_slice(2, Some(&[0]), &mut []).map(drop), nobody);
        if me.rank() == 0 {
            assert_eq!(me.start().scatter(0, Some(&[0])).map(drop), Err(Error::WrongCount { values: 1, members: 2 }));
            assert_eq!(me.start().scatter::<u8>(0, None).map(drop), Err(Error::WrongCount { values: 0, members: 2 }));
            let wrong = Err(Error::WrongCount { values: 3, members: 2 });
            assert_eq!(me.start().scatter_slice(0, Some(&[0; 3]), &mut [0; 2]).map(drop), wrong);
        }
        me.start()
            .allreduce_slice(&mut [[1u8; 504]; 2], |a, _| a)
            .and_then(|mut started| started.finish_timeout(Duration::MAX))
    });
    assert_eq!(results.expect("nobody panics"), [Ok(()); 2]);
}

#[test]
fn another_length_is_told_to_members_that_poll() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        let mut values = vec![0u64; if me.rank() == 2 { 999 } else { 1000 }];
        interrupted(me.start().allreduce_slice(&mut values, |a, b| a + b)?, &mut 0)?;
        me.barrier()
    });
    for result in results.expect("nobody panics") {
        assert!(matches!(result, Err(Error::MemberLost { loss: Loss::OtherLength, .. })), "{result:?}");
    }
}

#[test]
fn every_limit_passes_while_somebody_is_late() {
    type Call = fn(&mut Member) -> Result<(), Error>;
    // At a member that has to hear from the other one.
    let calls: [Call; 9] = [
        |me| me.start().broadcast_slice(1, &mut [0u64; 1000]).and_then(|mut started| started.finish_timeout(MOMENT)),
        |me| {
            me.start()
                .reduce_slice(0, &mut [0u64; 1000], |a, b| a + b)
                .and_then(|mut started| started.finish_timeout(MOMENT))
        },
        |me| {
            me.start()
                .allreduce_slice(&mut [0u64; 1000], |a, b| a + b)
                .and_then(|mut started| started.finish_timeout(MOMENT))
        },
        |me| me.start().gather(0, 1u64).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
        |me| me.start().scatter::<u64>(1, None).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
        |me| me.start().gather_slice(0, &[1u64; 1000]).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
        |me| {
            me.start().scatter_slice(1, None, &mut [0u64; 1000]).and_then(|mut started| started.finish_timeout(MOMENT))
        },
        |me| me.start().reduce_records(Order::Rank, 0, &mut [0; 10], 5, |_, _| ())?.finish_timeout(MOMENT),
        |me| me.start().allreduce_records(Order::Plan, &mut [0; 10], 5, |_, _| ())?.finish_timeout(MOMENT),
    ];
    for call in calls {
        let group = group(2, |builder| builder.wait(Wait::Park));
        let [mut waits, _late] = [0, 1].map(|rank| group.join(rank).expect("nobody has joined"));
        let result = call(&mut waits);
        assert!(matches!(&result, Err(Error::Timeout { missing }) if missing.ranks().eq([1])), "{result:?}");
    }
}
