//! The compact store against a map, beside readers, and its snapshots, whole and damaged.

use std::collections::HashMap;
use std::thread;

use super::*;

fn set(key: u64, value: u64) -> CompactSet {
    let value = u128::from(value) << 64 | u128::from(!value);
    CompactSet { key: key.to_le_bytes(), value: value.to_le_bytes() }
}

fn snapshot_of(store: &Compact) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.snapshot(&mut bytes).expect("a vector takes all");
    bytes
}

fn restored(bytes: &[u8]) -> Result<Compact, io::ErrorKind> {
    Compact::restore(&mut &bytes[..]).map_err(|error| error.kind())
}

#[test]
fn it_agrees_with_a_map_and_refuses_what_is_too_much() {
    let seed = 18;
    let mut random = fastrand::Rng::with_seed(seed);
    for capacity in [1, 2, 5, 100, 1000] {
        let (mut store, mut model) = (Compact::with_capacity(capacity).expect("small"), HashMap::new());
        for at in 0..4 * capacity as u64 {
            let set = set(random.u64(..2 * capacity as u64), random.u64(..));
            let fits = model.len() < capacity || model.contains_key(&set.key);
            let expected = if fits { CompactOut::Done } else { CompactOut::Full };
            assert_eq!(store.apply(at, &set), expected, "seed {seed}, capacity {capacity}");
            if fits {
                model.insert(set.key, set.value);
            }
        }
        assert_eq!((store.len(), store.capacity()), (model.len(), capacity));
        for key in 0..2 * capacity as u64 {
            let key = key.to_le_bytes();
            assert_eq!((store.query(&key), store.reader().get(key)), (model.get(&key).copied(), store.query(&key)));
        }
        let back = restored(&snapshot_of(&store)).expect("whole");
        assert_eq!((back.digest(), back.len(), back.capacity()), (store.digest(), store.len(), capacity));
        let mut other = Compact::with_capacity(capacity).expect("small");
        for (&key, &value) in &model {
            other.apply(0, &CompactSet { key, value });
        }
        assert_eq!(other.digest(), store.digest(), "whatever came before");
    }
}

#[test]
fn capacities_have_limits() {
    for capacity in [0, MAX_CAPACITY + 1] {
        let error = Compact::with_capacity(capacity).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
    assert!(Compact::default().is_empty());
}

#[test]
fn readers_see_whole_values_that_only_grow() {
    let mut store = Compact::with_capacity(64).expect("small");
    let rounds = 20_000;
    thread::scope(|scope| {
        for first in 0..2 {
            let reader = store.reader();
            scope.spawn(move || {
                let (mut last, mut key) = ([0; 64], first);
                while last.iter().any(|&seen| seen < rounds - 64) {
                    key = (key + 1) % 64;
                    let Some(value) = reader.get((key as u64).to_le_bytes()) else { continue };
                    let both = u128::from_le_bytes(value);
                    let (high, low) = ((both >> 64) as u64, both as u64);
                    assert_eq!(low, !high, "torn");
                    assert!(high >= last[key] && high % 64 == key as u64, "{high} after {}", last[key]);
                    last[key] = high;
                }
            });
        }
        scope.spawn(|| (0..rounds).map(|at| store.apply(at, &set(at % 64, at))).last());
    });
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut store = Compact::with_capacity(10).expect("small");
    for key in 0..7 {
        store.apply(key, &set(key, 9 * key));
    }
    let bytes = snapshot_of(&store);
    for len in 0..bytes.len() {
        assert_eq!(restored(&bytes[..len]).err(), Some(io::ErrorKind::InvalidData), "{len} bytes");
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(restored(&flipped).err(), Some(io::ErrorKind::InvalidData), "bit {bit}");
    }
}

#[test]
fn bytes_of_another_length_are_no_set() {
    let mut bytes = Vec::new();
    set(1, 2).encode(&mut bytes);
    assert_eq!(CompactSet::decode(&bytes), Some(set(1, 2)));
    for len in (0..24).chain([25]) {
        assert_eq!(CompactSet::decode(&vec![0; len]), None, "{len} bytes");
    }
    for out in [CompactOut::Done, CompactOut::Full] {
        let mut bytes = Vec::new();
        out.encode(&mut bytes);
        assert_eq!(CompactOut::decode(&bytes), Some(out));
    }
    assert_eq!([CompactOut::decode(&[2]), CompactOut::decode(&[]), CompactOut::decode(&[0, 0])], [None; 3]);
}
