//! Every interleaving of the `ump` protocol on rings of four slots.

use std::convert::Infallible;
use std::time::Duration;

use corecast_base::Arena;
use corecast_base::sync::{Arc, AtomicUsize, Ordering, spin_hint};
use corecast_base::wait::{CpuSharing, Wait, Waiter, WakeWord};
use corecast_channel::ump::any::{self, WrongType};
use corecast_channel::ump::{self, Config};
use corecast_channel::{Closed, TryRecvError, TrySendError};
use loom::thread;

fn config(wait: Wait) -> Config {
    Config { slots: 4, wait, wake_cost: Some(Duration::ZERO), ..Config::default() }
}

/// Sends 0..count, each value filling `WORDS` words, and checks that exactly these arrive in order.
fn stream<const WORDS: usize>(count: u64, wait: Wait) {
    let (mut tx, mut rx) = ump::channel_with::<[u64; WORDS]>(config(wait));
    let sender = thread::spawn(move || {
        for value in 0..count {
            tx.send([value; WORDS]).expect("the receiver stays");
        }
    });
    for value in 0..count {
        assert_eq!(rx.recv(), Ok([value; WORDS]));
    }
    assert!(rx.recv().is_err(), "the sender is gone");
    sender.join().expect("the sender ends");
}

#[test]
fn one_slot_messages_wrap_around_spinning() {
    loom::model(|| stream::<1>(5, Wait::Spin));
}

#[test]
fn one_slot_messages_wrap_around_parking() {
    loom::model(|| stream::<1>(4, Wait::Park));
}

#[test]
fn a_full_ring_makes_room_only_after_the_payload_was_read() {
    loom::model(|| {
        let (mut tx, mut rx) = ump::channel_with::<u64>(config(Wait::Spin));
        let sender = thread::spawn(move || {
            let mut sent = 0;
            while sent < 5 {
                match tx.try_send(sent) {
                    Ok(()) => sent += 1,
                    Err(TrySendError::Full(_)) => spin_hint(),
                    Err(error) => panic!("{error}"),
                }
            }
        });
        let mut expected = 0;
        while expected < 5 {
            match rx.try_recv() {
                Ok(value) => {
                    assert_eq!(value, expected);
                    expected += 1;
                }
                Err(TryRecvError::Empty) => spin_hint(),
                Err(error) => panic!("{error}"),
            }
        }
        sender.join().expect("the sender ends");
    });
}

