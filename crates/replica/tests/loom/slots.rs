//! Nodes over messages that come to a group: of two at least one sees the other, and what one says of itself is read whole.

use corecast_base::PlaceSlice;
use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_replica::NodeId;
use corecast_replica::runtime::{ChannelPlace, Slots};
use corecast_replica::segment::Claim;
use loom::thread;

fn slots(count: usize) -> Slots {
    Slots::new(PlaceSlice::new((0..Slots::words(count)).map(|_| AtomicU64::new(0)).collect()))
}

/// Claims a slot after the last one that had it.
fn claim(slots: &Slots, slot: usize) -> NodeId {
    slots.claim(slot, slots.claim_of(slot), 5).expect("nobody else claims it")
}

/// A place all of whose numbers are this one.
fn place(node: NodeId) -> ChannelPlace {
    let number = node.inc;
    ChannelPlace { node, serial: number.into(), pid: number.into(), fd: number.into(), region: number.into() }
}

/// A thread that sees a claim sees that its process has said to be alive before: a living claimant does not look dead.
#[test]
fn a_claim_brings_the_record_of_its_process() {
    loom::model(|| {
        let (slots, is_alive) = (slots(1), Arc::new(AtomicU64::new(0)));
        let (theirs, their_record) = (slots.clone(), Arc::clone(&is_alive));
        let claiming = thread::spawn(move || {
            // ORDERING: Relaxed, the claim releases it: that is what this model is about
            their_record.store(1, Ordering::Relaxed);
            claim(&theirs, 0);
        });
        if slots.claim_of(0) != Claim::NONE {
            // ORDERING: Relaxed, as above
            assert_eq!(is_alive.load(Ordering::Relaxed), 1, "a living claimant looks dead");
        }
        claiming.join().expect("the claimant ends");
    });
}

#[test]
fn one_of_two_has_a_slot() {
    loom::model(|| {
        let slots = slots(1);
        let theirs = slots.clone();
        let claiming = thread::spawn(move || theirs.claim(0, Claim::NONE, 5).is_some());
        let is_mine = slots.claim(0, Claim::NONE, 6).is_some();
        assert_ne!(is_mine, claiming.join().expect("the other ends"));
    });
}

/// The node with the greater number has seen the claim of the other, to which it then makes a channel.
#[test]
fn of_two_that_come_the_later_sees_the_other() {
    loom::model(|| {
        let slots = slots(2);
        let come = |slots: &Slots, slot: usize| {
            claim(slots, slot);
            let serial = slots.next_serial();
            (serial, slots.claim_of(1 - slot) != Claim::NONE)
        };
        let theirs = slots.clone();
        let coming = thread::spawn(move || come(&theirs, 1));
        let (mine, other) = (come(&slots, 0), coming.join().expect("the other comes"));
        let (_, later_sees_it) = mine.max(other);
        assert!(mine.0 != other.0 && later_sees_it, "{mine:?} and {other:?}");
    });
}

#[test]
fn what_is_counted_is_announced() {
    loom::model(|| {
        let slots = slots(1);
        let theirs = slots.clone();
        let coming = thread::spawn(move || theirs.announce(&place(claim(&theirs, 0))));
        if slots.announcements() == 1 {
            assert_eq!(slots.announcement(0), Some(place(NodeId::new(0, 1))));
        }
        coming.join().expect("it comes");
    });
}

/// Two come one after another in one slot: the words are those of one of them.
#[test]
fn an_announcement_is_of_one_incarnation() {
    loom::model(|| {
        let slots = slots(1);
        let theirs = slots.clone();
        let coming = thread::spawn(move || {
            for _ in 0..2 {
                theirs.announce(&place(claim(&theirs, 0)));
            }
        });
        if let Some(found) = slots.announcement(0) {
            assert_eq!(found, place(found.node));
        }
        coming.join().expect("both come");
    });
}
