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

/// Keys of one chain, the third of which needs a further line.
#[test]
fn a_reader_beside_a_chain_that_grows() {
    loom::model(|| {
        // Three keys and four chains would not meet; a capacity of 1 has one chain, and 3 needs a hash for each: so they are
        // sought by what readers see. Any three keys of five in two chains have two in one.
        let mut store = Compact::with_capacity(2).expect("small");
        apply(&mut store, 1, 1);
        let (reader, applied) = (store.reader(), Arc::new(AtomicU64::new(0)));
        let seen = Arc::clone(&applied);
        let other = thread::spawn(move || {
            // ORDERING: Acquire, pairs with the Release below [model-applied]
            let applied = seen.load(Ordering::Acquire);
            let found = number(&reader, 2);
            assert!(found >= applied, "{found} though {applied} was applied");
            found
        });
        apply(&mut store, 2, 1);
        // ORDERING: Release, pairs with the Acquire above [model-applied]
        applied.store(1, Ordering::Release);
        apply(&mut store, 2, 2);
        other.join().expect("it reads");
    });
}
