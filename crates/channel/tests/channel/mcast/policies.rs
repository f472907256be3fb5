//! Readers that may be left behind.

use std::time::Duration;

use corecast_channel::mcast::bytes::Receiver;
use corecast_channel::mcast::{self, Config, Delivery, Policy};
use corecast_channel::{RecvError, TryRecvError, TrySendError};

use crate::mcast::readers::{check, message};

fn overwriting(slots: usize, block_bytes: usize) -> Config {
    Config { slots, block_bytes, delivery: Delivery::Overwrite, ..Config::default() }
}

/// Receives until nothing is there: the numbers that came, and how many were missed.
fn drain(rx: &Receiver) -> (Vec<u32>, u64) {
    let (mut came, mut missed) = (Vec::new(), 0);
    loop {
        match rx.try_recv() {
            Ok(message) => came.push(check(&message.to_vec()).1),
            Err(TryRecvError::Empty) => return (came, missed),
            Err(TryRecvError::Failed(RecvError::Lagged { missed: more })) => missed += more,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_lossy_reader_is_told_how_many_overwritten_messages_it_missed() {
    let (mut tx, source) = mcast::bytes::channel(overwriting(4, 0));
    let rx = source.subscribe(Policy::Lossy).expect("a place");
    for number in 0..10 {
        tx.try_send(&message(0, number, 40)).expect("nobody holds the sender back");
    }
    // The slot of the oldest one could be under the pen already.
    assert_eq!(drain(&rx), (vec![7, 8, 9], 7));
    tx.try_send(&message(0, 10, 40)).expect("room");
    assert_eq!(drain(&rx), (vec![10], 0));
}

#[test]
fn a_reader_whose_deadline_passes_is_left_behind_and_joins_anew() {
    let (mut tx, source) = mcast::bytes::channel(overwriting(4, 0));
    let rx = source.subscribe(Policy::Deadline(Duration::from_millis(2))).expect("a place");
    for number in 0..4 {
        tx.try_send(&message(0, number, 40)).expect("room");
    }
    assert!(matches!(tx.try_send(&message(0, 4, 40)), Err(TrySendError::Full(()))), "the deadline has just begun");
    tx.send(&message(0, 4, 40)).expect("the sender waits for the deadline and goes on");
    assert_eq!(drain(&rx), (vec![], 5));
    tx.try_send(&message(0, 5, 40)).expect("room");
    assert_eq!(drain(&rx), (vec![5], 0));
}

#[test]
fn reliable_readers_of_an_overwriting_ring_miss_nothing() {
    let (mut tx, source) = mcast::bytes::channel(overwriting(4, 300));
    let reliable = source.subscribe(Policy::Reliable).expect("a place");
    let lossy = source.subscribe(Policy::Lossy).expect("a place");
    let sender = std::thread::spawn(move || {
        for number in 0..2000 {
            tx.send(&message(0, number, if number % 2 == 0 { 30 } else { 300 })).expect("nothing is wrong");
        }
    });
    for number in 0..2000 {
        let message = reliable.recv().expect("sent");
        assert_eq!(check(message.bytes().as_slice().expect("pinned")).1, number);
    }
    sender.join().expect("the sender does not panic");
    let (mut came, mut missed) = (0, 0);
    let end = loop {
        match lossy.recv() {
            Ok(message) => came += u64::from(check(&message.to_vec()).1 < 2000),
            Err(RecvError::Lagged { missed: more }) => missed += more,
            Err(error) => break error,
        }
    };
    assert_eq!((end, came + missed), (RecvError::Closed, 2000));
}

/// Copies race with senders all the time here; each must be whole, and every message received or missed.
#[test]
fn no_copy_is_torn() {
    for (senders, block_bytes) in [(1, 0), (1, 400), (2, 0), (2, 400)] {
        let (first, source) = mcast::bytes::channel(Config { senders, ..overwriting(2, block_bytes) });
        let rx = source.subscribe(Policy::Lossy).expect("a place");
        let deadline = source.subscribe(Policy::Deadline(Duration::ZERO)).expect("a place");
        let mut all = vec![first];
        all.extend((1..senders).map(|_| source.sender().expect("a place")));
        let sending: Vec<_> = all
            .into_iter()
            .zip(0..)
            .map(|(mut tx, who)| {
                std::thread::spawn(move || {
                    for number in 0..5000 {
                        let len = if number % 3 == 0 { tx.max_len() } else { 40 };
                        tx.send(&message(who, number, len)).expect("nothing is wrong");
                    }
                })
            })
            .collect();
        let watch = |rx: Receiver| {
            move || {
                let mut seen = 0;
                loop {
                    match rx.recv() {
                        Ok(message) => {
                            check(&message.to_vec());
                            seen += 1;
                        }
                        Err(RecvError::Lagged { missed }) => seen += missed,
                        Err(RecvError::Closed) => return seen,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        };
        let watching = [std::thread::spawn(watch(rx)), std::thread::spawn(watch(deadline))];
        sending.into_iter().for_each(|sender| sender.join().expect("a sender does not panic"));
        for reader in watching {
            assert_eq!(reader.join().expect("a reader does not panic"), 5000 * senders as u64);
        }
    }
}

#[test]
#[should_panic(expected = "only one made with Delivery::Overwrite")]
fn a_gated_channel_leaves_no_reader_behind() {
    let (_tx, source) = mcast::bytes::channel(Config::default());
    let _ = source.subscribe(Policy::Lossy);
}
