//! Operations that are started and finished later, and limits on their time.

use std::ptr;
use std::sync::Barrier;

use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::number::{Number, Op};
use corecast_c::started::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};
use crate::members::{group, run};

const MINUTE_NS: u64 = 60_000_000_000;
const SUM: u32 = Op::Sum as u32;

/// Looks until the operation is finished, and closes it.
fn look_and_close(started: *mut Started) {
    while !output(|is_finished| corecast_started_try_finish(Some(object(started)), is_finished)) {
        std::thread::yield_now();
    }
    assert!(output(|is_finished| corecast_started_try_finish(Some(object(started)), is_finished)), "it stays so");
    assert_eq!(corecast_started_finish(Some(object(started))), Status::Ok, "and is finished once");
    corecast_started_close(owned(started));
}

/// Starts an allreduction of these numbers, which live until it is closed.
fn start_sum<T>(me: &mut Member, numbers: &mut [T], number: Number, started: Out<'_, *mut Started>) -> Status {
    let (first, count) = (numbers.as_mut_ptr().cast(), numbers.len());
    // SAFETY: numbers of this type and their number.
    unsafe { corecast_member_start_allreduce(Some(me), first, count, number as u32, SUM, started) }
}

#[test]
fn started_operations_do_what_plain_ones_do() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        look_and_close(output(|started| corecast_member_start_barrier(Some(me), started)));
        for len in [0, 1, 496, 497, 100_000] {
            let mut bytes = vec![rank as u8; len];
            let data = bytes.as_mut_ptr().cast();
            // SAFETY: bytes and their number, which stay until the operation is closed.
            look_and_close(output(|started| unsafe {
                corecast_member_start_broadcast(Some(me), 1, data, len, started)
            }));
            assert_eq!(bytes, vec![1; len]);
        }
        for count in [1, 62, 63, 20_000] {
            let mut sums = vec![u64::from(rank); count];
            look_and_close(output(|started| start_sum(me, &mut sums, Number::Uint64, started)));
            assert_eq!(sums, vec![3; count]);
        }
        let mut floats = [f32::from(rank as u8), 0.5, 1.0];
        look_and_close(output(|started| start_sum(me, &mut floats, Number::Float, started)));
        assert_eq!(floats, [3.0, 1.5, 3.0]);
        let mut pair = [i32::from(rank != 2), rank as i32];
        let (numbers, kind, op) = (pair.as_mut_ptr().cast(), Number::Int32 as u32, Op::MinLoc as u32);
        // SAFETY: two numbers, which stay until the operation is closed.
        let started =
            output(|started| unsafe { corecast_member_start_reduce(Some(me), 0, numbers, 2, kind, op, started) });
        assert_eq!(corecast_started_finish_timeout_ns(Some(object(started)), MINUTE_NS), Status::Ok);
        corecast_started_close(owned(started));
        assert!(rank != 0 || pair == [0, 2], "{pair:?}");
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn operations_with_a_limit_end_in_time() {
    let group = group(2);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let mut bytes = [rank as u8; 5];
        // SAFETY: five bytes.
        let told =
            unsafe { corecast_member_broadcast_timeout_ns(Some(me), 1, bytes.as_mut_ptr().cast(), 5, MINUTE_NS) };
        assert_eq!((told, bytes), (Status::Ok, [1; 5]));
        let mut sum = [rank + 1];
        let (numbers, kind) = (sum.as_mut_ptr().cast(), Number::Uint32 as u32);
        // SAFETY: one number.
        let told = unsafe { corecast_member_allreduce_timeout_ns(Some(me), numbers, 1, kind, SUM, MINUTE_NS) };
        assert_eq!((told, sum), (Status::Ok, [3]));
        let numbers = sum.as_mut_ptr().cast();
        // SAFETY: one number.
        let told = unsafe { corecast_member_reduce_timeout_ns(Some(me), 0, numbers, 1, kind, SUM, MINUTE_NS) };
        assert!(told == Status::Ok && (rank != 0 || sum == [6]), "{told:?} {sum:?}");
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn every_limit_passes_while_somebody_is_late() {
    const MOMENT_NS: u64 = 1_000_000;
    let mut bytes = [0_u8; 16];
    let (data, kind) = (bytes.as_mut_ptr().cast(), Number::Uint64 as u32);
    let calls: [&dyn Fn(&mut Member) -> Status; 4] = [
        &|me| corecast_member_barrier_timeout_ns(Some(me), MOMENT_NS),
        // SAFETY: 16 bytes.
        &|me| unsafe { corecast_member_broadcast_timeout_ns(Some(me), 1, data, 16, MOMENT_NS) },
        // SAFETY: two numbers of eight bytes.
        &|me| unsafe { corecast_member_reduce_timeout_ns(Some(me), 0, data.cast(), 2, kind, SUM, MOMENT_NS) },
        // SAFETY: the same.
        &|me| unsafe { corecast_member_allreduce_timeout_ns(Some(me), data.cast(), 2, kind, SUM, MOMENT_NS) },
    ];
    for call in calls {
        let group = group(2);
        let [me, late] = [0, 1].map(|rank| output(|member| corecast_group_join(Some(object(group)), rank, member)));
        assert_eq!(call(object(me)), Status::Timeout);
        assert!(words().contains("member 1 has not begun it"), "{}", words());
        [me, late].into_iter().for_each(|member| corecast_member_leave(owned(member)));
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn a_limit_names_who_is_missing_and_the_operation_goes_on() {
    let group = group(2);
    let late = Barrier::new(2);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let mut sum = [u64::from(rank) + 4];
        if rank == 1 {
            late.wait();
        }
        let started = output(|started| start_sum(me, &mut sum, Number::Uint64, started));
        if rank == 0 {
            for limit_ns in [0, 1, 1_000_000] {
                assert_eq!(corecast_started_finish_timeout_ns(Some(object(started)), limit_ns), Status::Timeout);
                assert!(words().contains("member 1 has not begun it"), "{}", words());
            }
            assert!(!output(|is_finished| corecast_started_try_finish(Some(object(started)), is_finished)));
            assert_eq!(corecast_member_barrier(Some(me)), Status::InvalidArgument);
            assert_eq!(words(), "an operation that this member has begun is not finished");
            assert_eq!(status(|other| corecast_member_start_barrier(Some(me), other)), Status::InvalidArgument);
            assert_eq!((corecast_member_rank(Some(me)), corecast_member_members(Some(me))), (0, 2));
            late.wait();
        }
        assert_eq!(corecast_started_finish(Some(object(started))), Status::Ok);
        corecast_started_close(owned(started));
        assert_eq!(sum, [9]);
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok, "the member has its place again");
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn an_operation_closed_unfinished_leaves_its_member_nothing_but_to_leave() {
    let group = group(2);
    let closed = Barrier::new(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 0 {
            corecast_started_close(owned(output(|started| corecast_member_start_barrier(Some(me), started))));
            assert_eq!(corecast_member_barrier(Some(me)), Status::InvalidArgument);
            closed.wait();
        } else {
            // Otherwise it is finished where it is started.
            closed.wait();
            // Barriers until the other one has left.
            while corecast_member_barrier(Some(me)) == Status::Ok {}
            assert_eq!((corecast_member_lost(Some(me)), words().contains("member 0 left")), (0, true));
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn members_leave_and_objects_close_in_any_order() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let started = output(|started| corecast_member_start_barrier(Some(object(me)), started));
    corecast_member_leave(owned(me));
    assert_eq!(
        status(|member| corecast_group_join(Some(object(group)), 0, member)),
        Status::Taken,
        "it has not left yet"
    );
    assert_eq!(corecast_started_finish(Some(object(started))), Status::Ok);
    corecast_started_close(owned(started));
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}

#[test]
fn started_limited_and_plain_operations_meet() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let mut sums = vec![u64::from(rank); 1000];
        let (numbers, count, kind) = (sums.as_mut_ptr().cast(), sums.len(), Number::Uint64 as u32);
        match rank {
            0 => look_and_close(output(|started| start_sum(me, &mut sums, Number::Uint64, started))),
            1 => {
                // SAFETY: numbers and their number.
                let told =
                    unsafe { corecast_member_allreduce_timeout_ns(Some(me), numbers, count, kind, SUM, MINUTE_NS) };
                assert_eq!(told, Status::Ok, "{}", words());
            }
            _ => {
                // SAFETY: numbers and their number.
                let told = unsafe { corecast_member_allreduce(Some(me), numbers, count, kind, SUM) };
                assert_eq!(told, Status::Ok, "{}", words());
            }
        }
        assert_eq!(sums, vec![3; 1000]);
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn values_of_other_lengths_are_told() {
    let group = group(2);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let mut numbers = vec![1_u64; 2 + rank as usize];
        assert_eq!(sum_status(me, &mut numbers), Status::Lost, "{}", words());
        assert_ne!(corecast_member_lost(Some(me)), -1);
        assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
    });
    corecast_group_destroy(owned(group));
}

/// How a sum ends that may end where it is started.
fn sum_status(me: &mut Member, numbers: &mut [u64]) -> Status {
    let mut to = std::mem::MaybeUninit::uninit();
    let told = start_sum(me, numbers, Number::Uint64, Some(&mut to));
    if told != Status::Ok {
        return told;
    }
    // SAFETY: the call succeeded.
    let started = unsafe { to.assume_init() };
    let told = corecast_started_finish(Some(object(started)));
    corecast_started_close(owned(started));
    told
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let mut bytes = [0_u8; 1];
    let data = bytes.as_mut_ptr().cast();
    let start = |root, data, len| {
        // SAFETY: that many bytes, or NULL, which is refused.
        status(|started| unsafe { corecast_member_start_broadcast(Some(object(me)), root, data, len, started) })
    };
    assert_eq!(
        (start(0, ptr::null_mut(), 1), words()),
        (Status::InvalidArgument, "argument 'data': is NULL".to_owned())
    );
    assert_eq!(start(1, data, 1), Status::InvalidArgument);
    assert_eq!(words(), "rank 1 is outside a group of 1 members");
    assert_eq!(corecast_member_start_barrier(Some(object(me)), None), Status::InvalidArgument);
    assert_eq!(words(), "argument 'started': is NULL");
    assert_eq!(status(|started| corecast_member_start_barrier(None, started)), Status::InvalidArgument);
    assert_eq!(corecast_started_finish(None), Status::InvalidArgument);
    corecast_started_close(None);
    assert_eq!(corecast_member_barrier(Some(object(me))), Status::Ok, "nothing was started");
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
