//! The promises of a `ump` channel for bytes among threads, in memory of any kind.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use corecast_base::region::SharedRegion;
use corecast_base::wait::Wait;
use corecast_channel::ump::bytes::{Receiver, Sender};
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{
    RecvError, RecvIntoError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use crate::conformance::traffic::{MEMORIES, Make, NAME, credits, expect, message, plan};

/// Runs the test for every memory and configuration.
fn for_each(test: impl Fn(Sender, Receiver)) {
    for make in MEMORIES {
        for config in credits() {
            let (tx, rx) = make(&config);
            test(tx, rx);
        }
    }
}

fn stream(make: Make, config: &Config, count: u64) {
    let (mut tx, mut rx) = make(config);
    let longest = tx.max_len();
    let sender = thread::spawn(move || (0..count).for_each(|n| tx.send(&message(n, longest)).expect("received")));
    for number in 0..count {
        expect(&rx.recv().expect("sent"), number, longest);
    }
    assert_eq!(rx.recv().err(), Some(RecvError::Closed));
    sender.join().expect("the sender does not panic");
}

#[test]
fn streams_of_any_lengths_arrive_whole_and_in_order() {
    for make in MEMORIES {
        for wait in Wait::ALL {
            for config in credits() {
                stream(make, &Config { wait, ..config.clone() }, 1_000);
                stream(make, &Config { wait, slots: 256, ..config }, 200);
            }
        }
    }
}

#[test]
fn batches_arrive_as_messages_one_by_one_do() {
    for make in MEMORIES {
        for config in credits() {
            let (mut tx, mut rx) = make(&config);
            let longest = tx.max_len().min(200);
            let sender = thread::spawn(move || {
                let messages: Vec<_> = (0..1_000).map(|n| message(n, longest)).collect();
                // Some batches are longer than the ring.
                for some in messages.chunks(40) {
                    assert_eq!(tx.send_batch(some.iter().map(Vec::as_slice)), Ok(some.len()));
                }
            });
            let mut number = 0;
            while number < 1_000 {
                let received = rx.drain(7, |bytes| {
                    expect(bytes, number, longest);
                    number += 1;
                });
                if received.expect("the sender is there, or there is something left") == 0 {
                    thread::yield_now();
                }
            }
            sender.join().expect("the sender does not panic");
        }
    }
}

#[test]
fn nothing_of_a_batch_is_seen_before_all_of_it_is_written() {
    for_each(|mut tx, rx| {
        let rx = RefCell::new(rx);
        let looked = (0..4_u8).map(|n| {
            assert_eq!(rx.borrow_mut().try_recv().err(), Some(TryRecvError::Empty));
            [[0].as_slice(), &[1], &[2], &[3]][usize::from(n)]
        });
        assert_eq!(tx.send_batch(looked), Ok(4));
        for number in 0..4_u8 {
            assert_eq!(rx.borrow_mut().try_recv().expect("published").read(), Some(number));
        }
    });
}

#[test]
fn a_batch_that_fails_tells_how_much_of_it_was_sent() {
    for_each(|mut tx, mut rx| {
        let (len, max) = (tx.max_len() + 1, tx.max_len());
        let large = vec![0; len];
        let error = SendError::TooLarge { message: 1, len, max };
        assert_eq!(tx.send_batch([b"one".as_slice(), &large, b"three"]), Err(error));
        assert_eq!(rx.recv().expect("sent").to_vec(), b"one");
        assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty));
    });
}

#[test]
fn a_loan_appears_when_it_is_committed_and_not_if_it_is_dropped() {
    for_each(|mut tx, mut rx| {
        let len = tx.max_len();
        // More than one lap, so that what was aborted lies where headers are looked for.
        for round in 0..40_u8 {
            let mut loan = tx.reserve(len).expect("there is room");
            loan.bytes().copy_from(&vec![round + 1; len]);
            drop(loan);
            assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "round {round}");
            let mut loan = tx.reserve(5).expect("there is room");
            loan.bytes().write_at(1, &[round; 4]);
            loan.bytes().write_at(0, &[9]);
            assert_eq!(rx.try_recv().err(), Some(TryRecvError::Empty), "round {round}");
            loan.commit();
            assert_eq!(rx.recv().expect("committed").to_vec(), [9, round, round, round, round]);
        }
    });
}

#[test]
fn a_forgotten_message_is_given_back_by_the_next_receive() {
    for_each(|mut tx, mut rx| {
        for number in 0..100_u32 {
            tx.send(&number.to_ne_bytes()).expect("the ring never fills");
            let message = rx.recv().expect("sent");
            assert_eq!(message.read(), Some(number));
            std::mem::forget(message);
        }
    });
}

#[test]
fn messages_of_all_lengths_up_to_the_limit_fit_everywhere() {
    for_each(|mut tx, mut rx| {
        let max = tx.max_len();
        assert_eq!(tx.try_send(&vec![0; max + 1]), Err(SendError::TooLarge { message: (), len: max + 1, max }.into()));
        for number in 0..200_u8 {
            let len = if number % 2 == 0 { max } else { usize::from(number) % 3 * 50 % (max + 1) };
            assert_eq!(tx.try_send(&vec![number; len]), Ok(()), "an empty ring takes any legal message");
            assert_eq!(rx.try_recv().expect("sent").to_vec(), vec![number; len]);
        }
        tx.send(&[]).expect("a message of no bytes is one");
        assert!(rx.recv().expect("sent").is_empty());
    });
}

