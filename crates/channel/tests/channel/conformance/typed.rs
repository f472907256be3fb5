//! The promises of a `ump` channel for values, between two real threads: order, wholeness, limits, time limits, goodbyes.

use std::thread;
use std::time::Duration;

use corecast_base::sync::{Arc, AtomicUsize, Ordering};
use corecast_base::wait::Wait;
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

/// `WORDS` words that all follow from the number, so that a torn or stale message shows.
fn message<const WORDS: usize>(number: u64) -> [u64; WORDS] {
    std::array::from_fn(|i| (number ^ (i as u64) << 48).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn stream<const WORDS: usize>(config: Config, count: u64) {
    let (mut tx, mut rx) = ump::channel_with(config.clone());
    let sender = thread::spawn(move || (0..count).for_each(|n| tx.send(message::<WORDS>(n)).expect("received")));
    for number in 0..count {
        assert_eq!(rx.recv(), Ok(message::<WORDS>(number)), "message {number} of {WORDS} words, {config:?}");
    }
    assert!(rx.recv().is_err(), "the sender is gone");
    sender.join().expect("the sender does not panic");
}

#[test]
fn checksummed_streams_arrive_whole_and_in_order() {
    for wait in Wait::ALL {
        // Two spinners that share a CPU with the rest of the tests get on in time slices.
        let count = if wait == Wait::Spin { 2_000 } else { 10_000 };
        for slots in [4, 64, 1024] {
            let config = Config { slots, wait, ..Config::default() };
            stream::<7>(Config { credit: Credit::SlotClear, ..config.clone() }, count);
            stream::<1>(config.clone(), count);
            stream::<7>(config.clone(), count / 4);
            stream::<8>(config.clone(), count / 4);
            stream::<20>(config, count / 4);
        }
    }
}

#[test]
fn a_message_of_many_slots_gets_a_ring_that_holds_it() {
    stream::<3000>(Config { slots: 4, ..Config::default() }, 50);
}

#[test]
fn values_with_owners_move_through() {
    let (mut tx, mut rx) = ump::channel(8);
    let sender = thread::spawn(move || (0..1000).for_each(|n| tx.send(format!("message {n}")).expect("received")));
    for number in 0..1000 {
        assert_eq!(rx.recv().as_deref(), Ok(format!("message {number}").as_str()));
    }
    sender.join().expect("the sender does not panic");
}

#[test]
fn values_without_bytes_are_counted() {
    stream::<0>(Config::default(), 1000);
}

/// Counts its drops.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_value_is_dropped_once_in_any_order_of_leaving() {
    for sender_first in [true, false] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (mut tx, mut rx) = ump::channel(64);
        (0..10).for_each(|_| tx.try_send(Counted(Arc::clone(&dropped))).expect("there is room"));
        (0..3).for_each(|_| drop(rx.try_recv().expect("ten were sent")));
        assert_eq!(dropped.load(Ordering::Relaxed), 3);
        if sender_first {
            drop(tx);
            drop(rx);
        } else {
            drop(rx);
            assert!(matches!(
                tx.try_send(Counted(Arc::clone(&dropped))),
                Err(TrySendError::Failed(SendError::Closed(_)))
            ));
            assert_eq!(dropped.load(Ordering::Relaxed), 4, "the refused one came back and was dropped");
            drop(tx);
        }
        let refused = usize::from(!sender_first);
        assert_eq!(dropped.load(Ordering::Relaxed), 10 + refused);
    }
}

#[test]
fn a_full_ring_gives_the_value_back_and_an_empty_one_says_so() {
    let (mut tx, mut rx) = ump::channel::<u32>(4);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let refused = (0..10).map(|n| tx.try_send(n)).find_map(Result::err);
    assert_eq!(refused, Some(TrySendError::Full(3)), "one slot of four stays free");
    assert_eq!((0..3).map(|_| rx.try_recv()).collect::<Vec<_>>(), [Ok(0), Ok(1), Ok(2)]);
    assert_eq!(tx.try_send(7), Ok(()), "reading made room");
}

#[test]
fn waits_end_at_their_time_limit() {
    let limit = Duration::from_millis(5);
    for wait in Wait::ALL {
        let (mut tx, mut rx) = ump::channel_with::<u32>(Config { slots: 4, wait, ..Config::default() });
        assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
        (0..3).for_each(|n| tx.try_send(n).expect("there is room"));
        assert_eq!(tx.send_timeout(9, limit), Err(SendTimeoutError::Timeout(9)));
        assert_eq!(rx.recv_timeout(limit), Ok(0));
        assert_eq!(tx.send_timeout(9, limit), Ok(()));
        drop(tx);
        assert_eq!((0..3).map(|_| rx.recv_timeout(limit)).collect::<Vec<_>>(), [Ok(1), Ok(2), Ok(9)]);
        assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Failed(RecvError::Closed)));
    }
}

#[test]
fn a_waiting_end_learns_that_the_other_left() {
    for wait in Wait::ALL {
        let config = Config { slots: 4, wait, ..Config::default() };
        let (tx, mut rx) = ump::channel_with::<u32>(config.clone());
        let receiver = thread::spawn(move || rx.recv());
        drop(tx);
        assert!(receiver.join().expect("the receiver does not panic").is_err());

        let (mut tx, rx) = ump::channel_with::<u32>(config);
        let sender = thread::spawn(move || (0..).find_map(|n| tx.send(n).err()));
        drop(rx);
        assert!(sender.join().expect("the sender does not panic").is_some());
    }
}

#[test]
#[should_panic(expected = "with SlotClear a value of 64 bytes must fit into 56 bytes")]
fn a_value_of_two_slots_cannot_be_cleared() {
    let _ = ump::channel_with::<[u64; 8]>(Config { credit: Credit::SlotClear, ..Config::default() });
}

#[test]
#[should_panic(expected = "at most 1048576 slots")]
fn a_ring_beyond_the_limit_is_refused() {
    let _ = ump::channel::<u8>((1 << 20) + 1);
}
