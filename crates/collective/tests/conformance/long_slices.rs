//! Slices that threads read in place arrive whole, whoever may be interrupted, and differences and panics are told.

use std::time::Duration;

use corecast_base::sync::{AtomicBool, Ordering::SeqCst};
use corecast_base::wait::Wait;
use corecast_collective::{AllreduceForm, Error, Loss, Member, Plain, RunError, Started};

use crate::group;

/// More than a mebibyte, so that every operation reads in place, and no whole number of lines.
const LEN: usize = 140_001;

fn given(rank: usize, salt: usize) -> Vec<u64> {
    (0..LEN).map(|i| (i * (rank + 1) + salt) as u64).collect()
}

fn total(members: usize, salt: usize) -> Vec<u64> {
    (0..LEN).map(|i| (i * members * (members + 1) / 2 + salt * members) as u64).collect()
}

/// In one of the ways to finish an operation.
fn finish<T>(mut started: Started<'_, T>, way: usize) -> Result<T, Error> {
    match way {
        1 => loop {
            match started.finish_timeout(Duration::from_micros(50)) {
                Err(Error::Timeout { .. }) => {}
                other => return other,
            }
        },
        2 => {
            while !started.try_finish()? {
                std::thread::yield_now();
            }
        }
        _ => {}
    }
    started.finish()
}

#[test]
fn long_allreductions_of_threads_go_the_direct_way_whoever_shares_cpus() {
    for members in [2, 5, 8] {
        assert_eq!(group(members, |builder| builder).choice().allreduce(LEN * 8), AllreduceForm::Direct, "{members}");
    }
    assert_eq!(group(8, |builder| builder.shape("binary")).choice().allreduce(8), AllreduceForm::Trees);
}

#[test]
fn plain_limited_and_polled_members_meet() {
    for members in [2, 3, 8] {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            for round in 0..8 {
                let (root, way) = (round % members, (me.rank() + round) % 4);
                let mut values = given(me.rank(), round);
                match way {
                    3 => me.broadcast_slice(root, &mut values)?,
                    _ => finish(me.start().broadcast_slice(root, &mut values)?, way)?,
                }
                assert!(values == given(root, round), "broadcast from {root} to {} of {members}", me.rank());
                let mut values = given(me.rank(), round);
                match way {
                    3 => me.reduce_slice(root, &mut values, |a, b| a + b)?,
                    _ => finish(me.start().reduce_slice(root, &mut values, |a, b| a + b)?, way)?,
                }
                assert!(me.rank() != root || values == total(members, round), "reduce to {root} of {members}");
                let mut values = given(me.rank(), round);
                me.reduce_slice(root, &mut values, |left, _| left)?;
                assert!(me.rank() != root || values == given(0, round), "the lowest rank is the first operand");
                let mut values = given(me.rank(), round);
                match way {
                    3 => me.allreduce_slice(&mut values, |a, b| a + b)?,
                    _ => finish(me.start().allreduce_slice(&mut values, |a, b| a + b)?, way)?,
                }
                assert!(values == total(members, round), "allreduce at {} of {members}", me.rank());
            }
            Ok::<_, Error>(())
        });
        assert_eq!(results.expect("nobody panics"), vec![Ok(()); members]);
    }
}

#[test]
fn one_thread_polls_all_members() {
    let group = group(3, |builder| builder);
    let mut all: Vec<Member> = (0..3).map(|rank| group.join(rank).expect("nobody has joined")).collect();
    let mut values: Vec<Vec<u64>> = (0..3).map(|rank| given(rank, 5)).collect();
    let start = |(me, values): (_, _)| {
        Member::start(me).reduce_slice(1, Vec::as_mut_slice(values), |a, b| a + b).expect("nobody is lost")
    };
    let mut started: Vec<_> = all.iter_mut().zip(&mut values).map(start).collect();
    let mut poll_all = || started.iter_mut().fold(true, |all, one| all & one.try_finish().expect("nobody is lost"));
    assert!((0..1000).any(|_| poll_all()), "all have come");
    drop(started);
    assert!(values[1] == total(3, 5));
}

/// The `operation`-th of those that read in place, and a barrier, which nobody passes who differs.
fn work<T: Plain>(me: &mut Member, mut values: Vec<T>, operation: usize) -> Result<(), Error> {
    match operation {
        0 => me.broadcast_slice(0, &mut values)?,
        1 => me.reduce_slice(0, &mut values, |a, _| a)?,
        _ => me.allreduce_slice(&mut values, |a, _| a)?,
    }
    me.barrier()
}

#[test]
fn another_length_or_type_is_told_to_all() {
    for (operation, len, is_signed) in
        (0..3).flat_map(|operation| [(operation, LEN - 1, false), (operation, 10, false), (operation, LEN, true)])
    {
        let results = group(4, |builder| builder).run(|me| match me.rank() {
            2 if is_signed => work(me, vec![1i64; len], operation),
            2 => work(me, vec![1u64; len], operation),
            _ => work(me, vec![1u64; LEN], operation),
        });
        let expected = if is_signed { Loss::Mismatched } else { Loss::OtherLength };
        for result in results.expect("nobody panics") {
            let is_told = matches!(result, Err(Error::MemberLost { loss, .. }) if loss == expected);
            assert!(is_told, "operation {operation}, {len}: {result:?}");
        }
    }
}

#[test]
fn a_panic_while_values_are_combined_is_told_by_name() {
    for members in [2, 5] {
        let outcome = group(members, |builder| builder.wait(Wait::Park)).run(|me| {
            let (is_last, mut left) = (me.rank() == 1, LEN / members / 2);
            let combine = |a: u64, b: u64| {
                assert!(!is_last || left > 0, "planted");
                left = left.saturating_sub(1);
                a.wrapping_add(b)
            };
            let seen = me.reduce_slice(1, &mut given(me.rank(), 0), combine).and_then(|()| me.barrier());
            assert_eq!(seen, Err(Error::MemberLost { rank: 1, loss: Loss::Panicked }));
        });
        assert!(matches!(outcome, Err(RunError::Panicked { rank: 1, .. })), "{members}: {outcome:?}");
    }
}

/// A member that drops what it has started takes its values back, and fails the group.
#[test]
fn a_dropped_operation_takes_its_values_back() {
    let is_dropped = AtomicBool::new(false);
    let results = group(3, |builder| builder).run(|me| {
        let mut values = given(me.rank(), 1);
        if me.rank() == 1 {
            let mut started = me.start().allreduce_slice(&mut values, |a, b| a + b)?;
            assert_eq!(started.try_finish(), Ok(false), "two have not begun");
            drop(started);
            is_dropped.store(true, SeqCst);
            return me.barrier();
        }
        while !is_dropped.load(SeqCst) {
            std::thread::yield_now();
        }
        me.allreduce_slice(&mut values, |a, b| a + b)?;
        me.barrier()
    });
    for (rank, result) in results.expect("nobody panics").into_iter().enumerate() {
        assert!(result.is_err(), "member {rank}: {result:?}");
    }
}
