//! Rings whose ends are built apart: on the heap, and in a region of which the other end may make nonsense.

use std::time::Duration;

use corecast_base::region::{RegionPlan, Section, SharedRegion};
use corecast_base::sync::Ordering;
use corecast_base::wait::{CpuSharing, Wait, Waiter, WakeWord};
use corecast_base::{Arena, LINE_BYTES};
use corecast_channel::Closed;
use corecast_channel::ump::any::{Receiver, Sender, WrongType, rings};

const RINGS: usize = 3;
const SLOTS: usize = 16;
const RING_BYTES: usize = SLOTS * LINE_BYTES;

#[derive(Debug, PartialEq)]
enum Failed {
    Closed,
    WrongType,
    GivenUp,
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

fn waiter() -> Waiter {
    Waiter::new(Wait::Yield, CpuSharing::unpinned(2), None)
}

fn keep_waiting(_: Duration) -> Result<Duration, Failed> {
    Ok(Duration::MAX)
}

fn give_up(_: Duration) -> Result<Duration, Failed> {
    Err(Failed::GivenUp)
}

/// The bytes that the rings take.
fn bytes() -> usize {
    let mut arena = Arena::heap();
    rings(&mut arena, RINGS, SLOTS).expect("the heap has room");
    arena.bytes()
}

fn section() -> Section {
    let plan = RegionPlan::new().add("rings", 1, [0; 6], bytes() as u64).expect("a plan");
    let region = SharedRegion::heap(&plan).expect("there is memory");
    region.section(&region.entry("rings").expect("declared"))
}

/// The ends of one ring, each built by somebody who knows only the memory.
fn ends(ring: usize, arena: &Arena) -> (Sender, Receiver) {
    let rings = || rings(&mut arena.from_start(), RINGS, SLOTS).expect("there is room");
    let wakes = || (WakeWord::new(Wait::Yield), WakeWord::new(Wait::Yield));
    let ((data, room), (their_data, their_room)) = (wakes(), wakes());
    (rings().sender(ring, data, room), rings().receiver(ring, their_data, their_room))
}

#[test]
fn values_of_all_sizes_go_through_every_ring() {
    for arena in [Arena::heap(), Arena::within(section())] {
        let mut all: Vec<_> = (0..RINGS).map(|ring| ends(ring, &arena)).collect();
        std::thread::scope(|scope| {
            for (ring, (tx, rx)) in all.iter_mut().enumerate() {
                scope.spawn(move || {
                    for round in 0..100u64 {
                        tx.send(&[round, ring as u64], &mut waiter(), keep_waiting).expect("the receiver stays");
                        tx.send(&(round as u8), &mut waiter(), keep_waiting).expect("the receiver stays");
                        tx.send(&(), &mut waiter(), keep_waiting).expect("the receiver stays");
                        tx.send(&[round as u8; 3001], &mut waiter(), keep_waiting).expect("the receiver stays");
                    }
                });
                scope.spawn(move || {
                    for round in 0..100u64 {
                        assert_eq!(rx.recv(&mut waiter(), keep_waiting), Ok([round, ring as u64]));
                        assert_eq!(rx.recv(&mut waiter(), keep_waiting), Ok(round as u8));
                        assert_eq!(rx.recv(&mut waiter(), keep_waiting), Ok(()));
                        assert_eq!(rx.recv(&mut waiter(), keep_waiting), Ok([round as u8; 3001]));
                    }
                });
            }
        });
    }
}

#[test]
fn another_type_than_was_sent_is_refused_and_stays() {
    for arena in [Arena::heap(), Arena::within(section())] {
        let (mut tx, mut rx) = ends(1, &arena);
        for value in [5u32, 6] {
            tx.send(&value, &mut waiter(), keep_waiting).expect("there is room");
            assert_eq!(rx.recv::<i32, _>(&mut waiter(), give_up), Err(Failed::WrongType), "of the same size");
            assert_eq!(rx.recv::<u64, _>(&mut waiter(), give_up), Err(Failed::WrongType));
            assert_eq!(rx.recv(&mut waiter(), give_up), Ok(value));
        }
    }
}

#[test]
#[should_panic(expected = "the sender of ring 2 was made before")]
fn an_end_is_made_once() {
    let arena = Arena::heap();
    let _ends = ends(2, &arena);
    let _ = ends(2, &arena);
}

/// Whatever stands in the ring, the receiver gets a value, waits or refuses; it neither panics nor leaves the ring.
#[test]
fn nonsense_is_a_value_at_worst() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let section = section();
        let words = section.words(0, section.len() / 8).expect("all of it");
        let (mut tx, mut rx) = ends(1, &Arena::within(section));
        for sent in 0..random.u32(0..20) {
            tx.send(&sent, &mut waiter(), keep_waiting).expect("received");
            rx.recv::<u32, _>(&mut waiter(), keep_waiting).expect("sent");
        }
        let ring = &words[RING_BYTES / 8..2 * RING_BYTES / 8];
        for (slot, header) in ring.iter().step_by(LINE_BYTES / 8).enumerate() {
            // The number that the receiver waits for in this slot in one of the first laps.
            let seq = slot as u64 + 1 + SLOTS as u64 * random.u64(0..3);
            let len = random.choice([0, 1, 4, 8, 16, 64, 248, 249, 0xff_ffff]).expect("some");
            header.store(seq | len << 32 | random.u64(0..6) << 56, Ordering::Release);
        }
        for _ in 0..8 {
            let _ = match random.u8(0..4) {
                0 => rx.recv::<u32, _>(&mut waiter(), give_up).err(),
                1 => rx.recv::<[u64; 2], _>(&mut waiter(), give_up).err(),
                2 => rx.recv::<[u8; 248], _>(&mut waiter(), give_up).err(),
                _ => rx.recv::<[u64; 100], _>(&mut waiter(), give_up).err(),
            };
        }
        let _ = tx.send(&[0u64; 100], &mut waiter(), give_up);
    }
}
