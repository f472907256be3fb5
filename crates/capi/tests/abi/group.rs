//! Members that are threads.

use std::ffi::{CString, c_void};
use std::ptr;

use corecast::CpuId;
use corecast::machine::pin::affinity;
use corecast_c::gather::*;
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::number::{Number, Op};
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};
use crate::members::{group, group_config, run};

fn allreduce<T>(me: &mut Member, numbers: &mut [T], number: Number, op: u32) -> Status {
    let (first, count) = (numbers.as_mut_ptr().cast::<c_void>(), numbers.len());
    // SAFETY: numbers of this type and their number.
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
        // SAFETY: bytes and their number.
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
        let (parts, mut own) = ([7_u16, 8, 9], 0_u16);
        let (data, to) = (parts.as_ptr().cast(), ptr::from_mut(&mut own).cast());
        // SAFETY: six bytes at the root, and room for two.
        let told = unsafe { corecast_member_scatter(Some(me), 2, if rank == 2 { data } else { ptr::null() }, 2, to) };
        assert_eq!((told, own), (Status::Ok, parts[rank as usize]));
        let mut pair = [f64::from(rank % 2), f64::from(rank)];
        assert_eq!(allreduce(me, &mut pair, Number::Double, Op::MaxLoc as u32), Status::Ok);
        assert_eq!(pair, [1.0, 1.0]);
        let mut pairs = [5, i64::from(rank), -i64::from(rank), 4];
        assert_eq!(allreduce(me, &mut pairs, Number::Int64, Op::MinLoc as u32), Status::Ok);
        assert_eq!(pairs, [5, 0, -2, 4]);
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn members_that_call_different_operations_are_told_so() {
    let group = group(2);
    run(group, |me| {
        let told = match corecast_member_rank(Some(me)) {
            0 => corecast_member_barrier(Some(me)),
            _ => allreduce(me, &mut [1_u64], Number::Uint64, Op::Sum as u32),
        };
        assert_eq!(told, Status::OutOfStep);
        assert_eq!(words(), "member 1 called allreduce_slice where member 0 called barrier");
        assert_eq!(corecast_member_lost(Some(me)), -1, "nobody is lost");
        assert_eq!(corecast_member_barrier(Some(me)), Status::OutOfStep);
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
fn room_for_another_length_is_told_to_all_who_scatter() {
    let group = group(2);
    run(group, |me| {
        let len = 3 + corecast_member_rank(Some(me)) as usize;
        let mut own = [0_u8; 4];
        // SAFETY: three bytes for each of the two, and room for as many bytes as the call says.
        let told =
            unsafe { corecast_member_scatter(Some(me), 0, [1_u8; 6].as_ptr().cast(), len, own.as_mut_ptr().cast()) };
        let told = if told == Status::Ok { corecast_member_barrier(Some(me)) } else { told };
        assert_eq!((told, words().contains("another length")), (Status::Lost, true), "{}", words());
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_process_becomes_a_member_by_name() {
    let name = CString::new(format!("corecast-abi-{}", std::process::id())).expect("no zero byte");
    let config = group_config(1);
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
fn members_run_on_the_cpus_that_the_group_is_planned_for() {
    let config = GroupConfig { pin: 1, ..group_config(2) };
    // SAFETY: a configuration with its size.
    let group = output(|group| unsafe { corecast_group_create(&raw const config, group) });
    let cpus = [0, 1].map(|rank| output(|cpu| corecast_group_cpu(Some(object(group)), rank, cpu)));
    run(group, |me| {
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok, "{}", words());
        let may_run = affinity().expect("the CPUs of this thread");
        assert_eq!(may_run.as_slice(), [CpuId::new(cpus[corecast_member_rank(Some(me)) as usize])]);
    });
    assert_eq!(status(|cpu| corecast_group_cpu(Some(object(group)), 2, cpu)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'rank': is 2, and there are 2 members");
    corecast_group_destroy(owned(group));
}

/// A plan file over these CPUs, each of which passes messages to the next.
fn plan_file(cpus: &[CpuId], more: &str) -> (tempfile::NamedTempFile, CString) {
    let edges = cpus.windows(2).map(|pair| format!("\"{}\": [{}]", pair[0], pair[1])).collect::<Vec<_>>();
    let text = format!("{{\"root\": {}, \"children\": {{{}}}{more}}}", cpus[0], edges.join(", "));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&file, text).expect("written");
    let path = CString::new(file.path().as_os_str().as_encoded_bytes()).expect("no zero byte");
    (file, path)
}

#[test]
fn a_group_follows_a_plan_file() {
    let machine = corecast::machine::detect().expect("a machine");
    let cpus = machine.cpu_set();
    let members = cpus.len().min(3);
    let planned = |path: &CString, members, group: Out<'_, *mut Group>| {
        let config = GroupConfig { plan: path.as_ptr(), ..group_config(members) };
        // SAFETY: a configuration with its size, and a text in it.
        unsafe { corecast_group_create(&raw const config, group) }
    };
    let (_file, path) = plan_file(&cpus.as_slice()[..members], "");
    let group = output(|group| planned(&path, members as u32, group));
    run(group, |me| {
        let mut sums = [corecast_member_rank(Some(me)), 1];
        assert_eq!(allreduce(me, &mut sums, Number::Uint32, Op::Sum as u32), Status::Ok);
        assert_eq!(sums[1] as usize, members);
    });
    corecast_group_destroy(owned(group));

    let refused = |path: &CString, members| (status(|group| planned(path, members, group)), words());
    let (told, why) = refused(&path, cpus.len() as u32 + 1);
    assert_eq!((told, why.contains("is for one CPU each")), (Status::InvalidArgument, true), "{why}");
    let (_file, other) = plan_file(&[CpuId::new(100_000)], "");
    let (told, why) = refused(&other, 1);
    assert_eq!((told, why.contains("CPU 100000 is not among the CPUs")), (Status::InvalidArgument, true), "{why}");
    let (_file, scheme) = plan_file(&cpus.as_slice()[..members], ", \"scheme\": \"dissemination\"");
    let (told, why) = refused(&scheme, members as u32);
    assert_eq!((told, why.contains("its scheme is dissemination")), (Status::InvalidArgument, true), "{why}");
    let missing = CString::new("/nowhere/plan.json").expect("no zero byte");
    assert_eq!(refused(&missing, 1).0, Status::NotFound);
}

#[test]
fn a_configuration_of_the_first_version_is_understood() {
    let config = GroupConfig { size: 16, pin: 7, reserved: 7, ..group_config(2) };
    // SAFETY: it has as many bytes as it says; the later fields are not looked at.
    let group = output(|group| unsafe { corecast_group_create(&raw const config, group) });
    assert_eq!(corecast_group_members(Some(object(group))), 2);
    corecast_group_destroy(owned(group));
}

#[test]
fn wrong_arguments_are_named() {
    let config = group_config(5000);
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
    assert_eq!(words(), "argument 'op': is 6, which is no corecast_op of floating-point numbers");
    assert_eq!(allreduce(object(me), &mut [1_u32; 3], Number::Uint32, Op::MinLoc as u32), Status::InvalidArgument);
    assert_eq!(words(), "argument 'count': is 3, which are no pairs");
    assert_eq!(allreduce(object(me), &mut [1_u32], Number::Uint32, 9), Status::InvalidArgument);
    assert_eq!(words(), "argument 'op': is 9, which is no corecast_op of integers");
    // SAFETY: NULL is refused.
    let told = unsafe { corecast_member_scatter(Some(object(me)), 0, ptr::null(), 1, number.as_mut_ptr().cast()) };
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'data': is NULL".to_owned()));
    // SAFETY: no such root, so nothing is read or written.
    let told = unsafe { corecast_member_scatter(Some(object(me)), 1, ptr::null(), 0, ptr::null_mut()) };
    assert_eq!((told, words()), (Status::InvalidArgument, "rank 1 is outside a group of 1 members".to_owned()));
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
