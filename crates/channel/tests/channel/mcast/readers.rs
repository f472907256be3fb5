//! The messages of every reader, with any sender and messages of any length.

use std::collections::BTreeMap;
use std::time::Duration;

use corecast_base::wait::Wait;
use corecast_channel::mcast::bytes::{Receiver, Sender};
use corecast_channel::mcast::{self, Config, Policy, ZeroReaders};
use corecast_channel::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// A message of a sender: who, which, and as many more bytes as asked for, all of which follow from the first two.
pub(crate) fn message(sender: u8, number: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![sender];
    bytes.extend(number.to_le_bytes());
    bytes.extend((0..len.saturating_sub(5)).map(|i| (i as u32 ^ number.wrapping_mul(31)) as u8 ^ sender));
    bytes
}

/// The sender and number of a message; panics if any byte is not as it was sent.
pub(crate) fn check(bytes: &[u8]) -> (u8, u32) {
    let number = u32::from_le_bytes(bytes[1..5].try_into().expect("four bytes"));
    assert_eq!(bytes, message(bytes[0], number, bytes.len()), "message {number} of sender {} is torn", bytes[0]);
    (bytes[0], number)
}

fn lens(number: u32, max: usize) -> usize {
    [5, 48, 49, max, 17, 64][number as usize % 6].min(max)
}

fn send_all(mut sender: Sender, who: u8, count: u32) {
    let max = sender.max_len();
    for number in 0..count {
        sender.send(&message(who, number, lens(number, max))).expect("nothing is wrong");
    }
}

/// All messages until the channel is closed, in order.
fn receive_all(receiver: &Receiver) -> Vec<(u8, u32)> {
    let mut got = Vec::new();
    loop {
        match receiver.recv() {
            Ok(message) => got.push(check(&message.to_vec())),
            Err(RecvError::Closed) => return got,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Every reader must see every message of every sender in that sender's order, and all readers the same order.
fn broadcast(config: Config, senders: usize, readers: usize, count: u32) {
    let config = Config { senders, ..config };
    let (first, source) = mcast::bytes::channel(config);
    let receivers: Vec<_> = (0..readers).map(|_| source.subscribe(Policy::Reliable).expect("a place")).collect();
    let mut all = vec![first];
    all.extend((1..senders).map(|_| source.sender().expect("a place")));
    let sending: Vec<_> = all
        .into_iter()
        .enumerate()
        .map(|(who, sender)| std::thread::spawn(move || send_all(sender, who as u8, count)))
        .collect();
    let receiving: Vec<_> =
        receivers.into_iter().map(|receiver| std::thread::spawn(move || receive_all(&receiver))).collect();
    sending.into_iter().for_each(|sender| sender.join().expect("a sender does not panic"));
    let orders: Vec<_> = receiving.into_iter().map(|reader| reader.join().expect("a reader does not panic")).collect();
    let mut by_sender: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for &(sender, number) in &orders[0] {
        by_sender.entry(sender).or_default().push(number);
    }
    assert_eq!(by_sender.len(), senders);
    assert!(by_sender.values().all(|numbers| numbers.iter().copied().eq(0..count)), "each once, in order");
    assert!(orders.iter().all(|order| *order == orders[0]), "one order for all");
}

#[test]
fn one_sender_reaches_all_readers() {
    for wait in Wait::ALL {
        let count = if wait == Wait::Spin { 300 } else { 3000 };
        broadcast(Config { slots: 8, wait, ..Config::default() }, 1, 3, count);
    }
}

#[test]
fn several_senders_have_one_order_for_all_readers() {
    for slots in [2, 16] {
        broadcast(Config { slots, ..Config::default() }, 3, 2, 2000);
    }
}

#[test]
fn long_messages_travel_in_blocks() {
    let config = Config { slots: 4, inline: 112, block_bytes: 5000, ..Config::default() };
    broadcast(config.clone(), 1, 2, 2000);
    broadcast(config, 3, 2, 1000);
}

#[test]
fn messages_are_released_in_any_order_and_hold_the_sender_back_until_then() {
    let (mut tx, source) = mcast::bytes::channel(Config { slots: 8, ..Config::default() });
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    for number in 0..8 {
        tx.try_send(&message(0, number, 20)).expect("room for eight");
    }
    assert!(matches!(tx.try_send(b"more"), Err(TrySendError::Full(()))));
    let mut open: Vec<_> = (0..4).map(|_| rx.try_recv().expect("sent")).collect();
    assert_eq!(rx.open_messages(), 4);
    for later in [2, 1] {
        drop(open.remove(later));
        assert!(matches!(tx.try_send(b"more"), Err(TrySendError::Full(()))), "the oldest is still open");
    }
    assert_eq!(check(open[1].bytes().as_slice().expect("among threads")), (0, 3));
    drop(open.remove(0));
    for _ in 0..3 {
        tx.try_send(b"12345").expect("three places were released");
    }
    assert!(matches!(tx.try_send(b"more"), Err(TrySendError::Full(()))), "the fourth is open");
    std::mem::forget(open);
    assert_eq!(rx.open_messages(), 1);
    while rx.try_recv().is_ok() {}
    assert!(tx.try_send(b"12345").is_err() || rx.open_messages() == 1, "a forgotten message keeps its slot");
    drop(rx);
    tx.try_send(b"12345").expect("a reader that is gone holds nobody back");
}

#[test]
fn readers_come_and_go_while_messages_are_sent() {
    let (mut tx, source) = mcast::bytes::channel(Config { slots: 4, readers: 3, ..Config::default() });
    let visitors: Vec<_> = (0..2)
        .map(|_| {
            let source = source.clone();
            std::thread::spawn(move || {
                for _ in 0..200 {
                    let rx = source.subscribe(Policy::Reliable).expect("a place");
                    let mut next = None;
                    for _ in 0..5 {
                        let Ok(message) = rx.recv() else { return };
                        let (_, number) = check(&message.to_vec());
                        assert_eq!(number, next.unwrap_or(number), "no gap, nothing twice");
                        next = Some(number + 1);
                    }
                }
            })
        })
        .collect();
    let stays = source.subscribe(Policy::Reliable).expect("a place");
    let staying = std::thread::spawn(move || receive_all(&stays));
    let mut sent = 0;
    while visitors.iter().any(|visitor| !visitor.is_finished()) {
        tx.send(&message(0, sent, 30)).expect("nothing is wrong");
        sent += 1;
    }
    drop(tx);
    visitors.into_iter().for_each(|visitor| visitor.join().expect("a visitor does not panic"));
    assert_eq!(staying.join().expect("it does not panic").len(), sent as usize);
}

#[test]
fn places_are_counted() {
    let (tx, source) = mcast::bytes::channel(Config { readers: 1, ..Config::default() });
    assert_eq!(
        tx.clone_sender().expect_err("one sender only").to_string(),
        "the channel takes 1 senders at a time, and has all of them"
    );
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    assert!(source.subscribe(Policy::Reliable).is_err() && tx.subscribe(Policy::Reliable).is_err());
    drop(rx);
    assert!(tx.subscribe(Policy::Reliable).is_ok());
}

#[test]
fn lengths_are_kept_and_limited() {
    let (mut tx, source) = mcast::bytes::channel(Config { slots: 4, block_bytes: 200, ..Config::default() });
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    assert_eq!(tx.max_len(), 256, "blocks are whole lines");
    for len in [0, 1, 7, 48, 49, 255, 256] {
        tx.send(&vec![len as u8; len]).expect("it fits");
        assert_eq!(rx.recv().expect("just sent").to_vec(), vec![len as u8; len]);
    }
    let too_large = SendError::TooLarge { message: (), len: 257, max: 256 };
    assert_eq!(tx.send(&[0; 257]).expect_err("one too many"), too_large);
    assert!(tx.reserve(257).is_err());
}

#[test]
fn a_loan_is_filled_in_place_and_committed_or_dropped() {
    let (mut tx, source) = mcast::bytes::channel(Config { slots: 2, block_bytes: 1000, ..Config::default() });
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    for len in [5, 48, 49, 1000] {
        tx.reserve(len).expect("it fits").bytes().write_at(0, b"gone");
        let mut loan = tx.reserve(len).expect("it fits");
        loan.bytes().copy_from(&message(1, 2, len));
        loan.commit().expect("room");
        assert_eq!(check(&rx.recv().expect("committed").to_vec()), (1, 2));
    }
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Empty)), "what was dropped was never sent");
    tx.send(b"a").expect("room");
    tx.send(b"b").expect("room");
    let mut loan = tx.reserve(500).expect("a loan takes no ticket");
    loan.bytes().copy_from(&message(3, 4, 500));
    let Err(TrySendError::Full(loan)) = loan.try_commit() else { panic!("the ring is full") };
    assert_eq!(rx.recv().expect("sent").to_vec(), b"a");
    assert_eq!(rx.recv().expect("sent").to_vec(), b"b");
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Empty)));
    loan.commit().expect("room now");
    assert_eq!(check(&rx.recv().expect("committed").to_vec()), (3, 4));
}