/// Two members lay the rings out at the same time, and the first one makes them.
#[test]
fn ends_built_apart_are_of_one_ring() {
    loom::model(|| {
        let mut arena = Arena::heap();
        let mut theirs = arena.from_start();
        let wakes = || (WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let mut their_waiter = waiter.clone();
        let sender = thread::spawn(move || {
            let rings = any::rings(&mut theirs, 2, 4).expect("the heap has room");
            let (data, room) = wakes();
            rings.sender(1, data, room).send(&7u64, &mut their_waiter, keep_waiting).expect("the receiver stays");
        });
        let rings = any::rings(&mut arena, 2, 4).expect("the heap has room");
        let (data, room) = wakes();
        assert_eq!(rings.receiver(1, data, room).recv::<u64, _>(&mut waiter, keep_waiting), Ok(7));
        sender.join().expect("the sender ends");
    });
}

/// In a ring of eight, slot 2 is first covered by bytes of a message of two slots that look like the header of the number
/// the receiver will wait for there one lap later, in slot 10.
#[test]
fn old_payload_is_never_taken_for_a_header() {
    const NUMBER_TAG: u64 = 3;
    loom::model(|| {
        let (mut tx, mut rx) = any::channel(8, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let mut theirs = waiter.clone();
        let sender = thread::spawn(move || {
            let mut wide = [0u64; 8];
            wide[7] = (10 + 1) | 8 << 32 | NUMBER_TAG << 56;
            tx.send(&wide, &mut theirs, keep_waiting).expect("the receiver stays");
            for number in 4..=10u64 {
                tx.send(&number, &mut theirs, keep_waiting).expect("the receiver stays");
            }
        });
        rx.recv::<[u64; 8], _>(&mut waiter, keep_waiting).expect("sent first");
        for number in 4..=10u64 {
            assert_eq!(rx.recv::<u64, _>(&mut waiter, keep_waiting), Ok(number));
        }
        assert_eq!(rx.recv::<u64, _>(&mut waiter, keep_waiting), Err(Failed::Closed));
        sender.join().expect("the sender ends");
    });
}

/// A message of four slots in a ring of sixteen that does not fit before the end, so that padding takes it to slot 0. The
/// sender has not looked at the acknowledgements before and reuses slots whose payload was read only just now.
#[test]
fn a_message_that_does_not_fit_before_the_end_starts_anew_when_those_slots_were_read() {
    loom::model(|| {
        let (mut tx, mut rx) = any::channel(16, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let mut theirs = waiter.clone();
        let sender = thread::spawn(move || {
            for number in 1..=12u64 {
                tx.send(&number, &mut theirs, keep_waiting).expect("the receiver stays");
            }
            tx.send(&[7u64; 30], &mut theirs, keep_waiting).expect("the receiver stays");
        });
        for number in 1..=12u64 {
            assert_eq!(rx.recv::<u64, _>(&mut waiter, keep_waiting), Ok(number));
        }
        assert_eq!(rx.recv::<[u64; 30], _>(&mut waiter, keep_waiting), Ok([7; 30]));
        sender.join().expect("the sender ends");
    });
}

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

impl From<Infallible> for Failed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

fn keep_waiting(_: Duration) -> Result<Duration, Failed> {
    Ok(Duration::MAX)
}

#[test]
fn types_are_announced_and_large_values_travel_in_parts() {
    loom::model(|| {
        let (mut tx, mut rx) = any::channel(4, WakeWord::new(Wait::Park), WakeWord::new(Wait::Park));
        let mut waiter = Waiter::new(Wait::Park, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let mut theirs = waiter.clone();
        let sender = thread::spawn(move || {
            tx.send(&7u32, &mut theirs, keep_waiting).expect("the receiver stays");
            tx.send(&[8u64; 8], &mut theirs, keep_waiting).expect("the receiver stays");
        });
        assert_eq!(rx.recv::<u32, _>(&mut waiter, keep_waiting), Ok(7));
        assert_eq!(rx.recv::<u32, _>(&mut waiter, keep_waiting), Err(Failed::WrongType));
        assert_eq!(rx.recv::<[u64; 8], _>(&mut waiter, keep_waiting), Ok([8; 8]));
        assert_eq!(rx.recv::<u32, _>(&mut waiter, keep_waiting), Err(Failed::Closed));
        sender.join().expect("the sender ends");
    });
}

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn the_last_end_drops_the_values_that_were_not_received() {
    loom::model(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (mut tx, mut rx) = ump::channel_with(config(Wait::Spin));
        let theirs = Arc::clone(&dropped);
        let sender = thread::spawn(move || {
            // Refused values come back in the error and are dropped here.
            let _ = tx.try_send(Counted(Arc::clone(&theirs)));
            let _ = tx.try_send(Counted(theirs));
        });
        let _ = rx.try_recv();
        drop(rx);
        sender.join().expect("the sender ends");
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_sender_that_waits_for_room_learns_that_the_receiver_left() {
    loom::model(|| {
        let (mut tx, rx) = ump::channel_with(config(Wait::Park));
        let receiver = thread::spawn(move || drop(rx));
        let sent = (0..5).take_while(|&value: &u32| tx.send(value).is_ok()).count();
        assert!(sent < 4, "a ring of four slots holds three messages");
        receiver.join().expect("the receiver ends");
    });
}
