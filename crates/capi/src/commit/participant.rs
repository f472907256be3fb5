//! A member that votes.
//!
//! C's functions vote and apply within the call that serves a proposal, which is lent to them until they return. The
//! participant has its member's place in the group until it is closed.

use std::ffi::c_void;

use corecast::collective::Participant;

use crate::argument::required;
use crate::error::Failure;
use crate::member::Member;
use crate::opened::Opened;
use crate::status::Status;

/// A member of a group that votes on what the coordinator proposes. One thread at a time uses it.
#[derive(Debug)]
pub struct CommitParticipant(Opened<Participant<'static, [u8]>>);

c_functions! {
    /// Makes this member a participant in what the member of rank `coordinator` proposes, of up to `longest_bytes`, which are the
    /// same for all members. CORECAST_SYSTEM if the group's memory has no room, as for the coordinator.
    safe fn corecast_commit_participant_open(
        member: &mut Member,
        coordinator: u32,
        longest_bytes: usize
    ) -> (participant: new CommitParticipant) {
        let open = |place: &'static mut corecast::Member| place.slice_participant(coordinator as usize, longest_bytes);
        // SAFETY: the reference to the member is kept only in the returned object.
        CommitParticipant(unsafe { Opened::open(member, open) }?)
    }

    /// Ends the participant; NULL is none. Proposals made afterwards are not committed. Its member can call other
    /// operations again.
    closing fn corecast_commit_participant_close(participant: CommitParticipant);

    /// Waits for the next proposal, votes on it as `vote` says, and calls `apply` with it and whether it is committed. A
    /// proposal that this member votes against is not committed, which the member knows at once. CORECAST_CLOSED if the
    /// coordinator has ended; CORECAST_LOST if the group has failed before there was a proposal. Neither function calls
    /// anything with this participant, and neither throws nor jumps; the proposal is theirs until they return.
    unsafe fn corecast_commit_participant_serve(
        participant: &mut CommitParticipant,
        vote: Option<unsafe extern "C" fn(context: *mut c_void, proposal: *const c_void, len: usize) -> bool>,
        apply: Option<
            unsafe extern "C" fn(context: *mut c_void, proposal: *const c_void, len: usize, is_committed: bool)
        >,
        context: *mut c_void
    ) {
        let (vote, apply) = (required(vote, "vote")?, required(apply, "apply")?);
        // SAFETY: the caller's function, called as the header says.
        let vote = |bytes: &[u8]| unsafe { vote(context, bytes.as_ptr().cast(), bytes.len()) };
        let apply = |bytes: &[u8], is_committed: bool| {
            // SAFETY: the caller's function, called as the header says.
            unsafe { apply(context, bytes.as_ptr().cast(), bytes.len(), is_committed) };
        };
        if !participant.0.with(|participant| participant.serve(vote, apply))? {
            return Err(Failure::new(Status::Closed, "the coordinator has ended"));
        }
    }
}
