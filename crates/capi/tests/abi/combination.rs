//! Reductions of C's own values, with functions of C's own.

use std::ffi::c_void;
use std::ptr;

use corecast_c::combination::*;
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::started::*;
use corecast_c::status::Status;

use crate::calling::{object, output, owned, status, words};
use crate::members::{group, run};

const MINUTE_NS: u64 = 60_000_000_000;

/// A fraction: exact, and of no type that the library knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Fraction {
    numerator: i64,
    denominator: i64,
}

/// Adds fractions; counts in `context`.
unsafe extern "C" fn add(context: *mut c_void, accumulator: *mut c_void, operand: *const c_void) {
    // SAFETY: the tests pass fractions.
    let own = unsafe { &mut *accumulator.cast::<Fraction>() };
    // SAFETY: as above.
    let their = unsafe { *operand.cast::<Fraction>() };
    own.numerator = own.numerator * their.denominator + their.numerator * own.denominator;
    own.denominator *= their.denominator;
    // SAFETY: the tests pass a number to count in.
    unsafe { *context.cast::<u64>() += 1 };
}

/// A text of up to 7 letters, behind its length.
type Word = [u8; 8];

/// Puts one word behind the other, which does not commute.
unsafe extern "C" fn append(_context: *mut c_void, accumulator: *mut c_void, operand: *const c_void) {
    // SAFETY: the tests pass words.
    let own = unsafe { &mut *accumulator.cast::<Word>() };
    // SAFETY: as above.
    let their = unsafe { *operand.cast::<Word>() };
    let (end, len) = (usize::from(own[0]), usize::from(their[0]));
    own[1 + end..][..len].copy_from_slice(&their[1..][..len]);
    own[0] += their[0];
}

/// A combination of these values.
fn of<T>(combine: Combine, commutes: u32, context: &mut u64) -> Combination {
    Combination {
        size: size_of::<Combination>(),
        value_bytes: size_of::<T>() as u32,
        commutes,
        combine,
        context: ptr::from_mut(context).cast(),
    }
}

/// Reduces to a root, or to all, in one of three ways.
fn reduce<T>(me: &mut Member, root: Option<u32>, way: usize, values: &mut [T], by: &Combination) -> Status {
    let (first, count, by) = (values.as_mut_ptr().cast(), values.len(), ptr::from_ref(by));
    let me = Some(me);
    match (way, root) {
        // SAFETY: `count` values of the combination's size, here and below until the operation is closed.
        (0, Some(root)) => unsafe { corecast_member_reduce_with(me, root, first, count, by) },
        // SAFETY: as above.
        (0, None) => unsafe { corecast_member_allreduce_with(me, first, count, by) },
        // SAFETY: as above.
        (1, Some(root)) => unsafe { corecast_member_reduce_with_timeout_ns(me, root, first, count, by, MINUTE_NS) },
        // SAFETY: as above.
        (1, None) => unsafe { corecast_member_allreduce_with_timeout_ns(me, first, count, by, MINUTE_NS) },
        (_, root) => {
            let mut to = std::mem::MaybeUninit::uninit();
            let told = match root {
                // SAFETY: as above.
                Some(root) => unsafe { corecast_member_start_reduce_with(me, root, first, count, by, Some(&mut to)) },
                // SAFETY: as above.
                None => unsafe { corecast_member_start_allreduce_with(me, first, count, by, Some(&mut to)) },
            };
            if told != Status::Ok {
                return told;
            }
            // SAFETY: the call succeeded.
            let started = unsafe { to.assume_init() };
            let told = corecast_started_finish(Some(object(started)));
            corecast_started_close(owned(started));
            told
        }
    }
}

/// The value that a member gives.
fn fractions(rank: u32, count: usize) -> Vec<Fraction> {
    (0..count as i64).map(|i| Fraction { numerator: i + 1, denominator: 2 + i64::from(rank) }).collect()
}

/// Of denominators 2, 3 and 4: 13 of 12 for each.
fn sums(count: usize) -> Vec<Fraction> {
    (0..count as i64).map(|i| Fraction { numerator: 26 * (i + 1), denominator: 24 }).collect()
}

#[test]
fn values_that_commute_are_combined_in_every_way() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        for (round, count) in [0, 1, 31, 32, 10_000].into_iter().cycle().take(15).enumerate() {
            let (root, way) = (round as u32 % 3, (rank as usize + round) % 3);
            let (mut calls, mut values) = (0, fractions(rank, count));
            let by = of::<Fraction>(Some(add), 1, &mut calls);
            assert_eq!(reduce(me, Some(root), way, &mut values, &by), Status::Ok, "{}", words());
            assert!(rank != root || values == sums(count), "{count} to {root}");
            let mut values = fractions(rank, count);
            assert_eq!(reduce(me, None, way, &mut values, &by), Status::Ok, "{}", words());
            assert!(values == sums(count), "{count} for all");
            let sum_of_calls = [calls];
            assert_eq!(all(me, sum_of_calls), 4 * count as u64, "two combinations for each of two reductions");
        }
    });
    corecast_group_destroy(owned(group));
}

