//! The threads of a node: those that wait for a result, the one that brings it, and what they ask of each other.

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::{CpuSharing, Wait, WakeWord};
use corecast_replica::runtime::{AppliedCount, Callers, Errands, Reads, Waiters};
use loom::thread;

/// Callers that sleep at once.
fn callers() -> Arc<Callers> {
    let waiters = Waiters::new(Wait::Park, CpuSharing::pinned(2, 1));
    Arc::new(Callers::new(WakeWord::new(Wait::Park), waiters))
}

/// The number in a word, which is all that a caller waits for.
fn number(word: &AtomicU64) -> u64 {
    // ORDERING: Relaxed, the number is all there is to know
    word.load(Ordering::Relaxed)
}

fn set(word: &AtomicU64, number: u64) {
    // ORDERING: Relaxed, the number is all there is to know
    word.store(number, Ordering::Relaxed);
}

/// Sleeps have no time limit in a model: a caller that nobody wakes is a deadlock.
#[test]
fn a_caller_is_woken_by_the_thread_that_has_its_result() {
    loom::model(|| {
        let (callers, result) = (callers(), Arc::new(AtomicU64::new(0)));
        let (theirs, their_result) = (Arc::clone(&callers), Arc::clone(&result));
        let driving = thread::spawn(move || {
            set(&their_result, 7);
            theirs.wake();
        });
        let found = callers.wait_for(None, || Some(number(&result)).filter(|&found| found > 0), || false);
        assert_eq!(found, Some(7));
        assert!(!callers.are_waiting());
        driving.join().expect("it brings the result");
    });
}

#[test]
fn two_callers_are_woken_for_one_result_each() {
    loom::model(|| {
        let (callers, results) = (callers(), Arc::new([AtomicU64::new(0), AtomicU64::new(0)]));
        let wait = |callers: &Callers, result: &AtomicU64| {
            callers.wait_for(None, || Some(number(result)).filter(|&found| found > 0), || false)
        };
        let (theirs, their_results) = (Arc::clone(&callers), Arc::clone(&results));
        let waiting = thread::spawn(move || wait(&theirs, &their_results[1]));
        set(&results[1], 2);
        callers.wake();
        assert_eq!(waiting.join().expect("it is woken"), Some(2));
        assert_eq!(wait(&callers, &results[1]), Some(2));
    });
}

/// The thread that drives is itself one of those that wait, and wakes the other one.
#[test]
fn a_caller_that_drives_wakes_another() {
    loom::model(|| {
        let (callers, results) = (callers(), Arc::new([AtomicU64::new(0), AtomicU64::new(0)]));
        let (theirs, their_results) = (Arc::clone(&callers), Arc::clone(&results));
        let waiting = thread::spawn(move || {
            theirs.wait_for(None, || Some(number(&their_results[1])).filter(|&found| found > 0), || false)
        });
        let bring_both = || {
            set(&results[1], 2);
            set(&results[0], 1);
            callers.wake_others(true);
            true
        };
        let found = callers.wait_for(None, || Some(number(&results[0])).filter(|&found| found > 0), bring_both);
        assert_eq!(found, Some(1));
        assert_eq!(waiting.join().expect("it is woken"), Some(2));
    });
}

/// A thread adds an errand and wakes the one that drives, which may be about to take earlier ones, or about to sleep.
#[test]
fn no_errand_is_left_behind() {
    loom::model(|| {
        let (callers, errands) = (callers(), Arc::new(Errands::default()));
        let (theirs, their_errands) = (Arc::clone(&callers), Arc::clone(&errands));
        let asking = thread::spawn(move || {
            for errand in [1, 2] {
                their_errands.add(errand);
                theirs.word().notify();
            }
        });
        let mut taken = Vec::new();
        let all = callers.until(
            || {
                errands.take(&mut taken);
                (taken.len() == 2).then_some(())
            },
            |_| Ok(std::time::Duration::MAX),
        );
        assert_eq!((all, taken), (Some(()), vec![1, 2]));
        asking.join().expect("it asks twice");
    });
}

/// A reader that finds a count looks at the state behind a lock that it may find free in any case.
#[test]
fn a_count_brings_the_state_that_shows_it() {
    loom::model(|| {
        let (applied, state) = (Arc::new(AppliedCount::new(0)), Arc::new(AtomicU64::new(0)));
        let (theirs, their_state) = (Arc::clone(&applied), Arc::clone(&state));
        let applying = thread::spawn(move || {
            set(&their_state, 7);
            theirs.publish(1);
        });
        assert!(applied.get() == 0 || number(&state) == 7, "an older state than the count says");
        applying.join().expect("it applies");
    });
}

/// A barrier is asked for after the reads have begun that it serves, and they look at what it shows.
#[test]
fn a_read_is_served_by_a_barrier_after_it() {
    loom::model(|| {
        let reads = Arc::new(Reads::default());
        let (seen, state) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (theirs, their_seen, their_state) = (Arc::clone(&reads), Arc::clone(&seen), Arc::clone(&state));
        let driving = thread::spawn(move || {
            let begun = theirs.begun();
            if begun > 0 {
                assert_eq!(number(&their_seen), 3, "the barrier is older than what the reader has seen");
                set(&their_state, 7);
                theirs.serve(begun);
            }
        });
        set(&seen, 3);
        let read = reads.begin();
        assert!(!reads.is_served(read) || number(&state) == 7, "the read looks at an older state");
        driving.join().expect("it drives");
    });
}

/// Two that read have begun by the time the later number is seen.
#[test]
fn a_barrier_serves_all_reads_that_have_begun() {
    loom::model(|| {
        let reads = Arc::new(Reads::default());
        let seen = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let begin = |reads: &Reads, seen: &AtomicU64| {
            set(seen, 3);
            reads.begin()
        };
        let (theirs, their_seen) = (Arc::clone(&reads), Arc::clone(&seen));
        let reading = thread::spawn(move || begin(&theirs, &their_seen[1]));
        let (also_theirs, also_seen) = (Arc::clone(&reads), Arc::clone(&seen));
        let driving = thread::spawn(move || {
            if also_theirs.begun() == 2 {
                assert_eq!([number(&also_seen[0]), number(&also_seen[1])], [3, 3]);
            }
        });
        let mine = begin(&reads, &seen[0]);
        assert_ne!(mine, reading.join().expect("it reads"));
        driving.join().expect("it drives");
    });
}
