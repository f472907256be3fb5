//! The control page, and what it promises about the segments.

use std::sync::Arc;

use corecast_base::Arena;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_replica::segment::{CellRead, Claim, ConfigurationWord, Control, ControlError, LayoutError, NodeRecord};
use corecast_replica::{Configuration, Epoch, NodeId, RoleChange};
use loom::thread;

use crate::{NODE, command, layout, may_be_there, must_be_there, writer};

fn page() -> Control {
    Control::on_heap(layout(1), Wait::Spin)
}

fn word(epoch: Epoch) -> ConfigurationWord {
    ConfigurationWord::new(epoch, NODE, 0)
}

fn configuration(epoch: Epoch, leader: NodeId) -> Configuration {
    let (acceptor, source) = (NODE, NODE);
    Configuration { epoch, change: RoleChange::Leader, leader, acceptor, inst: 0, stable: 0, source, hi: 0 }
}

/// The acceptor writes, fences and looks at the epoch; the new leader swaps, fences and looks at the log. The acceptor must
/// not commit what the leader misses.
#[test]
fn the_acceptor_sees_the_epoch_or_the_new_leader_sees_the_command() {
    loom::model(|| {
        let (page, mut acceptor) = (page(), writer(1));
        page.swap(ConfigurationWord::NONE, word(1)).expect("nobody else");
        let (theirs, log) = (page.clone(), acceptor.reader());
        let accepting = thread::spawn(move || {
            acceptor.write_accepted(1, 0, &[command(5)]);
            let is_newest = theirs.is_newest_after_fence(1);
            if is_newest {
                acceptor.commit(1, 0)
            } else {
                acceptor.erase(0..1)
            }
            is_newest
        });
        page.swap(word(1), word(2)).expect("nobody else");
        let adopted = may_be_there(log.accepted(0));
        let is_committed = accepting.join().expect("the acceptor ends");
        assert!(!is_committed || adopted == Some((1, 5)), "a committed command is adopted");
    });
}

/// The same with the command of an epoch before, which the acceptor confirms under its own.
#[test]
fn a_confirmed_command_is_never_missed() {
    loom::model(|| {
        let (page, mut acceptor) = (page(), writer(1));
        page.swap(ConfigurationWord::NONE, word(2)).expect("nobody else");
        acceptor.write_accepted(1, 0, &[command(5)]);
        acceptor.commit(1, 0);
        let (theirs, log) = (page.clone(), acceptor.reader());
        let accepting = thread::spawn(move || {
            acceptor.write_accepted(2, 0, &[command(5)]);
            theirs.is_newest_after_fence(2)
        });
        page.swap(word(2), word(3)).expect("nobody else");
        let (epoch, rid) = must_be_there(log.accepted(0));
        let is_newest = accepting.join().expect("the acceptor ends");
        assert!(rid == 5 && (!is_newest || epoch == 2), "a confirmed command has the epoch of its confirmation");
    });
}

#[test]
fn a_word_brings_its_cell() {
    loom::model(|| {
        let (page, mut proposer) = (page(), writer(1));
        let (theirs, cells) = (page.clone(), proposer.reader());
        let proposing = thread::spawn(move || {
            let cell = proposer.write_cell(&configuration(1, NODE));
            theirs.swap(ConfigurationWord::NONE, ConfigurationWord::new(1, NODE, cell)).expect("nobody else");
        });
        let newest = page.configuration();
        if newest != ConfigurationWord::NONE {
            let found = cells.cell(newest.cell(), newest.epoch());
            assert_eq!(found, CellRead::Configuration(configuration(1, NODE)));
        }
        proposing.join().expect("the proposer ends");
    });
}

#[test]
fn the_loser_of_a_race_can_read_the_winner() {
    loom::model(|| {
        let (page, mut mine, mut theirs) = (page(), writer(1), writer(1));
        let (their_page, their_cells, my_cells) = (page.clone(), theirs.reader(), mine.reader());
        let race = |page: &Control, cell, leader: NodeId| {
            page.swap(ConfigurationWord::NONE, ConfigurationWord::new(1, leader, cell)).err()
        };
        let (me, other) = (NodeId::new(0, 1), NodeId::new(0, 2));
        let racing = thread::spawn(move || {
            let cell = theirs.write_cell(&configuration(1, other));
            let winner = race(&their_page, cell, other);
            if let Some(word) = winner {
                assert_eq!(my_cells.cell(word.cell(), 1), CellRead::Configuration(configuration(1, me)));
            }
            winner.is_none()
        });
        let cell = mine.write_cell(&configuration(1, me));
        let winner = race(&page, cell, me);
        if let Some(word) = winner {
            assert_eq!(their_cells.cell(word.cell(), 1), CellRead::Configuration(configuration(1, other)));
        }
        assert_ne!(winner.is_none(), racing.join().expect("the other ends"), "one of two wins");
    });
}

