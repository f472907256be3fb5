//! Operations that are started, polled, given limits and gone on with end as the plain ones do.

use std::time::Duration;

use corecast_base::CpuId;
use corecast_base::sync::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Error, Group, Loss, Member, Started};
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::Tree;

use crate::{SIZES, group};

const MOMENT: Duration = Duration::from_millis(1);

fn wait_for(count: &AtomicUsize, goal: usize) {
    while count.load(SeqCst) < goal {
        std::thread::yield_now();
    }
}

/// Member `late` begins an operation that all wait for only after the limits of all others have passed; all finish it as if
/// no limit had passed.
fn one_is_late<T>(
    group: &Group,
    late: usize,
    start: impl for<'a> Fn(&'a mut Member) -> Result<Started<'a, T>, Error> + Sync,
    check: impl Fn(T) + Sync,
) {
    let (begun, timed_out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let others = group.size() - 1;
    let results = group.run(|me| {
        let is_late = me.rank() == late;
        if is_late {
            wait_for(&timed_out, others);
        }
        let mut started = start(me)?;
        if !is_late {
            begun.fetch_add(1, SeqCst);
            wait_for(&begun, others);
            for _ in 0..2 {
                match started.finish_timeout(MOMENT).map(drop) {
                    Err(Error::Timeout { missing }) => assert!(missing.ranks().eq([late]), "{missing}"),
                    other => panic!("nobody can have finished: {other:?}"),
                }
            }
            timed_out.fetch_add(1, SeqCst);
        }
        check(started.finish()?);
        me.barrier()
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); others + 1]);
}

/// Groups over two nodes, and over cores that three members share.
fn groups(members: usize, barrier: Barrier, wait: Wait) -> [Group; 2] {
    let cpu = |id| Cpu { core: Some(id / 3), ..Cpu::flat(CpuId::new(id)) };
    let cpus = (0..members as u32).map(cpu).collect();
    let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    let siblings = Group::builder(&machine).barrier(barrier).wait(wait).pin(false).build();
    [group(members, |builder| builder.barrier(barrier).wait(wait)), siblings.expect("a group of the machine's CPUs")]
}

#[test]
fn a_barrier_is_gone_on_with_after_a_limit() {
    for &barrier in Barrier::ALL {
        for group in SIZES.flat_map(|members| groups(members, barrier, Wait::Adaptive)) {
            let members = group.size();
            for late in [0, members / 2, members - 1] {
                one_is_late(&group, late, |me| me.start().barrier(), |()| {});
            }
        }
    }
}

/// More rounds than a byte counts, in each of which limits pass some times, seldom at the same places. A member that polls
/// or yields before looking at the time would seldom see it pass.
#[test]
fn a_barrier_that_is_interrupted_again_and_again_holds() {
    for &barrier in Barrier::ALL {
        for group in groups(5, barrier, Wait::Park) {
            let entered: Vec<AtomicU64> = (0..5).map(|_| AtomicU64::new(0)).collect();
            let results = group.run(|me| {
                let mut random = fastrand::Rng::with_seed(me.rank() as u64);
                let mut passed = 0;
                for round in 1..=300 {
                    (0..random.u32(0..3)).for_each(|_| std::thread::yield_now());
                    // Relaxed: the barrier alone must make it visible.
                    entered[me.rank()].store(round, Relaxed);
                    let mut started = me.start().barrier()?;
                    let mut limits = random.u32(0..6);
                    while limits > 0 && started.finish_timeout(Duration::ZERO).is_err() {
                        (limits, passed) = (limits - 1, passed + 1);
                    }
                    if limits == 0 {
                        started.finish()?;
                    }
                    for (rank, entered) in entered.iter().enumerate() {
                        let seen = entered.load(Relaxed);
                        assert!(
                            seen == round || seen == round + 1,
                            "{barrier}, round {round}: member {rank} is at {seen}"
                        );
                    }
                }
                Ok::<_, Error>(passed)
            });
            let passed: Result<Vec<u32>, Error> = results.expect("nobody panics").into_iter().collect();
            assert!(passed.as_ref().is_ok_and(|passed| passed.iter().sum::<u32>() > 300), "{barrier}: {passed:?}");
        }
    }
}

fn start_barrier(me: &mut Member) -> Started<'_, ()> {
    me.start().barrier().expect("nobody is lost")
}

