//! Models of the lines of the compact store: one thread writes, one or two read.

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_replica::StateMachine;
use corecast_replica::kv::{Compact, CompactOut, CompactReader, CompactSet};
use loom::thread;

/// A value of two halves that must agree.
fn set(key: u64, number: u64) -> CompactSet {
    let value = u128::from(number) << 64 | u128::from(!number);
    CompactSet { key: key.to_le_bytes(), value: value.to_le_bytes() }
}

fn apply(store: &mut Compact, key: u64, number: u64) {
    assert_eq!(store.apply(0, &set(key, number)), CompactOut::Done);
}

/// The number of a key, 0 if it has no value.
fn number(reader: &CompactReader, key: u64) -> u64 {
    let Some(value) = reader.get(key.to_le_bytes()) else { return 0 };
    let both = u128::from_le_bytes(value);
    let (high, low) = ((both >> 64) as u64, both as u64);
    assert_eq!(low, !high, "torn");
    high
}

/// Two values of a key that was there and two of one that comes: each read is whole, and they only grow.
#[test]
fn a_reader_beside_writes() {
    for key in [1, 2] {
        loom::model(move || {
            let mut store = Compact::with_capacity(2).expect("small");
            apply(&mut store, 1, 1);
            let reader = store.reader();
            let other = thread::spawn(move || {
                let (first, second) = (number(&reader, key), number(&reader, key));
                assert!(first <= second, "{second} after {first}");
            });
            apply(&mut store, key, 2);
            apply(&mut store, key, 3);
            other.join().expect("it reads");
            assert_eq!(number(&store.reader(), key), 3);
        });
    }
}

/// Keys 1, 6 and 8 share a line where there are four (`table.rs` has a test of that), so the third needs a further one. A
/// reader that knows how far the writer was finds all up to there.
#[test]
fn a_reader_beside_a_chain_that_grows() {
    loom::model(|| {
        let mut store = Compact::with_capacity(3).expect("small");
        apply(&mut store, 1, 1);
        apply(&mut store, 6, 1);
        let (reader, applied) = (store.reader(), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&applied);
        let other = thread::spawn(move || {
            // ORDERING: Acquire, pairs with the Release below [model-applied]
            let applied = seen.load(Ordering::Acquire);
            let found = number(&reader, 8);
            assert!(found >= applied, "{found} though {applied} was applied");
        });
        apply(&mut store, 8, 1);
        // ORDERING: Release, pairs with the Acquire above [model-applied]
        applied.store(1, Ordering::Release);
        apply(&mut store, 8, 2);
        other.join().expect("it reads");
    });
}
