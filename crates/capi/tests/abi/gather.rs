//! Bytes gathered and scattered by operations that are started, polled, given limits, and plain.

use std::ptr;

use corecast_c::gather::*;
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::started::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};
use crate::members::{group, run};

const MINUTE_NS: u64 = 60_000_000_000;
/// None, one message and its neighbours, and many.
const LENGTHS: [usize; 6] = [0, 1, 504, 505, 3000, 100_000];

/// The bytes that a member gives to gather, and gets from scatter.
fn part(rank: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 3 + rank) as u8).collect()
}

/// Those of three, one after the other.
fn parts(len: usize) -> Vec<u8> {
    (0..3).flat_map(|rank| part(rank, len)).collect()
}

fn finish_and_close(started: *mut Started) -> Status {
    let told = corecast_started_finish(Some(object(started)));
    assert_eq!(corecast_started_finish(Some(object(started))), told, "it is finished once, and tells the same");
    corecast_started_close(owned(started));
    told
}

/// Gathers in one of three ways.
fn gather(me: &mut Member, root: u32, way: usize, data: &[u8], gathered: &mut [u8]) -> Status {
    let (from, len) = (data.as_ptr().cast(), data.len());
    let to = if corecast_member_rank(Some(me)) == root { gathered.as_mut_ptr().cast() } else { ptr::null_mut() };
    match way {
        // SAFETY: bytes and their number, and room for those of all at the root.
        0 => unsafe { corecast_member_gather(Some(me), root, from, len, to) },
        // SAFETY: as above.
        1 => unsafe { corecast_member_gather_timeout_ns(Some(me), root, from, len, to, MINUTE_NS) },
        _ => {
            // SAFETY: as above, until it is closed.
            finish_and_close(output(|started| unsafe {
                corecast_member_start_gather(Some(me), root, from, len, to, started)
            }))
        }
    }
}

/// Scatters in one of three ways.
fn scatter(me: &mut Member, root: u32, way: usize, data: &[u8], own: &mut [u8]) -> Status {
    let from = if corecast_member_rank(Some(me)) == root { data.as_ptr().cast() } else { ptr::null() };
    let (to, len) = (own.as_mut_ptr().cast(), own.len());
    match way {
        // SAFETY: bytes and their number, and those of all at the root.
        0 => unsafe { corecast_member_scatter(Some(me), root, from, len, to) },
        // SAFETY: as above.
        1 => unsafe { corecast_member_scatter_timeout_ns(Some(me), root, from, len, to, MINUTE_NS) },
        _ => {
            // SAFETY: as above, until it is closed.
            finish_and_close(output(|started| unsafe {
                corecast_member_start_scatter(Some(me), root, from, len, to, started)
            }))
        }
    }
}

#[test]
fn started_limited_and_plain_ones_meet() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me)) as usize;
        for (round, len) in LENGTHS.into_iter().cycle().take(18).enumerate() {
            let (root, way) = (round % 3, (rank + round / 3) % 3);
            let mut gathered = vec![0; 3 * len];
            assert_eq!(gather(me, root as u32, way, &part(rank, len), &mut gathered), Status::Ok, "{}", words());
            assert!(gathered == if rank == root { parts(len) } else { vec![0; 3 * len] }, "{len} to {root}");
            let mut own = vec![0; len];
            assert_eq!(scatter(me, root as u32, way, &parts(len), &mut own), Status::Ok, "{}", words());
            assert!(own == part(rank, len), "{len} from {root}");
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_start_copies_what_it_reads_and_keeps_what_it_writes() {
    let group = group(2);
    let [me, late] = [0, 1].map(|rank| output(|member| corecast_group_join(Some(object(group)), rank, member)));
    let (mut own, mut gathered) = (part(0, 1000), vec![0; 2000]);
    let (data, to) = (own.as_ptr().cast(), gathered.as_mut_ptr().cast());
    let start = |started: Out<'_, *mut Started>| {
        // SAFETY: 1000 bytes, and room for those of both.
        unsafe { corecast_member_start_gather(Some(object(me)), 0, data, 1000, to, started) }
    };
    let started = output(start);
    own.fill(9);
    assert!(!output(|is_finished| corecast_started_try_finish(Some(object(started)), is_finished)));
    assert_eq!(corecast_started_finish_timeout_ns(Some(object(started)), 1_000_000), Status::Timeout);
    assert!(words().contains("member 1 has not begun it"), "{}", words());
    let theirs = part(1, 1000);
    // SAFETY: bytes and their number.
    let told = unsafe { corecast_member_gather(Some(object(late)), 0, theirs.as_ptr().cast(), 1000, ptr::null_mut()) };
    assert_eq!(told, Status::Ok, "the edge has room for it");
    assert!(output(|is_finished| corecast_started_try_finish(Some(object(started)), is_finished)));
    assert!(gathered == [part(0, 1000), theirs].concat());
    corecast_started_close(owned(started));
    [me, late].into_iter().for_each(|member| corecast_member_leave(owned(member)));
    corecast_group_destroy(owned(group));
}