#[test]
fn the_visible_count_grows_and_is_committed() {
    loom::model(|| {
        let (page, mut acceptor) = (page(), writer(2));
        let (first, second, log, theirs) = (page.clone(), page.clone(), acceptor.reader(), acceptor.reader());
        // In a thread of its own: within its bounds loom has the first thread read only before the others have begun.
        let reading = thread::spawn(move || {
            let before = first.visible();
            assert!(log.commit() >= before, "only what is committed is visible");
            let after = first.visible();
            assert!(before <= after && log.commit() >= after);
        });
        let learning = thread::spawn(move || second.raise_visible(theirs.commit()));
        acceptor.commit(1, 0);
        page.raise_visible(1);
        acceptor.commit(2, 0);
        reading.join().expect("the reader ends");
        learning.join().expect("the learner ends");
        assert!((1..=2).contains(&page.visible()), "the larger count stays");
    });
}

#[test]
fn the_larger_of_two_counts_stays() {
    loom::model(|| {
        let page = page();
        let theirs = page.clone();
        let raising = thread::spawn(move || theirs.raise_visible(2));
        page.raise_visible(1);
        assert!(page.visible() >= 1);
        raising.join().expect("the other ends");
        assert_eq!(page.visible(), 2);
    });
}

#[test]
fn a_page_is_opened_whole_or_not_at_all() {
    loom::model(|| {
        let memory = Arena::heap();
        let theirs = memory.from_start();
        let creating = thread::spawn(move || {
            Control::create_among_threads(theirs, layout(1), Wait::Spin).map(drop).expect("the heap has room");
        });
        match Control::open_among_threads(memory) {
            Ok(page) => assert_eq!((page.layout(), page.wait()), (&layout(1), Wait::Spin)),
            Err(error) => assert_eq!(error, ControlError::Layout(LayoutError::NotOurs), "not written yet"),
        }
        creating.join().expect("the creator ends");
    });
}

#[test]
fn one_of_two_creators_claims_a_slot() {
    loom::model(|| {
        let page = page();
        let theirs = page.clone();
        let claiming = thread::spawn(move || theirs.claim(0, Claim::NONE, claim(1, 5)).is_ok());
        let is_mine = page.claim(0, Claim::NONE, claim(1, 6)).is_ok();
        assert_ne!(is_mine, claiming.join().expect("the other ends"));
    });
}

/// A thread that sees a claim sees that its process has said to be alive before: a living claimant does not look dead.
#[test]
fn a_claim_brings_the_record_of_its_process() {
    loom::model(|| {
        let (page, is_alive) = (page(), Arc::new(AtomicU64::new(0)));
        let (theirs, their_record) = (page.clone(), Arc::clone(&is_alive));
        let claiming = thread::spawn(move || {
            // ORDERING: Relaxed, the claim releases it: that is what this model is about
            their_record.store(1, Ordering::Relaxed);
            theirs.claim(0, Claim::NONE, claim(1, 5)).expect("nobody else");
        });
        if page.last_claim(0) != Claim::NONE {
            // ORDERING: Relaxed, as above
            assert_eq!(is_alive.load(Ordering::Relaxed), 1, "a living claimant looks dead");
        }
        claiming.join().expect("the claimant ends");
    });
}

/// A claimant was killed before it published itself. Of two that find it dead one has the slot, and what it publishes is read
/// whole or not at all; the dead one's incarnation is not used again.
#[test]
fn the_slot_of_a_claimant_that_died_has_one_heir() {
    loom::model(|| {
        let page = page();
        page.claim(0, Claim::NONE, claim(1, 5)).expect("nobody else");
        let inherit = |page: &Control, participant: u64| {
            let last = page.last_claim(0);
            let next = last.next(participant).expect("a few incarnations");
            let is_dead = last.participant == 5;
            let is_mine = is_dead && page.claim(0, last, next).is_ok();
            if is_mine {
                page.publish(0, &record(next));
            }
            is_mine
        };
        let theirs = page.clone();
        let inheriting = thread::spawn(move || inherit(&theirs, 6));
        let is_mine = inherit(&page, 7);
        if let Some(found) = page.node(0) {
            assert!(found == record(claim(2, 6)) || found == record(claim(2, 7)), "{found:?}");
        }
        assert_ne!(is_mine, inheriting.join().expect("the other ends"));
        let heir = claim(2, if is_mine { 7 } else { 6 });
        assert_eq!((page.last_claim(0), page.node(0)), (heir, Some(record(heir))));
    });
}

fn claim(inc: u16, participant: u64) -> Claim {
    Claim { inc, participant }
}

fn record(claim: Claim) -> NodeRecord {
    let Claim { inc, participant } = claim;
    NodeRecord { inc, participant, pid: participant as u32, fd: 3, identity: participant, boot: participant }
}
