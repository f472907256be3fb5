//! Members that are threads.

use std::ffi::{CString, c_void};
use std::ptr;
use std::thread;

use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::number::{Number, Op};
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};

fn group(members: u32) -> *mut Group {
    let config = GroupConfig { size: size_of::<GroupConfig>(), members, wait: 0 };
    // SAFETY: a configuration with its size.
    output(|group| unsafe { corecast_group_create(&raw const config, group) })
}

/// A member on its way to its thread.
struct Handed(*mut Member);

// SAFETY: one thread at a time uses it.
unsafe impl Send for Handed {}

/// Runs this as every member, each on a thread of its own, and leaves.
fn run(group: *mut Group, body: impl Fn(&mut Member) + Sync) {
    let members = corecast_group_members(Some(object(group)));
    thread::scope(|scope| {
        for rank in 0..members {
            let handed = Handed(output(|member| corecast_group_join(Some(object(group)), rank, member)));
            let body = &body;
            scope.spawn(move || {
                let Handed(member) = { handed };
                body(object(member));
                corecast_member_leave(owned(member));
            });
        }
    });
}

fn allreduce<T>(me: &mut Member, numbers: &mut [T], number: Number, op: u32) -> Status {
    let (first, count) = (numbers.as_mut_ptr().cast::<c_void>(), numbers.len());
    // SAFETY: as many numbers of this type as are said.
    unsafe { corecast_member_allreduce(Some(me), first, count, number as u32, op) }
}

#[test]
fn members_meet_share_and_add_up() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        assert_eq!((corecast_member_members(Some(me)), corecast_member_lost(Some(me))), (3, -1));
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
        assert_eq!(corecast_member_barrier_timeout_ns(Some(me), u64::MAX), Status::Ok);
        let mut bytes = vec![rank as u8; 100_000];
        // SAFETY: as many bytes as are said.
        let told = unsafe { corecast_member_broadcast(Some(me), 1, bytes.as_mut_ptr().cast(), bytes.len()) };
        assert_eq!((told, bytes == vec![1; 100_000]), (Status::Ok, true));
        // SAFETY: no bytes.
        assert_eq!(unsafe { corecast_member_broadcast(Some(me), 2, ptr::null_mut(), 0) }, Status::Ok);
        let mut sums = [rank, 10];
        assert_eq!(allreduce(me, &mut sums, Number::Uint32, Op::Sum as u32), Status::Ok);
        assert_eq!(sums, [3, 30]);
        let mut least = [f64::from(rank) - 1.0];
        assert_eq!(allreduce(me, &mut least, Number::Double, Op::Min as u32), Status::Ok);
        assert_eq!(least, [-1.0]);
        let mut bits = [1_i64 << rank];
        let first = bits.as_mut_ptr().cast();
        // SAFETY: one number.
        let told = unsafe { corecast_member_reduce(Some(me), 2, first, 1, Number::Int64 as u32, Op::Or as u32) };
        assert!(told == Status::Ok && (rank != 2 || bits == [7]), "{told:?} {bits:?}");
        let (own, mut gathered) = (rank as u16, [0_u16; 3]);
        let (data, to) = (ptr::from_ref(&own).cast(), gathered.as_mut_ptr().cast());
        // SAFETY: two bytes, and room for six.
        let told =
            unsafe { corecast_member_gather(Some(me), 0, data, 2, if rank == 0 { to } else { ptr::null_mut() }) };
        assert_eq!((told, gathered), (Status::Ok, if rank == 0 { [0, 1, 2] } else { [0; 3] }));
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_member_that_left_is_named() {
    let group = group(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 1 {
            return;
        }
        assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
        assert_eq!(words(), "member 1 left the group while others waited for it");
        assert_eq!(corecast_member_lost(Some(me)), 1);
    });
    assert_eq!(status(|member| corecast_group_join(Some(object(group)), 1, member)), Status::Lost);
    corecast_group_destroy(owned(group));
}

#[test]
fn a_time_limit_names_who_is_missing() {
    let group = group(2);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let other = output(|member| corecast_group_join(Some(object(group)), 1, member));
    assert_eq!(corecast_member_barrier_timeout_ns(Some(object(me)), 1_000_000), Status::Timeout);
    assert!(words().contains('1'), "{}", words());
    assert_eq!(corecast_member_barrier(Some(object(me))), Status::InvalidArgument);
    corecast_member_leave(owned(me));
    corecast_member_leave(owned(other));
    corecast_group_destroy(owned(group));
}

#[test]
fn a_process_becomes_a_member_by_name() {
    let name = CString::new(format!("corecast-abi-{}", std::process::id())).expect("no zero byte");
    let config = GroupConfig { size: size_of::<GroupConfig>(), members: 1, wait: 0 };
    let second = 1_000_000_000;
    // SAFETY: a text, and a configuration with its size.
    let member_of = |config: &GroupConfig, rank, member: Out<'_, *mut Member>| unsafe {
        corecast_member_of_name(name.as_ptr(), config, rank, second, member)
    };
    let me = output(|member| member_of(&config, -1, member));
    assert_eq!((corecast_member_rank(Some(object(me))), corecast_member_members(Some(object(me)))), (0, 1));
    assert_eq!(corecast_member_barrier(Some(object(me))), Status::Ok);
    assert_eq!(status(|member| member_of(&config, 0, member)), Status::Taken, "{}", words());
    assert_eq!(status(|member| member_of(&GroupConfig { members: 2, ..config }, -1, member)), Status::Mismatch);
    assert_eq!(status(|member| member_of(&config, -2, member)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'rank': is -2, not -1 to 4095");
    corecast_member_leave(owned(me));
    let two = GroupConfig { members: 2, ..config };
    assert_eq!(status(|member| member_of(&two, 1, member)), Status::Timeout, "{}", words());
    assert_eq!(words(), "the group is not complete: rank 0 missing");
    assert_eq!(status(|member| corecast_member_of_run(second, member)), Status::NotFound);
}

#[test]
fn wrong_arguments_are_named() {
    let config = GroupConfig { size: size_of::<GroupConfig>(), members: 5000, wait: 0 };
    // SAFETY: a configuration with its size.
    assert_eq!(status(|group| unsafe { corecast_group_create(&raw const config, group) }), Status::InvalidArgument);
    assert_eq!(words(), "argument 'config.members': is 5000, not 0 to 4096");
    let group = group(1);
    assert_eq!(status(|member| corecast_group_join(Some(object(group)), 1, member)), Status::InvalidArgument);
    assert_eq!(words(), "rank 1 is outside a group of 1 members");
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    assert_eq!(status(|member| corecast_group_join(Some(object(group)), 0, member)), Status::Taken);
    let mut number = [1.0_f32];
    assert_eq!(allreduce(object(me), &mut number, Number::Float, Op::Xor as u32), Status::InvalidArgument);
    assert_eq!(words(), "argument 'op': is 6, not one of 0 to 3");
    // SAFETY: NULL is refused.
    let told = unsafe { corecast_member_broadcast(Some(object(me)), 0, ptr::null_mut(), 1) };
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'data': is NULL".to_owned()));
    assert_eq!(corecast_member_barrier(None), Status::InvalidArgument);
    assert_eq!((corecast_group_members(None), corecast_member_lost(None)), (0, -1));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
    corecast_group_destroy(None);
    corecast_member_leave(None);
}
