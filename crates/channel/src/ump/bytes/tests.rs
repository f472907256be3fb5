//! Rings whose counters begin anywhere: just below 2^32, where the sequence numbers in the headers wrap around.

use corecast_base::sync::Ordering;
use corecast_base::wait::{CpuSharing, Wait, Waiter, WakeWord};

use super::receiver::Receiver;
use super::sender::Sender;
use crate::ump::Credit;
use crate::ump::header::Header;
use crate::ump::recv_end::RecvEnd;
use crate::ump::send_end::SendEnd;
use crate::ump::shared::Shared;

const SLOTS: usize = 16;
/// Some slots before the wrap, at each place of the ring.
const STARTS: std::ops::Range<u64> = (1 << 32) - 2 * SLOTS as u64..(1 << 32) - SLOTS as u64;

/// A ring that has been in use for `start` slots, all of which were read.
fn used(start: u64, credit: Credit) -> Shared {
    let shared = Shared::new(SLOTS, credit, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    for n in start - SLOTS as u64..start {
        shared.slots.header(n).store(Header::cleared(n).word(), Ordering::Relaxed);
    }
    shared.control.ack.store(start, Ordering::Relaxed);
    shared
}

fn acked(shared: &Shared) -> u64 {
    shared.control.ack.load(Ordering::Relaxed)
}

fn waiter() -> Waiter {
    Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None)
}

fn sender(end: SendEnd) -> Sender {
    Sender { end, waiter: waiter(), peer: None, owns_loans: true }
}

fn receiver(shared: &Shared) -> Receiver {
    Receiver { end: RecvEnd::new(shared.clone(), acked(shared)), waiter: waiter(), peer: None, gives_slices: true }
}

/// Up to four messages of changing lengths under way, for four laps.
fn exchange(tx: &mut Sender, rx: &mut Receiver) {
    let longest = tx.max_len();
    let message = |number: usize| vec![number as u8; number * 37 % (longest + 1)];
    let mut received = 0;
    for number in 0..4 * SLOTS {
        while tx.try_send(&message(number)).is_err() {
            assert_eq!(rx.try_recv().expect("the ring is full").to_vec(), message(received));
            received += 1;
        }
    }
    for number in received..4 * SLOTS {
        assert_eq!(rx.try_recv().expect("sent").to_vec(), message(number));
    }
}

#[test]
fn messages_go_on_through_the_wrap() {
    for credit in [Credit::AckLine, Credit::SlotClear] {
        for start in STARTS {
            let shared = used(start, credit);
            exchange(&mut sender(SendEnd::new(shared.clone(), start)), &mut receiver(&shared));
        }
    }
}

#[test]
fn a_successor_finds_its_place_through_the_wrap() {
    for credit in [Credit::AckLine, Credit::SlotClear] {
        for start in STARTS {
            let shared = used(start, credit);
            let mut rx = receiver(&shared);
            let (mut sent, mut received) = (0_u64, 0_u64);
            // Each successor leaves one more message unread.
            for _ in 0..SLOTS / 2 {
                // It dies: nothing of what it knew is left, and nothing is said.
                let mut tx = sender(SendEnd::succeed(shared.clone()).expect("a good ring"));
                for _ in 0..3 {
                    tx.try_send(&sent.to_ne_bytes()).expect("there is room");
                    sent += 1;
                }
                std::mem::forget(tx);
                for _ in 0..2 {
                    assert_eq!(rx.try_recv().expect("sent").read(), Some(received), "from {start}");
                    received += 1;
                }
            }
        }
    }
}

#[test]
fn rings_that_no_sender_leaves_have_no_successor() {
    let shared = used(1 << 32, Credit::AckLine);
    shared.control.ack.store(u64::MAX - 3, Ordering::Relaxed);
    assert!(SendEnd::succeed(shared).is_err());
    let shared = used(64, Credit::AckLine);
    for n in 64..64 + SLOTS as u64 {
        shared.slots.header(n).store(Header::cleared(n).word(), Ordering::Relaxed);
    }
    assert!(SendEnd::succeed(shared).is_err(), "padding of no slots");
}
