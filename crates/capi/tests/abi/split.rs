//! Parts of groups as groups of their own.

use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::number::{Number, Op};
use corecast_c::split::*;
use corecast_c::started::*;
use corecast_c::status::Status;

use crate::calling::{object, output, owned, status, words};
use crate::members::{group, run};

/// The sum of the members' numbers.
fn sum(me: &mut Member, number: u32) -> u32 {
    let mut sum = [number];
    let (numbers, kind, op) = (sum.as_mut_ptr().cast(), Number::Uint32 as u32, Op::Sum as u32);
    // SAFETY: one number.
    let told = unsafe { corecast_member_allreduce(Some(me), numbers, 1, kind, op) };
    assert_eq!(told, Status::Ok, "{}", words());
    sum[0]
}

fn place(me: &Member) -> (u32, u32) {
    (corecast_member_rank(Some(me)), corecast_member_members(Some(me)))
}

#[test]
fn members_work_in_parts_in_parts_of_parts_and_in_the_whole() {
    let group = group(5);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let part = output(|part| corecast_member_split(Some(me), i64::from(rank % 2), -i64::from(rank), part));
        let own = object(part);
        assert_eq!(place(own), [(2, 3), (1, 2), (1, 3), (0, 2), (0, 3)][rank as usize], "the key turns the order");
        assert_eq!(corecast_member_barrier(Some(own)), Status::Ok);
        assert_eq!(sum(own, rank), if rank % 2 == 0 { 6 } else { 4 });
        // The even members once more: the first one alone, at the largest color, and the others.
        if rank % 2 == 0 {
            let color = if place(own).0 == 0 { i64::from(u32::MAX) } else { 0 };
            let nested = output(|nested| corecast_member_split(Some(own), color, 0, nested));
            assert_eq!(sum(object(nested), rank), if rank == 4 { 4 } else { 2 });
            assert_eq!(sum(own, 1), 3, "the part is there as before");
            corecast_member_leave(owned(nested));
        }
        assert_eq!(sum(me, rank), 10, "and the whole");
        corecast_member_leave(owned(part));
        assert_eq!(sum(me, 1), 5, "a member that has left a part is still in the whole");
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_member_without_a_color_is_in_no_part() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let color = if rank == 1 { NO_COLOR } else { 7 };
        let part = output(|part| corecast_member_split(Some(me), color, 0, part));
        assert_eq!(part.is_null(), rank == 1);
        if rank != 1 {
            assert_eq!((place(object(part)), sum(object(part), rank)), ((rank / 2, 2), 2));
            corecast_member_leave(owned(part));
        }
        assert_eq!(sum(me, 1), 3);
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_member_that_is_lost_to_a_part_is_in_the_whole() {
    let group = group(3);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        let part = output(|part| corecast_member_split(Some(me), 0, 0, part));
        if rank != 2 {
            assert_eq!(corecast_member_barrier(Some(object(part))), Status::Lost);
            assert_eq!(corecast_member_lost(Some(object(part))), 2);
        }
        corecast_member_leave(owned(part));
        assert_eq!((sum(me, 1), corecast_member_lost(Some(me))), (3, -1));
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn members_left_behind_are_told_who_is_lost() {
    let group = group(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 0 {
            assert_eq!(status(|part| corecast_member_split(Some(me), 0, 0, part)), Status::Lost);
            assert_eq!(corecast_member_lost(Some(me)), 1);
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    for color in [NO_COLOR - 1, i64::from(u32::MAX) + 1] {
        assert_eq!(status(|part| corecast_member_split(Some(object(me)), color, 0, part)), Status::InvalidArgument);
        assert_eq!(words(), format!("argument 'color': is {color}, not -1 to 4294967295"));
    }
    assert_eq!(corecast_member_split(Some(object(me)), 0, 0, None), Status::InvalidArgument);
    assert_eq!(words(), "argument 'part': is NULL");
    assert_eq!(status(|part| corecast_member_split(None, 0, 0, part)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'member': is NULL");
    let started = output(|started| corecast_member_start_barrier(Some(object(me)), started));
    assert_eq!(status(|part| corecast_member_split(Some(object(me)), 0, 0, part)), Status::InvalidArgument);
    assert_eq!(words(), "an operation that this member has begun is not finished");
    assert_eq!(corecast_started_finish(Some(object(started))), Status::Ok);
    corecast_started_close(owned(started));
    let part = output(|part| corecast_member_split(Some(object(me)), 0, 0, part));
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
    assert_eq!(sum(object(part), 3), 3, "a part goes on when the whole has been left");
    corecast_member_leave(owned(part));
}
