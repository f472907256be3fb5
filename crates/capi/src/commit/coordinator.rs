//! The member that makes proposals.
//!
//! A proposal is copied when it is put to the vote, and is C's again when the call returns. The coordinator has its member's
//! place in the group until it is closed, which tells the participants that nothing more will be proposed.

use std::time::Duration;

use corecast::collective::Coordinator;

use super::too_large;
use crate::member::Member;
use crate::opened::Opened;

/// The member of a group that makes proposals, while all others are participants. One thread at a time uses it.
///
/// A proposal is committed if all vote for it in time; otherwise no member applies it. Its room in the group's memory stays
/// taken for as long as the group lives.
#[derive(Debug)]
pub struct CommitCoordinator {
    opened: Opened<Coordinator<'static, [u8]>>,
    longest_bytes: usize,
}

c_functions! {
    /// Makes this member the coordinator of proposals of up to `longest_bytes`, which are the same for all members; all
    /// others call corecast_commit_participant_open meanwhile. Proposals of up to 56 bytes travel in one cache line, those of
    /// up to 504 in one message. If longer ones are possible, two of the longest take room in the group's memory;
    /// CORECAST_SYSTEM if it has none.
    safe fn corecast_commit_coordinator_open(
        member: &mut Member,
        longest_bytes: usize
    ) -> (coordinator: new CommitCoordinator) {
        // SAFETY: the reference to the member is kept only in the returned object.
        let opened = unsafe { Opened::open(member, |place| place.slice_coordinator(longest_bytes)) }?;
        CommitCoordinator { opened, longest_bytes }
    }

    /// Ends the coordinator, and the participants learn of it; NULL is none. Its member can call other operations again.
    closing fn corecast_commit_coordinator_close(coordinator: CommitCoordinator);

    /// Puts a proposal of `len` bytes to the vote, for at most `timeout_ns`; `is_committed` is true if all have voted for
    /// it in time, so that all apply it. The decision also stands if a member was lost meanwhile: then the next call
    /// returns CORECAST_LOST. CORECAST_TOO_LARGE for more bytes than the coordinator was made for; no member is asked then.
    unsafe fn corecast_commit_coordinator_commit(
        coordinator: &mut CommitCoordinator,
        proposal: bytes[len],
        timeout_ns: Duration
    ) -> (is_committed: bool) {
        if len > coordinator.longest_bytes {
            return Err(too_large(len, coordinator.longest_bytes));
        }
        coordinator.opened.with(|coordinator| coordinator.commit(proposal, timeout_ns))?
    }
}
