//! Rings of two slots, where laps are short.

use std::time::Duration;

use corecast_base::sync::spin_hint;
use corecast_base::wait::Wait;
use corecast_channel::mcast::bytes::{Receiver, Sender};
use corecast_channel::mcast::{self, Config, Delivery, Policy};
use corecast_channel::{RecvError, TryRecvError, TrySendError};
use loom::thread;

fn config(wait: Wait) -> Config {
    Config { slots: 2, readers: 2, wait, wake_cost: Some(Duration::ZERO), ..Config::default() }
}

fn overwriting() -> Config {
    Config { delivery: Delivery::Overwrite, ..config(Wait::Spin) }
}

/// Sends without ever waiting otherwise than by trying again.
fn send_value(tx: &mut mcast::Sender<u32>, value: u32) {
    while let Err(error) = tx.try_send(value) {
        assert!(matches!(error, TrySendError::Full(_)));
        spin_hint();
    }
}

/// All values until the channel is closed.
fn values(rx: &mcast::Receiver<u32>) -> Vec<u32> {
    let mut got = Vec::new();
    loop {
        match rx.try_recv() {
            Ok(value) => got.push(*value),
            Err(TryRecvError::Empty) => spin_hint(),
            Err(_) => return got,
        }
    }
}

/// A message of two words that tell each other.
fn pair(number: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_ne_bytes());
    bytes[8..].copy_from_slice(&(!number).to_ne_bytes());
    bytes
}

fn check(bytes: &[u8]) -> u64 {
    let [number, other]: [u64; 2] = [0, 8].map(|at| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("a word")));
    assert_eq!(other, !number, "torn");
    number
}

fn send_pair(tx: &mut Sender, number: u64) {
    while tx.try_send(&pair(number)).is_err() {
        spin_hint();
    }
}

#[test]
fn one_sender_reuses_a_slot_when_both_readers_are_done() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Spin));
        let (a, b) = (source.subscribe().expect("a place"), source.subscribe().expect("a place"));
        let reader = thread::spawn(move || assert_eq!(values(&a), [0, 1, 2]));
        let sender = thread::spawn(move || (0..3).for_each(|value| send_value(&mut tx, value)));
        assert_eq!(values(&b), [0, 1, 2]);
        sender.join().expect("the sender ends");
        reader.join().expect("the reader ends");
    });
}

#[test]
fn one_sender_and_one_reader_go_around() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Spin));
        let rx = source.subscribe().expect("a place");
        let sender = thread::spawn(move || (0..5).for_each(|value| send_value(&mut tx, value)));
        assert_eq!(values(&rx), [0, 1, 2, 3, 4]);
        sender.join().expect("the sender ends");
    });
}

#[test]
fn sleepers_are_woken_by_messages_and_by_room() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Park));
        let rx = source.subscribe().expect("a place");
        let sender = thread::spawn(move || (0..3).for_each(|value: u32| tx.send(value).expect("it waits")));
        for value in 0..3 {
            assert_eq!(*rx.recv().expect("sent"), value);
        }
        assert_eq!(rx.recv().map(|value| *value), Err(RecvError::Closed));
        sender.join().expect("the sender ends");
    });
}

#[test]
fn a_sender_that_waits_for_room_is_woken_by_a_reader_that_leaves() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Park));
        let rx = source.subscribe().expect("a place");
        let reader = thread::spawn(move || drop(rx));
        (0..3).for_each(|value: u32| tx.send(value).expect("it waits"));
        reader.join().expect("the reader ends");
    });
}

#[test]
fn two_senders_never_have_one_slot_at_once() {
    loom::model(|| {
        let (mut a, source) = mcast::channel_with(Config { senders: 2, ..config(Wait::Spin) });
        let mut b = source.sender().expect("a place");
        let rx = source.subscribe().expect("a place");
        let one = thread::spawn(move || send_value(&mut a, 10));
        let other = thread::spawn(move || send_value(&mut b, 20));
        let mut got = values(&rx);
        got.sort_unstable();
        assert_eq!(got, [10, 20]);
        one.join().expect("a sender ends");
        other.join().expect("a sender ends");
    });
}