#[test]
fn without_readers_messages_are_discarded_or_wait() {
    let (mut tx, source) = mcast::bytes::channel(Config { slots: 2, ..Config::default() });
    for _ in 0..5 {
        tx.try_send(b"to nobody").expect("discarded");
    }
    assert!(matches!(source.subscribe(Policy::Reliable).expect("a place").try_recv(), Err(TryRecvError::Empty)));
    let (mut tx, source) = mcast::bytes::channel(Config { zero_readers: ZeroReaders::Block, ..Config::default() });
    assert!(matches!(tx.try_send(b"to nobody"), Err(TrySendError::Full(()))));
    let timeout = tx.send_timeout(b"to nobody", Duration::from_millis(1));
    assert!(timeout.is_err());
    for len in [9, tx.max_len()] {
        let committed = tx.reserve(len).expect("short enough").try_commit();
        assert!(matches!(committed, Err(TrySendError::Full(_))), "{len} bytes, written in place");
    }
    let waiting = std::thread::spawn(move || tx.send(b"to somebody"));
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    assert_eq!(rx.recv().expect("waited for").to_vec(), b"to somebody");
    waiting.join().expect("it does not panic").expect("sent");
}

#[test]
fn the_end_is_told_after_the_last_message() {
    let (tx, source) = mcast::bytes::channel(Config { senders: 2, ..Config::default() });
    let rx = source.subscribe(Policy::Reliable).expect("a place");
    let mut second = tx.clone_sender().expect("a place");
    drop(tx);
    second.send(b"last").expect("room");
    drop(second);
    assert_eq!(rx.recv().expect("sent before").to_vec(), b"last");
    assert_eq!(rx.recv().map(|_| ()), Err(RecvError::Closed));
    assert!(matches!(rx.try_recv(), Err(TryRecvError::Failed(RecvError::Closed))));
    let mut third = source.sender().expect("a place");
    assert!(matches!(rx.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout)), "open again");
    third.send(b"more").expect("room");
    assert_eq!(rx.recv().expect("sent").to_vec(), b"more");
}
