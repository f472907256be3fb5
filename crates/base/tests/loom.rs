//! Every interleaving of the sleep-and-wake handshake: a lost wake-up is a deadlock here, as the model's sleep has no
//! time limit. Run by `ci/loom.sh`.
#![cfg(loom)]

use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU32, AtomicU64, EventCount, Fences, Ordering};
use corecast_base::wait::{CpuSharing, Parker, Parkers, Wait, Waiter, WakeCell, WakeWord};
use corecast_base::{CacheLine, OnceWords, Place as Memory, PlaceSlice};
use loom::thread;

struct Place {
    word: WakeWord,
    values: [AtomicU32; 2],
}

impl Place {
    /// Sleepers and publishers agree about their fences.
    fn new() -> Arc<Self> {
        Self::among(PlaceSlice::new(vec![CacheLine::new(EventCount::new())]))
    }

    fn among(parkers: Parkers) -> Arc<Self> {
        let cell = Memory::new(CacheLine::new(WakeCell::default()));
        let word = WakeWord::within(cell, parkers, 0, Some(Fences::Private));
        Arc::new(Self { word, values: [AtomicU32::new(0), AtomicU32::new(0)] })
    }

    fn publish(&self, at: usize) {
        // The weakest publication a user of the word may make: the handshake must not depend on more.
        self.values[at].store(1, Ordering::Relaxed);
        self.word.notify();
    }

    fn sleep_until_published(&self, at: usize) {
        let mut waiter = Waiter::new(Wait::Park, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let look = || (self.values[at].load(Ordering::Relaxed) == 1).then_some(());
        waiter.until(&self.word, look, |_| Ok::<_, ()>(Duration::MAX)).expect("check never fails");
    }
}

#[test]
fn a_sleeper_misses_no_publication() {
    loom::model(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let publisher = thread::spawn(move || theirs.publish(0));
        place.sleep_until_published(0);
        publisher.join().expect("the publisher ends");
    });
}

#[test]
fn a_sleeper_woken_for_another_value_sleeps_again_and_is_woken_for_its_own() {
    loom::model(|| {
        let place = Place::new();
        let publishers = [0, 1].map(|at| {
            let theirs = Arc::clone(&place);
            thread::spawn(move || theirs.publish(at))
        });
        place.sleep_until_published(1);
        publishers.into_iter().for_each(|publisher| publisher.join().expect("a publisher ends"));
    });
}

#[test]
fn one_ring_wakes_all_sleepers_of_a_word() {
    loom::model(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let sleeper = thread::spawn(move || theirs.sleep_until_published(0));
        let theirs = Arc::clone(&place);
        let publisher = thread::spawn(move || theirs.publish(0));
        place.sleep_until_published(0);
        sleeper.join().expect("the other sleeper wakes");
        publisher.join().expect("the publisher ends");
    });
}

#[test]
fn what_was_written_before_the_ring_is_seen_after_the_sleep() {
    loom::model(|| {
        let place = Place::new();
        let theirs = Arc::clone(&place);
        let publisher = thread::spawn(move || {
            theirs.values[1].store(7, Ordering::Relaxed);
            theirs.values[0].store(1, Ordering::Release);
            theirs.word.notify();
        });
        let look = || (place.values[0].load(Ordering::Acquire) == 1).then(|| place.values[1].load(Ordering::Relaxed));
        let mut waiter = Waiter::new(Wait::Park, CpuSharing::pinned(2, 1), Some(Duration::ZERO));
        let seen = waiter.until(&place.word, look, |_| Ok::<_, ()>(Duration::MAX)).expect("check never fails");
        assert_eq!(seen, 7);
        publisher.join().expect("the publisher ends");
    });
}

/// A publisher that comes because of one parker learns of another that has armed meanwhile, and then wakes that one too.
#[test]
fn a_parker_that_is_armed_while_another_is_woken_is_woken_as_well() {
    loom::model(|| {
        let parkers: Parkers =
            PlaceSlice::new(vec![CacheLine::new(EventCount::new()), CacheLine::new(EventCount::new())]);
        let place = Place::among(parkers.clone());
        let forwards = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        place.word.arm_for(&forwards[0], 0);
        let (theirs, their_forwards) = (Arc::clone(&place), Arc::clone(&forwards));
        let publisher = thread::spawn(move || {
            for value in &theirs.values {
                value.store(1, Ordering::Relaxed);
                theirs.word.notify_all(&*their_forwards);
            }
        });
        let parker = Parker::within(parkers, 1).expect("parker 1 of two");
        loop {
            let seen = parker.now();
            place.word.arm_for(&forwards[1], parker.number());
            place.word.heavy_fence();
            if place.values[1].load(Ordering::Relaxed) == 1 {
                break;
            }
            parker.wait(seen, Duration::MAX);
        }
        publisher.join().expect("the publisher ends");
    });
}

/// Sleeps on a parker until both words have woken it for what was published.
#[test]
fn a_thread_that_waits_on_two_words_misses_neither() {
    loom::model(|| {
        let parkers: Parkers = PlaceSlice::new(vec![CacheLine::new(EventCount::new())]);
        let places = [Place::among(parkers.clone()), Place::among(parkers.clone())];
        let publishers: Vec<_> = places
            .iter()
            .map(|place| {
                let theirs = Arc::clone(place);
                thread::spawn(move || theirs.publish(0))
            })
            .collect();
        let parker = Parker::within(parkers, 0).expect("parker 0 of one");
        let is_there = |place: &Place| place.values[0].load(Ordering::Relaxed) == 1;
        let mut found = 0;
        while found < places.len() {
            let seen = parker.now();
            places.iter().for_each(|place| place.word.arm_for(place.word.forward(), parker.number()));
            places[0].word.heavy_fence();
            let were_there = found;
            found = places.iter().filter(|place| is_there(place)).count();
            if found == were_there {
                parker.wait(seen, Duration::MAX);
            }
        }
        publishers.into_iter().for_each(|publisher| publisher.join().expect("a publisher ends"));
    });
}

/// Words that are there are whole, and what the writer did before is seen.
#[test]
fn words_that_are_written_once_are_read_whole() {
    loom::model(|| {
        let memory = Arc::new((0..OnceWords::<2>::LEN).map(|_| AtomicU64::new(0)).collect::<Vec<_>>());
        let before = Arc::new(AtomicU32::new(0));
        let (theirs, theirs_before) = (Arc::clone(&memory), Arc::clone(&before));
        let writer = thread::spawn(move || {
            theirs_before.store(1, Ordering::Relaxed);
            OnceWords::<2>::within(&theirs).write([7, 8]);
        });
        if let Some(words) = OnceWords::<2>::within(&memory).read() {
            assert_eq!((words, before.load(Ordering::Relaxed)), ([7, 8], 1));
        }
        writer.join().expect("the writer ends");
        assert_eq!(OnceWords::<2>::within(&memory).read(), Some([7, 8]));
    });
}