/// Nobody listens, so that only the claims keep the two apart, and each drops what the other one left.
#[test]
fn two_senders_without_a_reader_go_around() {
    loom::model(|| {
        let (mut a, source) = mcast::channel_with(Config { senders: 2, ..config(Wait::Spin) });
        let mut b = source.sender().expect("a place");
        let one = thread::spawn(move || (0..2).for_each(|value| send_value(&mut a, value)));
        (0..2).for_each(|value| send_value(&mut b, value));
        one.join().expect("a sender ends");
    });
}

#[test]
fn a_reader_misses_nothing_after_it_joined() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Spin));
        let sender = thread::spawn(move || {
            // A reader that holds the ring up lets go at last.
            let sent = (0..4).take_while(|&value| tx.try_send(value).is_ok()).count();
            (tx, sent as u32)
        });
        let rx = source.subscribe().expect("a place");
        let mut got: Vec<u32> = std::iter::from_fn(|| rx.try_recv().ok().map(|value| *value)).collect();
        let (mut tx, sent) = sender.join().expect("the sender ends");
        got.extend(std::iter::from_fn(|| rx.try_recv().ok().map(|value| *value)));
        tx.try_send(sent).expect("all was released");
        got.push(*rx.try_recv().expect("just sent"));
        assert!(got.windows(2).all(|pair| pair[1] == pair[0] + 1) && got.last() == Some(&sent), "{got:?}");
    });
}

/// The line of a reader that left is taken by another one: the sender must not overtake the one through the other.
#[test]
fn a_line_is_handed_over_with_its_read_messages() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(Config { readers: 1, ..config(Wait::Spin) });
        let first = source.subscribe().expect("a place");
        tx.try_send(0).expect("room");
        let reader = thread::spawn(move || assert_eq!(*first.try_recv().expect("sent"), 0));
        let joiner = thread::spawn(move || {
            let second = source.subscribe().ok()?;
            second.try_recv().ok().map(|value| *value)
        });
        for value in 1..3 {
            // Full until the first one has left.
            let _ = tx.try_send(value);
        }
        reader.join().expect("the reader ends");
        assert_ne!(joiner.join().expect("the joiner ends"), Some(0), "sent before");
    });
}

/// All messages that come until the channel is closed, and how many were missed.
fn watch(rx: &Receiver) -> (Vec<u64>, u64) {
    let (mut came, mut missed) = (Vec::new(), 0);
    loop {
        match rx.try_recv() {
            Ok(message) => came.push(check(&message.to_vec())),
            Err(TryRecvError::Empty) => spin_hint(),
            Err(TryRecvError::Failed(RecvError::Lagged { missed: more })) => missed += more,
            Err(_) => return (came, missed),
        }
    }
}

fn race_with_copies(policy: Policy, count: u64) {
    loom::model(move || {
        let (mut tx, source) = mcast::bytes::channel(overwriting());
        let rx = source.subscribe(policy).expect("a place");
        let sender = thread::spawn(move || (0..count).for_each(|number| send_pair(&mut tx, number)));
        let (came, missed) = watch(&rx);
        assert!(came.is_sorted() && came.len() as u64 + missed == count, "{came:?} came, {missed} missed");
        sender.join().expect("the sender ends");
    });
}

#[test]
fn copies_of_a_lossy_reader_are_whole() {
    race_with_copies(Policy::Lossy, 3);
}

#[test]
fn an_evicted_reader_is_told_and_joins_again() {
    race_with_copies(Policy::Deadline(Duration::ZERO), 3);
}

/// Writes a message of two words that is said to be longer than a slot, so that it lies in a block.
fn long(tx: &mut Sender, number: u64) -> mcast::bytes::Loan<'_> {
    let mut loan = tx.reserve(56).expect("it fits");
    loan.bytes().write_at(0, &pair(number));
    loan
}

