//! Two-phase commit through the C interface.

use std::ffi::c_void;
use std::ptr;
use std::sync::Barrier;

use corecast_c::commit::coordinator::*;
use corecast_c::commit::participant::*;
use corecast_c::group::*;
use corecast_c::member::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, words};
use crate::members::{group, run};

const MINUTE_NS: u64 = 60_000_000_000;

fn commit(coordinator: *mut CommitCoordinator, proposal: &[u8], is_committed: Out<'_, bool>) -> Status {
    let (data, len) = (proposal.as_ptr().cast(), proposal.len());
    // SAFETY: bytes and their number.
    unsafe { corecast_commit_coordinator_commit(Some(object(coordinator)), data, len, MINUTE_NS, is_committed) }
}

/// The proposals that were applied, and how many were not.
#[derive(Default)]
struct Seen {
    committed: Vec<Vec<u8>>,
    aborted: usize,
}

/// Votes for proposals of an even number of bytes.
unsafe extern "C" fn vote(_: *mut c_void, _: *const c_void, len: usize) -> bool {
    len % 2 == 0
}

unsafe extern "C" fn apply(seen: *mut c_void, data: *const c_void, len: usize, is_committed: bool) {
    // SAFETY: the context of the calls below.
    let seen = unsafe { seen.cast::<Seen>().as_mut() }.expect("given");
    match is_committed {
        // SAFETY: that many bytes, as the header says.
        true => seen.committed.push(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }.to_vec()),
        false => seen.aborted += 1,
    }
}

fn serve(participant: *mut CommitParticipant, seen: &mut Seen) -> Status {
    let context = ptr::from_mut(seen).cast();
    // SAFETY: functions that take this context.
    unsafe { corecast_commit_participant_serve(Some(object(participant)), Some(vote), Some(apply), context) }
}

#[test]
fn a_proposal_that_all_vote_for_is_applied_by_all() {
    for (longest, lengths) in [(10, 0..=10), (56, 0..=56), (505, 0..=505), (1 << 20, (1 << 20) - 3..=1 << 20)] {
        let group = group(3);
        let proposals: Vec<Vec<u8>> = lengths.map(|len| vec![len as u8; len]).collect();
        run(group, |me| {
            if corecast_member_rank(Some(me)) == 1 {
                let coordinator = output(|to| corecast_commit_coordinator_open(Some(me), longest, to));
                for proposal in &proposals {
                    let is_committed = output(|is_committed| commit(coordinator, proposal, is_committed));
                    assert_eq!(is_committed, proposal.len() % 2 == 0);
                }
                let over = vec![0; longest + 1];
                assert_eq!(status(|is_committed| commit(coordinator, &over, is_committed)), Status::TooLarge);
                assert_eq!(words(), format!("a proposal has at most {longest} bytes, not {}", longest + 1));
                assert_eq!(corecast_member_barrier(Some(me)), Status::InvalidArgument, "the member is busy");
                corecast_commit_coordinator_close(owned(coordinator));
            } else {
                let participant = output(|to| corecast_commit_participant_open(Some(me), 1, longest, to));
                let mut seen = Seen::default();
                let end = std::iter::repeat_with(|| serve(participant, &mut seen)).find(|&told| told != Status::Ok);
                assert_eq!((end, words().as_str()), (Some(Status::Closed), "the coordinator has ended"));
                let even: Vec<Vec<u8>> = proposals.iter().filter(|proposal| proposal.len() % 2 == 0).cloned().collect();
                // A member need not hear of a proposal that another one has refused already.
                assert!(seen.committed == even && seen.aborted <= proposals.len() - even.len());
                corecast_commit_participant_close(owned(participant));
            }
            assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
        });
        corecast_group_destroy(owned(group));
    }
}

#[test]
fn a_proposal_that_a_member_does_not_vote_on_in_time_is_aborted() {
    let group = group(2);
    let ended = Barrier::new(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 0 {
            let coordinator = output(|to| corecast_commit_coordinator_open(Some(me), 8, to));
            let (data, to) = ([0_u8; 2], Some(object(coordinator)));
            // SAFETY: two bytes.
            let is_committed = output(|is_committed| unsafe {
                corecast_commit_coordinator_commit(to, data.as_ptr().cast(), 2, 1000, is_committed)
            });
            assert!(!is_committed);
            corecast_commit_coordinator_close(owned(coordinator));
            ended.wait();
        } else {
            // The participant serves nothing before the coordinator has ended.
            let participant = output(|to| corecast_commit_participant_open(Some(me), 0, 8, to));
            ended.wait();
            corecast_commit_participant_close(owned(participant));
        }
        assert_eq!(corecast_member_barrier(Some(me)), Status::Ok);
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn a_coordinator_that_is_lost_is_named() {
    let group = group(2);
    run(group, |me| {
        if corecast_member_rank(Some(me)) == 0 {
            let participant = output(|to| corecast_commit_participant_open(Some(me), 1, 8, to));
            let told = serve(participant, &mut Seen::default());
            assert!(matches!(told, Status::Closed | Status::Lost), "{told:?}");
            corecast_commit_participant_close(owned(participant));
            assert_eq!((corecast_member_barrier(Some(me)), corecast_member_lost(Some(me))), (Status::Lost, 1));
        } else {
            let coordinator = output(|to| corecast_commit_coordinator_open(Some(me), 8, to));
            corecast_commit_coordinator_close(owned(coordinator));
        }
    });
    corecast_group_destroy(owned(group));
}

#[test]
fn wrong_arguments_are_named() {
    let group = group(2);
    let me = output(|member| corecast_group_join(Some(object(group)), 0, member));
    let me = || Some(object(me));
    assert_eq!(status(|to| corecast_commit_coordinator_open(me(), usize::MAX, to)), Status::System);
    for rank in [0, 2] {
        assert_eq!(status(|to| corecast_commit_participant_open(me(), rank, 8, to)), Status::InvalidArgument);
    }
    assert_eq!(status(|to| corecast_commit_participant_open(me(), 1, usize::MAX, to)), Status::System);
    let coordinator = output(|to| corecast_commit_coordinator_open(me(), 8, to));
    // SAFETY: NULL is refused.
    let told = status(|is_committed| unsafe {
        corecast_commit_coordinator_commit(Some(object(coordinator)), ptr::null(), 1, 0, is_committed)
    });
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'proposal': is NULL".to_owned()));
    corecast_commit_coordinator_close(owned(coordinator));
    let participant = output(|to| corecast_commit_participant_open(me(), 1, 8, to));
    // SAFETY: a function that is missing is refused.
    let told =
        unsafe { corecast_commit_participant_serve(Some(object(participant)), None, Some(apply), ptr::null_mut()) };
    assert_eq!((told, words()), (Status::InvalidArgument, "argument 'vote': is NULL".to_owned()));
    corecast_commit_participant_close(owned(participant));
    corecast_commit_coordinator_close(None);
    corecast_commit_participant_close(None);
    corecast_member_leave(owned(std::ptr::from_mut(object(me().expect("a member")))));
    corecast_group_destroy(owned(group));
}