/// The sum of all members' numbers.
fn all(me: &mut Member, mut number: [u64; 1]) -> u64 {
    use corecast_c::number::{Number, Op};
    let (first, kind, op) = (number.as_mut_ptr().cast(), Number::Uint64 as u32, Op::Sum as u32);
    // SAFETY: one number.
    assert_eq!(unsafe { corecast_member_allreduce(Some(me), first, 1, kind, op) }, Status::Ok);
    number[0]
}

#[test]
fn values_that_do_not_commute_keep_the_order_of_ranks() {
    let group = group(5);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let word = |rank: u32| [1, b'a' + rank as u8, 0, 0, 0, 0, 0, 0];
        let by = of::<Word>(Some(append), 0, &mut 0);
        for round in 0..15 {
            let (root, way) = (round % 5, (rank + round) as usize % 3);
            let mut words = [word(rank); 3];
            assert_eq!(reduce(me, Some(root), way, &mut words, &by), Status::Ok);
            assert!(rank != root || words == [*b"\x05abcde\0\0"; 3], "{words:?}");
            let mut words = [word(rank); 300];
            assert_eq!(reduce(me, None, way, &mut words, &by), Status::Ok);
            assert!(words == [*b"\x05abcde\0\0"; 300], "{:?}", words[0]);
        }
    });
    corecast_group_destroy(owned(group));
}

/// Leaves what is there.
unsafe extern "C" fn first(_context: *mut c_void, _accumulator: *mut c_void, _operand: *const c_void) {}

#[test]
fn limits_pass_and_another_length_is_told() {
    for root in [Some(0), None] {
        for commutes in [0, 1] {
            let group = group(2);
            let [me, late] = [0, 1].map(|rank| output(|member| corecast_group_join(Some(object(group)), rank, member)));
            let (mut values, by) = ([0_u64; 3], of::<u64>(Some(first), commutes, &mut 0));
            let (at, by) = (values.as_mut_ptr().cast(), ptr::from_ref(&by));
            let told = match root {
                // SAFETY: three values.
                Some(root) => unsafe {
                    corecast_member_reduce_with_timeout_ns(Some(object(me)), root, at, 3, by, 1_000_000)
                },
                // SAFETY: as above.
                None => unsafe { corecast_member_allreduce_with_timeout_ns(Some(object(me)), at, 3, by, 1_000_000) },
            };
            assert!(told == Status::Timeout && words().contains("member 1 has not begun it"), "{told:?} {}", words());
            [me, late].into_iter().for_each(|member| corecast_member_leave(owned(member)));
            corecast_group_destroy(owned(group));
        }
    }
    for (way, commutes) in (0..3).flat_map(|way| [(way, 0), (way, 1)]) {
        let group = group(2);
        run(group, |me| {
            let mut values = vec![0_u64; 2 + corecast_member_rank(Some(me)) as usize];
            let told = reduce(me, None, way, &mut values, &of::<u64>(Some(first), commutes, &mut 0));
            assert_eq!((told, words().contains("another length")), (Status::Lost, true), "{}", words());
        });
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let right = of::<u64>(Some(first), 1, &mut 0);
    let refused = |by: Combination, why: &str| {
        for (way, root) in (0..3).flat_map(|way| [(way, None), (way, Some(0))]) {
            let told = reduce(object(me), root, way, &mut [0_u64; 3], &by);
            assert_eq!((told, words().as_str()), (Status::InvalidArgument, why));
        }
    };
    refused(Combination { size: 8, ..right }, "argument 'combination': its size is 8, not sizeof of its type, 32");
    refused(Combination { value_bytes: 0, ..right }, "argument 'combination.value_bytes': is 0, not 1 to 504");
    refused(Combination { value_bytes: 505, ..right }, "argument 'combination.value_bytes': is 505, not 1 to 504");
    refused(Combination { commutes: 2, ..right }, "argument 'combination.commutes': is 2, not 0 to 1");
    refused(Combination { combine: None, ..right }, "argument 'combination.combine': is NULL");
    let by = ptr::from_ref(&right);
    // SAFETY: NULL is refused.
    let told = |values, by| unsafe { corecast_member_allreduce_with(Some(object(me)), values, 1, by) };
    assert_eq!(
        (told(ptr::null_mut(), by), words()),
        (Status::InvalidArgument, "argument 'values': is NULL".to_owned())
    );
    let value = ptr::from_mut(&mut 0_u64).cast();
    let why = "argument 'combination': is NULL".to_owned();
    assert_eq!((told(value, ptr::null()), words()), (Status::InvalidArgument, why));
    // SAFETY: one value.
    let to_nobody = unsafe { corecast_member_reduce_with(Some(object(me)), 1, value, 1, by) };
    let why = "rank 1 is outside a group of 1 members".to_owned();
    assert_eq!((to_nobody, words()), (Status::InvalidArgument, why));
    // SAFETY: more values than memory has room for, which is refused.
    let too_many = unsafe { corecast_member_reduce_with(Some(object(me)), 0, value, usize::MAX, by) };
    assert_eq!(too_many, Status::InvalidArgument);
    // SAFETY: NULL is refused.
    let none = status(|started| unsafe { corecast_member_start_allreduce_with(None, value, 1, by, started) });
    assert_eq!((none, words()), (Status::InvalidArgument, "argument 'member': is NULL".to_owned()));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