#[test]
fn every_limit_passes_while_somebody_is_late() {
    let mut room = [0_u8; 32];
    let to = room.as_mut_ptr().cast();
    let calls: [&dyn Fn(&mut Member) -> Status; 2] = [
        // SAFETY: 16 bytes, and room for those of both.
        &|me| unsafe { corecast_member_gather_timeout_ns(Some(me), 0, [1_u8; 16].as_ptr().cast(), 16, to, 1_000_000) },
        // SAFETY: room for 16 bytes.
        &|me| unsafe { corecast_member_scatter_timeout_ns(Some(me), 1, ptr::null(), 16, to, 1_000_000) },
    ];
    for call in calls {
        let group = group(2);
        let [me, late] = [0, 1].map(|rank| output(|member| corecast_group_join(Some(object(group)), rank, member)));
        assert_eq!(call(object(me)), Status::Timeout);
        assert!(words().contains("member 1 has not begun it"), "{}", words());
        assert_eq!(corecast_member_barrier(Some(object(me))), Status::InvalidArgument, "it can only leave");
        [me, late].into_iter().for_each(|member| corecast_member_leave(owned(member)));
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn bytes_of_other_lengths_are_told_to_the_root_in_every_way() {
    for way in 0..3 {
        let group = group(2);
        run(group, |me| {
            let rank = corecast_member_rank(Some(me));
            let told = gather(me, 0, way, &part(0, 700 + rank as usize), &mut [0; 1400]);
            assert_eq!(told, if rank == 0 { Status::Mismatch } else { Status::Ok });
            assert!(rank != 0 || words() == "member 1 gave 701 bytes and not 700", "{}", words());
            assert_eq!(corecast_member_barrier(Some(me)), Status::Ok, "all were received");
        });
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let (data, mut room) = ([1_u8; 4], [0_u8; 4]);
    let (from, to) = (data.as_ptr().cast(), room.as_mut_ptr().cast());
    let gather = |root, from, to| {
        // SAFETY: four bytes each, or NULL, which is refused.
        status(|started| unsafe { corecast_member_start_gather(Some(object(me)), root, from, 4, to, started) })
    };
    let scatter = |root, from, to| {
        // SAFETY: as above.
        status(|started| unsafe { corecast_member_start_scatter(Some(object(me)), root, from, 4, to, started) })
    };
    let refused = |told: Status, why: &str| assert_eq!((told, words().as_str()), (Status::InvalidArgument, why));
    refused(gather(0, ptr::null(), to), "argument 'data': is NULL");
    refused(gather(0, from, ptr::null_mut()), "argument 'gathered': is NULL");
    refused(gather(1, from, to), "rank 1 is outside a group of 1 members");
    refused(scatter(0, ptr::null(), to), "argument 'data': is NULL");
    refused(scatter(0, from, ptr::null_mut()), "argument 'own': is NULL");
    refused(scatter(1, from, to), "rank 1 is outside a group of 1 members");
    // SAFETY: NULL is refused.
    refused(
        unsafe { corecast_member_start_gather(Some(object(me)), 0, from, 4, to, None) },
        "argument 'started': is NULL",
    );
    // SAFETY: as above.
    refused(unsafe { corecast_member_scatter_timeout_ns(None, 0, from, 4, to, 0) }, "argument 'member': is NULL");
    // SAFETY: four bytes each.
    let told = unsafe { corecast_member_scatter_timeout_ns(Some(object(me)), 0, from, 4, to, MINUTE_NS) };
    assert_eq!((told, room), (Status::Ok, data));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
