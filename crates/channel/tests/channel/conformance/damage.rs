//! The words of another process are not trusted: nonsense is an error, never a panic or a step outside the ring.

use corecast_base::PlaceSlice;
use corecast_base::region::SharedRegion;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_channel::ump::bytes::{Receiver, Sender};
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{RecvError, TryRecvError, TrySendError};

use crate::conformance::traffic::{NAME, credits, plan};

/// Where the slots of a ring begin, in words of its section.
const SLOTS_AT: usize = 0x300 / 8;

/// A ring, and its memory as another process could reach it.
fn ring(config: &Config) -> (Sender, Receiver, PlaceSlice<AtomicU64>) {
    let region = SharedRegion::heap(&plan(config)).expect("there is memory");
    let section = region.section(&region.entry(NAME).expect("declared"));
    let words = section.words(0, section.len() / 8).expect("all of it");
    (
        ump::bytes::sender(&region, NAME).expect("nobody has it"),
        ump::bytes::receiver(&region, NAME).expect("nobody has it"),
        words,
    )
}

fn header(seq: u64, len: u64, kind: u64) -> u64 {
    seq | len << 32 | kind << 56
}

#[test]
fn headers_that_no_sender_writes_are_corrupt() {
    let [first, _] = credits();
    let long = ump::bytes::channel(first).0.max_len() as u64;
    for (config, bad) in [
        (&credits()[0], header(1, long + 1, 1)),
        (&credits()[0], header(1, 0xff_ffff, 1)),
        (&credits()[0], header(1, 8, 2)),
        (&credits()[0], header(1, 8, 0xff)),
        (&credits()[0], header(1, 0, 0)),
        (&credits()[0], header(1, 3, 0)),
        (&credits()[0], header(1, 16, 0)),
        (&credits()[1], header(1, 57, 1)),
        (&credits()[1], header(1, 0, 0)),
    ] {
        let (_tx, mut rx, words) = ring(config);
        words[SLOTS_AT].store(bad, Ordering::Release);
        let found = rx.try_recv().err();
        assert!(matches!(found, Some(TryRecvError::Failed(RecvError::Corrupt(_)))), "{bad:#x}: {found:?}");
        assert!(matches!(rx.recv(), Err(RecvError::Corrupt(_))), "it stays so");
    }
}

#[test]
fn padding_and_ends_of_the_ring_are_checked() {
    let (mut tx, mut rx, words) = ring(&credits()[0]);
    for _ in 0..14 {
        tx.send(&[0]).expect("received");
        drop(rx.recv().expect("sent"));
    }
    let at = SLOTS_AT + 14 * 8;
    words[at].store(header(15, 2, 0), Ordering::Release);
    let found = rx.try_recv().err();
    assert_eq!(found, Some(RecvError::Corrupt("padding without a message behind it").into()));
    words[at].store(header(15, 3 * 64, 1), Ordering::Release);
    assert_eq!(rx.try_recv().err(), Some(RecvError::Corrupt("a message longer than the ring takes").into()));
    words[at].store(header(15, 2, 0), Ordering::Release);
    words[SLOTS_AT].store(header(17, 4, 1), Ordering::Release);
    assert_eq!(rx.try_recv().expect("that is how a message at the beginning looks").len(), 4);
}

#[test]
fn an_acknowledgement_that_no_receiver_gives_makes_no_room() {
    let (mut tx, mut rx, words) = ring(&credits()[0]);
    while tx.try_send(&[1]).is_ok() {}
    for nonsense in [16, 1 << 40, u64::MAX, u64::MAX - 15] {
        words[0].store(nonsense, Ordering::Release);
        assert!(tx.try_send(&[2]).is_err(), "{nonsense:#x} slots freed of 15");
    }
    words[0].store(0, Ordering::Release);
    assert_eq!(rx.drain(usize::MAX, |bytes| assert_eq!(bytes.read(), Some(1_u8))), Ok(15));
}

#[test]
fn an_acknowledgement_that_was_written_over_is_made_good_by_the_next_one() {
    for nonsense in [0, 50, 100, 1 << 40, 84 + (1 << 63), u64::MAX] {
        let (mut tx, mut rx, words) = ring(&credits()[0]);
        for number in 0..84 {
            tx.try_send(&[number]).expect("the receiver keeps up");
            assert_eq!(rx.try_recv().expect("sent").read(), Some(number));
        }
        for round in 0..3 {
            let sent = (0..).take_while(|&number: &u8| tx.try_send(&[number]).is_ok()).count();
            assert_eq!(sent, 15, "round {round} after {nonsense:#x}");
            if round == 0 {
                assert_eq!(words[0].swap(nonsense, Ordering::AcqRel), 84, "where the acknowledgement is");
            }
            assert_eq!(tx.try_send(&[2]), Err(TrySendError::Full(())), "{nonsense:#x}");
            let mut next = 0_u8..;
            assert_eq!(rx.drain(usize::MAX, |bytes| assert_eq!(bytes.read(), next.next())), Ok(15));
        }
    }
}

#[test]
fn random_words_never_lead_outside() {
    let seed = 0x5eed_0004;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut received = 0;
    for round in 0..2_000 {
        let credit = if random.bool() { Credit::AckLine } else { Credit::SlotClear };
        let (mut tx, mut rx, words) = ring(&Config { slots: 16, credit, ..Config::default() });
        for step in 0..50 {
            match random.u8(..4) {
                0 => drop(tx.try_send(&vec![7; random.usize(..300)])),
                1 => drop(rx.drain(random.usize(..4), |bytes| received += bytes.fold(0, |n, part| n + part.len()))),
                // Not the wake words and parkers: a message cannot reach those.
                2 => words[random.usize(SLOTS_AT..words.len())].store(random.u64(..), Ordering::Release),
                _ => {
                    let slot = SLOTS_AT + 8 * random.usize(..16);
                    let likely = header(random.u64(..40), random.u64(..300), random.u64(..3));
                    words[slot].store(likely, Ordering::Release);
                }
            }
            if random.u8(..20) == 0 {
                words[0].store(random.u64(..64), Ordering::Release);
            }
            assert!(tx.max_len() > 0 && step < 50, "seed {seed:#x}, round {round}");
        }
    }
    assert!(received > 0, "some messages are good, seed {seed:#x}");
}