#[test]
fn a_full_ring_says_so_and_waits_end_at_their_time_limit() {
    let limit = Duration::from_millis(5);
    for_each(|mut tx, mut rx| {
        assert_eq!(rx.recv_timeout(limit).err(), Some(RecvTimeoutError::Timeout));
        let sent = (0..100_u32).take_while(|number| tx.try_send(&number.to_ne_bytes()).is_ok()).count();
        assert!((15..=16).contains(&sent), "{sent} in a ring of 16");
        assert_eq!(tx.try_send(&[1]), Err(TrySendError::Full(())));
        assert_eq!(tx.send_timeout(&[1], limit), Err(SendTimeoutError::Timeout(())));
        assert_eq!(rx.drain(3, |_| ()), Ok(3));
        assert_eq!(tx.send_timeout(&[1], limit), Ok(()));
        assert_eq!(rx.drain(usize::MAX, |_| ()), Ok(sent - 2));
        assert_eq!(rx.drain(usize::MAX, |_| ()), Ok(0));
    });
}

#[test]
fn a_message_too_long_for_the_buffer_stays() {
    for_each(|mut tx, mut rx| {
        tx.send(b"twelve bytes").expect("there is room");
        assert_eq!(rx.recv_into(&mut [0; 11]), Err(RecvIntoError::TooShort { len: 12 }));
        let mut buffer = [0; 14];
        assert_eq!(rx.recv_into(&mut buffer), Ok(12));
        assert_eq!(&buffer, b"twelve bytes\0\0");
    });
}

#[test]
fn the_other_end_drains_and_then_learns_of_the_goodbye() {
    for_each(|mut tx, mut rx| {
        tx.send(b"last words").expect("there is room");
        drop(tx);
        assert_eq!(rx.recv().expect("sent before").to_vec(), b"last words");
        assert_eq!(rx.try_recv().err(), Some(RecvError::Closed.into()));
        assert_eq!(rx.recv().err(), Some(RecvError::Closed));
        assert_eq!(rx.drain(1, |_| ()), Err(RecvError::Closed));
    });
    for_each(|mut tx, rx| {
        drop(rx);
        assert_eq!(tx.try_send(b"x"), Err(SendError::Closed(()).into()));
        assert_eq!(tx.send(b"x"), Err(SendError::Closed(())));
        assert_eq!(tx.send_batch([b"x".as_slice()]), Err(SendError::Closed(0)));
        assert!(matches!(tx.try_reserve(1), Err(TrySendError::Failed(SendError::Closed(())))));
    });
}

#[test]
fn a_waiting_end_learns_of_the_goodbye_too() {
    for_each(|tx, mut rx| {
        let receiver = thread::spawn(move || rx.recv().err());
        drop(tx);
        assert_eq!(receiver.join().expect("the receiver does not panic"), Some(RecvError::Closed));
    });
    for_each(|mut tx, rx| {
        let sender = thread::spawn(move || (0..).find_map(|_: u32| tx.send(b"x").err()));
        drop(rx);
        assert_eq!(sender.join().expect("the sender does not panic"), Some(SendError::Closed(())));
    });
}

#[test]
fn slices_are_given_among_threads_and_by_promise() {
    let (mut tx, mut rx) = ump::bytes::channel(Config::default());
    tx.reserve(100).expect("there is room").bytes().as_mut_slice().expect("on the heap").fill(1);
    tx.send(&[2; 100]).expect("there is room");
    assert_eq!(rx.recv().expect("sent").as_slice(), Some([2; 100].as_slice()));

    let region = SharedRegion::memfd(&plan(&Config::default())).expect("there is memory");
    // SAFETY: only this test has the region.
    let honest = unsafe { region.assume_honest() };
    let mut tx = ump::bytes::sender(&region, NAME).expect("nobody has it");
    let mut rx = ump::bytes::receiver(&region, NAME).expect("nobody has it");
    assert!(tx.reserve(100).expect("there is room").bytes().as_mut_slice().is_none());
    tx = tx.with_honest(&honest);
    let mut loan = tx.reserve(100).expect("there is room");
    loan.bytes().as_mut_slice().expect("by promise").fill(3);
    loan.commit();
    assert_eq!(rx.recv().expect("sent").as_slice(), None);
    tx.send(&[4; 100]).expect("there is room");
    rx = rx.with_honest(&honest);
    assert_eq!(rx.recv().expect("sent").as_slice(), Some([4; 100].as_slice()));
}

#[test]
#[should_panic(expected = "a promise about one region says nothing")]
fn a_promise_holds_for_its_own_region_only() {
    let [one, other] = [(), ()].map(|()| SharedRegion::memfd(&plan(&Config::default())).expect("there is memory"));
    // SAFETY: only this test has the regions.
    let honest = unsafe { one.assume_honest() };
    let _ = ump::bytes::sender(&other, NAME).expect("nobody has it").with_honest(&honest);
}

#[test]
fn room_for_long_messages_can_be_asked_for() {
    let config = Config { credit: Credit::AckLine, ..Config::default() }.holding(1 << 20);
    let slots = config.slots;
    let (tx, _rx) = ump::bytes::channel(config);
    assert!(tx.max_len() >= 1 << 20, "{slots} slots");
}