/// The reader copies the block of the first message while the sender writes the last one.
#[test]
fn a_block_is_written_again_when_no_copy_is_taken_of_it() {
    loom::model(|| {
        let (mut tx, source) = mcast::bytes::channel(Config { block_bytes: 56, ..overwriting() });
        let rx = source.subscribe(Policy::Lossy).expect("a place");
        long(&mut tx, 0).commit().expect("nothing is wrong");
        long(&mut tx, 1).commit().expect("nothing is wrong");
        let sender = thread::spawn(move || {
            long(&mut tx, 2).commit().expect("nothing is wrong");
            let _ = long(&mut tx, 3);
        });
        let (came, missed) = watch(&rx);
        assert_eq!(came.len() as u64 + missed, 3);
        sender.join().expect("the sender ends");
    });
}

#[test]
fn two_senders_exchange_blocks_with_slots() {
    loom::model(|| {
        let blocks = Config { senders: 2, block_bytes: 56, ..config(Wait::Spin) };
        let (mut a, source) = mcast::bytes::channel(blocks);
        let mut b = source.sender().expect("a place");
        let rx = source.subscribe(Policy::Reliable).expect("a place");
        let one = thread::spawn(move || {
            long(&mut a, 1).commit().expect("nothing is wrong");
            a
        });
        long(&mut b, 2).commit().expect("nothing is wrong");
        let mut a = one.join().expect("a sender ends");
        let mut got: Vec<u64> = (0..2).map(|_| check(&rx.recv().expect("sent").to_vec())).collect();
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        long(&mut a, 3).commit().expect("nothing is wrong");
        long(&mut b, 4).commit().expect("nothing is wrong");
        let got: Vec<u64> = (0..2).map(|_| check(&rx.recv().expect("sent").to_vec())).collect();
        assert_eq!(got, [3, 4]);
    });
}

/// The place of a sender that left is taken by another one, together with the block that it owned at last.
#[test]
fn a_senders_place_is_handed_over_with_its_block() {
    loom::model(|| {
        let (mut a, source) = mcast::bytes::channel(Config { block_bytes: 56, ..config(Wait::Spin) });
        let rx = source.subscribe(Policy::Reliable).expect("a place");
        let first = thread::spawn(move || long(&mut a, 1).commit().expect("nothing is wrong"));
        let mut next = loop {
            match source.sender() {
                Ok(sender) => break sender,
                Err(_) => spin_hint(),
            }
        };
        long(&mut next, 2).commit().expect("nothing is wrong");
        first.join().expect("the first ends");
        let got: Vec<u64> = (0..2).map(|_| check(&rx.try_recv().expect("sent").to_vec())).collect();
        assert_eq!(got, [1, 2]);
    });
}

#[test]
fn of_two_senders_that_leave_at_once_one_closes_the_channel() {
    loom::model(|| {
        let (a, source) = mcast::channel_with::<u32>(Config { senders: 2, ..config(Wait::Spin) });
        let b = source.sender().expect("a place");
        let rx = source.subscribe().expect("a place");
        let one = thread::spawn(move || drop(a));
        drop(b);
        one.join().expect("a sender ends");
        assert!(matches!(rx.try_recv(), Err(TryRecvError::Failed(RecvError::Closed))));
    });
}

#[test]
fn a_sender_that_comes_while_the_last_one_leaves_keeps_the_channel_open() {
    loom::model(|| {
        let (a, source) = mcast::channel_with::<u32>(Config { senders: 2, ..config(Wait::Spin) });
        let rx = source.subscribe().expect("a place");
        let one = thread::spawn(move || drop(a));
        let b = source.sender().expect("a place");
        one.join().expect("a sender ends");
        assert!(matches!(rx.try_recv(), Err(TryRecvError::Empty)));
        drop(b);
    });
}

#[test]
fn messages_sent_before_the_goodbye_arrive() {
    loom::model(|| {
        let (mut tx, source) = mcast::channel_with(config(Wait::Spin));
        let rx = source.subscribe().expect("a place");
        let sender = thread::spawn(move || tx.try_send(7).expect("room"));
        assert_eq!(values(&rx), [7]);
        sender.join().expect("the sender ends");
    });
}