/// Polls each of them once; true if all have finished.
fn poll_all(started: &mut [Started<'_, ()>]) -> bool {
    started.iter_mut().fold(true, |all, one| all & one.try_finish().expect("nobody is lost"))
}

#[test]
fn one_thread_polls_all_members_through_a_barrier() {
    for &barrier in Barrier::ALL {
        for group in SIZES.flat_map(|members| groups(members, barrier, Wait::Adaptive)) {
            let mut members: Vec<Member> =
                (0..group.size()).map(|rank| group.join(rank).expect("nobody has joined")).collect();
            for round in 0..10 {
                let last = round % members.len();
                members.rotate_left(last);
                let (late, others) = members.split_last_mut().expect("a group has members");
                let mut started: Vec<Started<'_, ()>> = others.iter_mut().map(start_barrier).collect();
                for _ in 0..3 {
                    assert!(started.iter_mut().all(|one| one.try_finish() == Ok(false)), "{barrier}: one has not come");
                }
                started.push(start_barrier(late));
                assert!((0..100).any(|_| poll_all(&mut started)), "{barrier}: all have come");
            }
        }
    }
}

/// One member polls this many times and no more until all others have begun the next barrier.
#[test]
fn a_barrier_that_all_others_have_left_can_be_finished() {
    for &barrier in Barrier::ALL {
        let deep = |members| group(members, |builder| builder.barrier(barrier).shape("binary"));
        let groups = |members| groups(members, barrier, Wait::Adaptive).into_iter().chain([deep(members)]);
        for group in (2..=9).flat_map(groups) {
            let all = group.size();
            let mut times_left = 0;
            for (absent, polls) in (0..all).flat_map(|absent| (1..6).map(move |polls| (absent, polls))) {
                let mut others: Vec<Member> =
                    (0..all).map(|rank| group.join(rank).expect("nobody has joined")).collect();
                let mut absent = others.swap_remove(absent);
                let mut behind = [start_barrier(&mut absent)];
                let mut ahead: Vec<Started<'_, ()>> = others.iter_mut().map(start_barrier).collect();
                let have_left = (0..100).any(|round| {
                    let have_left = poll_all(&mut ahead);
                    if round < polls {
                        poll_all(&mut behind);
                    }
                    have_left
                });
                if have_left {
                    times_left += 1;
                    drop(ahead);
                    ahead = others.iter_mut().map(start_barrier).collect();
                    assert!((0..20).all(|_| !poll_all(&mut ahead)), "{barrier} of {all}: one has not come");
                    assert!((0..100).any(|_| poll_all(&mut behind)), "{barrier} of {all}: all have come");
                    drop(behind);
                    behind = [start_barrier(&mut absent)];
                }
                assert!((0..100).any(|_| poll_all(&mut ahead) & poll_all(&mut behind)), "{barrier}: all have come");
            }
            assert!(times_left > 0, "{barrier} of {all}: nobody ever went on");
        }
    }
}

fn start_sum(me: &mut Member) -> Result<Started<'_, u64>, Error> {
    let rank = me.rank() as u64;
    me.start().allreduce(rank, |a, b| a + b)
}

#[test]
fn values_are_gone_on_with_after_a_limit() {
    for members in SIZES {
        for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
            let group = group(members, |builder| builder.wait(wait));
            let sum = (0..members as u64).sum::<u64>();
            for late in [0, members - 1] {
                one_is_late(&group, late, start_sum, |total| assert_eq!(total, sum));
            }
        }
    }
}

