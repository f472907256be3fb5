//! Every interleaving of a ring of bytes: loans, batches, messages that are lent out, slots that are cleared.

use std::time::Duration;

use corecast_base::sync::spin_hint;
use corecast_base::wait::Wait;
use corecast_channel::ump::bytes::Receiver;
use corecast_channel::ump::{self, Config, Credit};
use corecast_channel::{RecvError, TryRecvError};
use loom::thread;

fn config(slots: usize, credit: Credit, wait: Wait) -> Config {
    Config { slots, credit, wait, wake_cost: Some(Duration::ZERO) }
}

/// A message of 8 bytes is a number; longer ones repeat it.
fn expect(rx: &mut Receiver, number: u64, words: usize) {
    let message = rx.recv().expect("sent");
    assert_eq!(message.to_vec(), [number.to_ne_bytes()].repeat(words).concat());
}

fn bytes(number: u64, words: usize) -> Vec<u8> {
    [number.to_ne_bytes()].repeat(words).concat()
}

#[test]
fn a_loan_is_seen_whole_or_not_at_all() {
    loom::model(|| {
        let (mut tx, mut rx) = ump::bytes::channel(config(8, Credit::AckLine, Wait::Spin));
        let sender = thread::spawn(move || {
            // Aborted: the second slot is covered by what looks like the header of the message that will be there.
            let mut loan = tx.reserve(10 * 8).expect("there is room");
            let header = 2 | 8 << 32 | 1 << 56;
            loan.bytes().copy_from(&bytes(header, 10));
            drop(loan);
            for number in 1..=2 {
                let mut loan = tx.reserve(8).expect("there is room");
                loan.bytes().copy_from(&bytes(number, 1));
                loan.commit();
            }
        });
        expect(&mut rx, 1, 1);
        expect(&mut rx, 2, 1);
        assert_eq!(rx.recv().err(), Some(RecvError::Closed));
        sender.join().expect("the sender ends");
    });
}

#[test]
fn a_batch_appears_at_once() {
    loom::model(|| {
        let (mut tx, mut rx) = ump::bytes::channel(config(8, Credit::AckLine, Wait::Spin));
        let sender = thread::spawn(move || {
            let batch = [bytes(1, 1), bytes(2, 9), bytes(3, 1)];
            assert_eq!(tx.send_batch(batch.iter().map(Vec::as_slice)), Ok(3));
        });
        let mut numbers = Vec::new();
        loop {
            match rx.drain(usize::MAX, |bytes| numbers.push((bytes.len(), bytes.to_vec()[0]))) {
                Ok(0) => spin_hint(),
                Ok(count) => assert_eq!(count, 3, "all or nothing"),
                Err(error) => break assert_eq!(error, RecvError::Closed),
            }
        }
        assert_eq!(numbers, [(8, 1), (72, 2), (8, 3)]);
        sender.join().expect("the sender ends");
    });
}

#[test]
fn cleared_slots_are_used_again_when_they_were_read() {
    for wait in [Wait::Spin, Wait::Park] {
        loom::model(move || {
            let (mut tx, mut rx) = ump::channel_with::<u64>(config(4, Credit::SlotClear, wait));
            let sender = thread::spawn(move || (0..5).for_each(|n| tx.send(n).expect("the receiver stays")));
            (0..5).for_each(|number| assert_eq!(rx.recv(), Ok(number)));
            sender.join().expect("the sender ends");
        });
    }
}

#[test]
fn an_open_message_is_not_written_over() {
    for credit in [Credit::AckLine, Credit::SlotClear] {
        loom::model(move || {
            let (mut tx, mut rx) = ump::bytes::channel(config(4, credit, Wait::Spin));
            let sender = thread::spawn(move || {
                (0..5).for_each(|number| tx.send(&bytes(number, 1)).expect("the receiver stays"));
            });
            for number in 0..5_u64 {
                let message = loop {
                    match rx.try_recv() {
                        Ok(message) => break message,
                        Err(TryRecvError::Empty) => spin_hint(),
                        Err(error) => panic!("{error}"),
                    }
                };
                assert_eq!(message.read(), Some(number));
                assert_eq!(message.read(), Some(number), "it stays while it is held");
                if number % 2 == 0 { drop(message) } else { std::mem::forget(message) }
            }
            sender.join().expect("the sender ends");
        });
    }
}
