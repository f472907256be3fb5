//! Groups of the remaining members of a failed group.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Barrier;

use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::shrink::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};
use crate::members::{group, run};

const MINUTE_NS: u64 = 60_000_000_000;

/// Rank, members, old rank, how many are gone, completed, highest.
type Told = (u32, u32, u32, u32, u64, u64);

/// The place in the new group, and what the member is told.
#[track_caller]
fn shrink(me: &mut Member, gone: &mut [u32]) -> (*mut Member, Told) {
    let mut left = MaybeUninit::uninit();
    let (first, room) = (gone.as_mut_ptr(), gone.len());
    // SAFETY: ranks and their number.
    let call =
        |shrunk: Out<'_, Shrunk>| unsafe { corecast_member_shrink(Some(me), first, room, Some(&mut left), shrunk) };
    let Shrunk { old_rank, gone, completed, highest } = output(call);
    // SAFETY: the call succeeded.
    let left = unsafe { left.assume_init() };
    let (rank, members) = (corecast_member_rank(Some(object(left))), corecast_member_members(Some(object(left))));
    (left, (rank, members, old_rank, gone, completed, highest))
}

/// The status of a call that does not succeed, with room for one rank.
fn refused(me: Option<&mut Member>, timeout_ns: u64) -> Status {
    let mut gone = [7_u32];
    let (told, first) = (&mut MaybeUninit::uninit(), gone.as_mut_ptr());
    // SAFETY: one rank.
    let call = |left: Out<'_, *mut Member>| unsafe {
        corecast_member_shrink_timeout_ns(me, timeout_ns, first, 1, left, Some(told))
    };
    let status = status(call);
    assert_eq!(gone, [7], "outputs are as they were");
    status
}

#[test]
fn those_who_are_left_go_on() {
    let group = group(4);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
        if rank == 1 {
            return;
        }
        assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
        let mut gone = [7; 3];
        let (left, told) = shrink(me, &mut gone);
        let new_rank = rank.saturating_sub(1);
        assert_eq!((told, gone), ((new_rank, 3, rank, 1, 1, 1), [1, 7, 7]));
        assert_eq!(corecast_member_barrier(Some(object(left))), Status::Ok);
        // The failed group stays as it is, and the new one can be lost to a member in its turn.
        assert_eq!((corecast_member_barrier(Some(me)), corecast_member_lost(Some(me))), (Status::Lost, 1));
        assert_eq!(refused(Some(me), MINUTE_NS), Status::Taken);
        assert_eq!(words(), format!("rank {rank} has already joined the group"));
        if new_rank != 2 {
            assert_eq!(corecast_member_barrier(Some(object(left))), Status::Lost);
            assert_eq!(corecast_member_lost(Some(object(left))), 2);
            let (last, told) = shrink(object(left), &mut []);
            assert_eq!(told, (new_rank, 2, new_rank, 1, 1, 1), "without room for the rank it is counted");
            assert_eq!(corecast_member_barrier(Some(object(last))), Status::Ok);
            corecast_member_leave(owned(last));
        }
        corecast_member_leave(owned(left));
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn as_many_ranks_are_told_as_there_is_room_for() {
    let group = group(4);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        if rank == 0 || rank == 3 {
            assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
            let mut gone = [7; 1];
            let (left, told) = shrink(me, &mut gone);
            assert_eq!((told, gone), ((rank / 3, 2, rank, 2, 0, 0), [1]));
            corecast_member_leave(owned(left));
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_limit_names_who_is_missing_and_the_member_may_ask_again() {
    let group = group(3);
    let late = Barrier::new(2);
    run(group, |me| {
        let rank = corecast_member_rank(Some(me));
        match rank {
            0 => {
                assert_eq!(corecast_member_barrier(Some(me)), Status::Lost);
                for limit_ns in [0, 1_000_000] {
                    assert_eq!(refused(Some(me), limit_ns), Status::Timeout);
                    assert!(words().contains("member 2"), "{}", words());
                }
            }
            1 => return,
            _ => {}
        }
        late.wait();
        let (left, (_, members, old_rank, ..)) = shrink(me, &mut []);
        assert_eq!((members, old_rank), (2, rank));
        assert_eq!(corecast_member_barrier(Some(object(left))), Status::Ok);
        corecast_member_leave(owned(left));
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(1);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    assert_eq!(refused(Some(object(me)), MINUTE_NS), Status::InvalidArgument);
    assert_eq!(words(), "the group has not failed, so there is nothing to shrink it for");
    assert_eq!(refused(None, MINUTE_NS), Status::InvalidArgument);
    assert_eq!(words(), "argument 'member': is NULL");
    let (left, shrunk) = (&mut MaybeUninit::uninit(), &mut MaybeUninit::uninit());
    let mut call = |asks_for_ranks: bool, has_left: bool, has_shrunk: bool| {
        let (left, shrunk) = (has_left.then_some(&mut *left), has_shrunk.then_some(&mut *shrunk));
        // SAFETY: no ranks, or NULL, which is refused.
        let status = unsafe {
            corecast_member_shrink(Some(object(me)), ptr::null_mut(), usize::from(asks_for_ranks), left, shrunk)
        };
        (status, words())
    };
    for (name, told) in
        [("gone", call(true, true, true)), ("left", call(false, false, true)), ("shrunk", call(false, true, false))]
    {
        assert_eq!(told, (Status::InvalidArgument, format!("argument '{name}': is NULL")));
    }
    corecast_member_leave(owned(me));
    corecast_group_destroy(owned(group));
}