#[test]
fn a_root_waits_for_the_late_and_the_others_for_a_late_root() {
    for members in 2..=9 {
        let group = group(members, |builder| builder);
        let timed_out = AtomicUsize::new(0);
        let results = group.run(|me| {
            let root = members / 2;
            if me.rank() == root {
                wait_for(&timed_out, members - 1);
                let mut value = [7u64; 40];
                me.start().broadcast(root, &mut value)?.finish()?;
                let mut sum = me.start().reduce(root, 1, |a: usize, b| a + b)?;
                let first = sum.finish_timeout(MOMENT);
                assert!(
                    matches!(first, Err(Error::Timeout { missing }) if missing.members() == members - 1),
                    "{first:?}"
                );
                timed_out.fetch_add(1, SeqCst);
                assert_eq!(sum.finish()?, Some(members));
                return Ok(());
            }
            let mut value = [0u64; 40];
            let mut started = me.start().broadcast(root, &mut value)?;
            let first = started.finish_timeout(MOMENT);
            assert!(matches!(first, Err(Error::Timeout { missing }) if missing.ranks().any(|rank| rank == root)));
            timed_out.fetch_add(1, SeqCst);
            started.finish()?;
            assert_eq!(value, [7; 40]);
            wait_for(&timed_out, members);
            assert_eq!(me.start().reduce(root, 1usize, |a, b| a + b)?.finish()?, None);
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn a_root_that_found_no_room_goes_on_without_a_gap() {
    let group = group(3, |builder| builder.shape("sequential"));
    let is_full = AtomicUsize::new(0);
    let results = group.run(|me| {
        if me.rank() != 0 {
            wait_for(&is_full, 1);
        }
        let mut limits = 0;
        for number in 0..200u64 {
            let mut value = if me.rank() == 0 { [number; 63] } else { [u64::MAX; 63] };
            let mut started = me.start().broadcast(0, &mut value)?;
            while let Err(error) = started.finish_timeout(MOMENT) {
                assert!(matches!(error, Error::Timeout { .. }), "{error}");
                limits += 1;
                is_full.store(1, SeqCst);
            }
            drop(started);
            assert_eq!(value, [number; 63]);
        }
        Ok::<_, Error>(limits)
    });
    let limits = results.expect("nobody panics");
    assert!(limits[0].as_ref().is_ok_and(|&limits| limits > 0), "the root met a limit: {limits:?}");
}

#[test]
fn polled_operations_end_with_the_results_of_plain_ones() {
    for members in SIZES {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            let mut random = fastrand::Rng::with_seed(me.rank() as u64);
            for round in 0..60 {
                (0..random.u32(0..4)).for_each(|_| std::thread::yield_now());
                poll(me.start().barrier()?)?;
                let mut value = if me.rank() == round % members { round } else { usize::MAX };
                poll(me.start().broadcast(round % members, &mut value)?)?;
                assert_eq!(value, round);
                let sum = poll(me.start().reduce(round % members, 1, |a: usize, b| a + b)?)?;
                let is_root = me.rank() == round % members;
                assert_eq!(sum, is_root.then_some(members));
                let rank = me.rank();
                assert_eq!(poll(me.start().allreduce(rank, usize::max)?)?, members - 1);
                assert_eq!(
                    me.start().allreduce(1, |a, b| a + b)?.finish_timeout(Duration::MAX)?,
                    members,
                    "a plain limit"
                );
                me.start().broadcast(0, &mut value)?.finish_timeout(Duration::MAX)?;
                let reduced = me.start().reduce(0, 1, |a, _| a)?.finish_timeout(Duration::MAX)?;
                assert!(reduced.is_some() == (me.rank() == 0));
                me.start().barrier()?.finish_timeout(Duration::MAX)?;
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

fn poll<T>(mut started: Started<'_, T>) -> Result<T, Error> {
    while !started.try_finish()? {
        std::thread::yield_now();
    }
    assert_eq!(started.try_finish(), Ok(true), "it stays finished");
    started.finish()
}

#[test]
fn a_member_that_drops_a_started_operation_can_only_leave() {
    let group = group(2, |builder| builder);
    let mut stays = group.join(1).expect("nobody has joined");
    let mut leaves = group.join(0).expect("nobody has joined");
    assert!(
        matches!(leaves.start().barrier().and_then(|mut started| started.finish_timeout(MOMENT)), Err(Error::Timeout { missing }) if missing.ranks().eq([1]))
    );
    assert_eq!(leaves.barrier(), Err(Error::Pending));
    assert_eq!(leaves.broadcast(0, &mut 1), Err(Error::Pending));
    assert_eq!(leaves.start().allreduce(1, |a, _| a).map(drop), Err(Error::Pending));
    drop(leaves);
    let lost = Err(Error::MemberLost { rank: 0, loss: Loss::Left });
    assert_eq!(stays.barrier(), lost);
    assert_eq!(group.join(0).map(drop), lost);
}

#[test]
fn operations_that_cannot_be_started_are_refused_without_harm() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        let large = Err(Error::TooLarge { bytes: 505, most: 504 });
        assert_eq!(me.start().broadcast(0, &mut [0u8; 505]).map(drop), large);
        assert_eq!(
            me.start().allreduce([0u8; 505], |a, _| a).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
            large
        );
        let nobody = Err(Error::BadRank { rank: 2, members: 2 });
        assert_eq!(me.start().broadcast(2, &mut 0).map(drop), nobody);
        assert_eq!(
            me.start().reduce(2, 0, |a, _| a).and_then(|mut started| started.finish_timeout(MOMENT)).map(drop),
            nobody
        );
        me.start().allreduce([1u8; 504], |a, _| a).and_then(|mut started| started.finish_timeout(Duration::MAX))
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok([1; 504]); 2]);
}

#[test]
fn a_value_after_a_failure_does_not_complete_the_operation() {
    let tree = Tree::new(0, vec![vec![1, 3], vec![2], vec![], vec![]]).expect("a tree");
    let group = group(4, |builder| builder.tree(tree));
    let [mut root, mut passes, mut waits, leaves] =
        [0, 1, 2, 3].map(|rank| group.join(rank).expect("nobody has joined"));
    let mut values = [7, 0, 0];
    let [first, second, third] = &mut values;
    let mut passing = passes.start().broadcast(0, second).expect("nobody is lost");
    let mut receiving = waits.start().broadcast(0, third).expect("nobody is lost");
    let _sending = root.start().broadcast(0, first).expect("nobody is lost");
    drop(leaves);
    let lost = Error::MemberLost { rank: 3, loss: Loss::Left };
    assert_eq!(receiving.finish_timeout(Duration::MAX), Err(lost));
    // It has not failed itself yet, and does all it can.
    assert_eq!(passing.try_finish(), Ok(true));
    assert_eq!(receiving.try_finish(), Err(lost));
}
