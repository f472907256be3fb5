//! Two-phase commit: what its votes show, and proposals that lie in one area, of two words in a piece.

use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::Barrier;

use super::{briefly, group, run};

/// All agree on a commit, and a member that applies it sees what another one wrote before it voted.
#[test]
fn a_commit_shows_what_was_written_before_the_votes() {
    loom::model(|| {
        let group = group(3, Barrier::Ticket, Wait::Spin);
        let written = Arc::new(AtomicU64::new(0));
        run(&group, move |me| match me.rank() {
            0 => {
                let mut coordinator = me.coordinator::<u64>().expect("nobody is lost");
                assert_eq!(coordinator.commit(&1, Duration::MAX), Ok(true));
                assert_eq!(written.load(Ordering::Relaxed), 1, "by the member that voted");
            }
            1 => {
                let mut participant = me.participant::<u64>(0).expect("nobody is lost");
                let vote = |_: &u64| {
                    written.store(1, Ordering::Relaxed);
                    true
                };
                assert_eq!(participant.serve(vote, |_, is_commit| assert!(is_commit)), Ok(true));
            }
            _ => {
                let mut participant = me.participant::<u64>(0).expect("nobody is lost");
                let apply = |_: &u64, is_commit| assert!(is_commit && written.load(Ordering::Relaxed) == 1);
                assert_eq!(participant.serve(|_| true, apply), Ok(true));
            }
        });
    });
}

/// Proposals of two pieces come through whole, though the second is written over the first.
#[test]
fn long_proposals_of_two_are_whole() {
    briefly(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        let proposals = [[1u64, 2, 3], [4, 5, 6]];
        run(&group, move |me| {
            if me.rank() == 0 {
                let mut coordinator = me.slice_coordinator::<u64>(3).expect("nobody is lost");
                for proposal in &proposals {
                    assert_eq!(coordinator.commit(proposal, Duration::MAX), Ok(true));
                }
            } else {
                let mut participant = me.slice_participant::<u64>(0, 3).expect("nobody is lost");
                for expected in &proposals {
                    let is_whole = |proposal: &[u64]| proposal == expected;
                    assert_eq!(participant.serve(is_whole, |_, is_commit| assert!(is_commit)), Ok(true));
                }
            }
        });
    });
}

/// A sleeper is woken for each piece.
#[test]
fn long_proposals_wake_a_participant_that_sleeps() {
    briefly(|| {
        let group = group(2, Barrier::Ticket, Wait::Park);
        run(&group, |me| {
            if me.rank() == 0 {
                let mut coordinator = me.slice_coordinator::<u64>(3).expect("nobody is lost");
                assert_eq!(coordinator.commit(&[1, 2, 3], Duration::MAX), Ok(true));
            } else {
                let mut participant = me.slice_participant::<u64>(0, 3).expect("nobody is lost");
                assert_eq!(participant.serve(|proposal| proposal == [1, 2, 3], |_, is| assert!(is)), Ok(true));
            }
        });
    });
}

/// The coordinator writes over an area only after the votes of all its readers: it sees what they did before. The model does
/// not let a load see a store that comes later, so this stands for values that are torn.
#[test]
fn an_area_is_written_over_after_it_was_read() {
    briefly(|| {
        let group = group(2, Barrier::Ticket, Wait::Spin);
        let has_read = Arc::new(AtomicU64::new(0));
        run(&group, move |me| {
            if me.rank() == 0 {
                let mut coordinator = me.slice_coordinator::<u64>(2).expect("nobody is lost");
                // Refused, so that no decision but the vote orders the two.
                assert_eq!(coordinator.commit(&[1, 2], Duration::MAX), Ok(false));
                assert_eq!(has_read.load(Ordering::Relaxed), 1);
            } else {
                let mut participant = me.slice_participant::<u64>(0, 2).expect("nobody is lost");
                let vote = |_: &[u64]| {
                    has_read.store(1, Ordering::Relaxed);
                    false
                };
                assert_eq!(participant.serve(vote, |_, is_commit| assert!(!is_commit)), Ok(true));
            }
        });
    });
}
