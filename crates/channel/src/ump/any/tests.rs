//! Values of any types: stamps, interrupted values, more types than tags.

use std::time::Duration;

use corecast_base::wait::{CpuSharing, Wait, Waiter, WakeWord};

use super::{Receiver, Sender, WrongType, channel};
use crate::bytes::Plain;
use crate::error::Closed;
use crate::ump::header::MAX_STAMP;

#[derive(Debug, PartialEq)]
enum Failed {
    Closed,
    WrongType,
}

impl From<Closed> for Failed {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<WrongType> for Failed {
    fn from(_: WrongType) -> Self {
        Self::WrongType
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
struct Numbered<const N: u8>(u8);

// SAFETY: a byte.
unsafe impl<const N: u8> Plain for Numbered<N> {}

fn exchange<const N: u8>(tx: &mut Sender, rx: &mut Receiver) {
    let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
    let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
    for value in 0..2 {
        tx.send(&Numbered::<N>(value), &mut waiter, keep_waiting).expect("there is room");
        let as_byte = rx.recv::<u8, _>(&mut waiter, keep_waiting);
        assert_eq!(as_byte, Err(Failed::WrongType), "of the same size, but another type");
        assert_eq!(rx.recv(&mut waiter, keep_waiting), Ok(Numbered::<N>(value)));
    }
}

#[test]
fn another_stamp_is_refused_as_another_type_is() {
    let (mut tx, mut rx) = channel(64, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
    let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
    let large = [7u8; 600];
    for stamp in [1, 0, MAX_STAMP] {
        tx.stamp(stamp);
        tx.send(&5u32, &mut waiter, keep_waiting).expect("there is room");
        tx.send_part(&large, &mut waiter, keep_waiting).expect("there is room");
        for other in [stamp ^ 1, stamp ^ (1 << 13)] {
            rx.expect(other);
            assert_eq!(rx.recv::<u32, _>(&mut waiter, keep_waiting), Err(Failed::WrongType));
            assert!(rx.is_stamped_otherwise());
        }
        rx.expect(stamp);
        assert!(!rx.is_stamped_otherwise());
        assert_eq!(rx.recv(&mut waiter, keep_waiting), Ok(5u32));
        rx.expect(stamp ^ 1);
        let mut part = [0; 600];
        assert_eq!(rx.recv_part(&mut part, &mut waiter, keep_waiting), Err(Failed::WrongType));
        rx.expect(stamp);
        assert_eq!(rx.recv_part(&mut part, &mut waiter, keep_waiting), Ok(600));
        assert_eq!(part, large);
    }
}

#[test]
fn an_interrupted_value_is_followed_by_nothing() {
    let (mut tx, mut rx) = channel(4, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
    let give_up = |_| Err(Failed::WrongType);
    let large = [1u8; 400];
    assert_eq!(tx.send(&large, &mut waiter, give_up), Err(Failed::WrongType), "only the first parts find room");
    assert_eq!(rx.recv::<[u8; 400], _>(&mut waiter, give_up), Err(Failed::WrongType), "the rest is missing");
    let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
    assert_eq!(tx.send(&[2u8; 2], &mut waiter, keep_waiting), Err(Failed::Closed));
    assert_eq!(tx.send(&large, &mut waiter, keep_waiting), Err(Failed::Closed));
}

#[test]
fn a_panic_within_a_value_is_an_interruption_too() {
    let (mut tx, _rx) = channel(4, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
    let sending =
        std::panic::AssertUnwindSafe(|| tx.send::<_, Failed>(&[1u8; 400], &mut waiter.clone(), |_| panic!("planted")));
    assert!(std::panic::catch_unwind(sending).is_err());
    let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
    assert_eq!(tx.send(&[2u8; 400], &mut waiter, keep_waiting), Err(Failed::Closed));
}

#[test]
fn a_receiver_interrupted_within_a_value_receives_no_more() {
    let (mut tx, mut rx) = channel(4, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
    let mut theirs = waiter.clone();
    let mut received = Vec::new();
    // The receiver is run whenever the sender finds the ring full, so there is always a part for it.
    let sent = tx.send(&[1u8; 400], &mut waiter, |_| {
        received.push(rx.recv::<[u8; 400], _>(&mut theirs, |_| Err(Failed::WrongType)));
        if received.len() < 2 { Ok(Duration::MAX) } else { Err(Failed::WrongType) }
    });
    assert_eq!(sent, Err(Failed::WrongType));
    assert_eq!(received[0], Err(Failed::WrongType), "given up after the first parts");
    assert_eq!(received[1], Err(Failed::Closed), "the parts that follow are no beginning of a value");
}

#[test]
fn more_types_than_tags_go_through_one_channel() {
    let (mut tx, mut rx) = channel(64, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
    // From the second round on, each tag has been given to another type since.
    for _ in 0..3 {
        exchange::<0>(&mut tx, &mut rx);
        exchange::<1>(&mut tx, &mut rx);
        exchange::<2>(&mut tx, &mut rx);
        exchange::<3>(&mut tx, &mut rx);
        exchange::<4>(&mut tx, &mut rx);
    }
}
