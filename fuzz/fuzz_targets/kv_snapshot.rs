//! Snapshots of stores that were damaged: an error, or the state that was written.
//!
//! The first byte says how many keys the store has, the rest is a list of changes to its snapshot: an offset of two bytes and a
//! byte to put there. A change at the end cuts the snapshot. The input is tried as a snapshot, too.

#![no_main]

use corecast_replica::StateMachine;
use corecast_replica::kv::{Compact, CompactSet, Condition, Key, Op, Store, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = Store::restore(&mut &*input);
    let _ = Compact::restore(&mut &*input);
    let Some((&keys, changes)) = input.split_first() else { return };
    try_damaged(&store(keys % 8), changes);
    try_damaged(&compact(keys % 8), changes);
});

fn store(keys: u8) -> Store {
    let mut store = Store::default();
    for at in 0..keys {
        let (key, value) =
            (Key::new(&[b'k', at]).expect("short"), Value::new(&vec![at; usize::from(at) * 9]).expect("short"));
        store.apply(at.into(), &Op::Set { key, value, condition: Condition::Always });
    }
    store
}

fn compact(keys: u8) -> Compact {
    let mut compact = Compact::with_capacity(16).expect("small");
    for at in 0..keys {
        compact.apply(at.into(), &CompactSet { key: [at; 8], value: [at; 16] });
    }
    compact
}

fn try_damaged<S: StateMachine>(state: &S, changes: &[u8]) {
    let mut bytes = Vec::new();
    state.snapshot(&mut bytes).expect("a vector takes all");
    let len = bytes.len();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % (len + 1);
        match bytes.get_mut(at) {
            Some(byte) => *byte = change[2],
            None => bytes.truncate(len.saturating_sub(change[2].into())),
        }
    }
    if let Ok(restored) = S::restore(&mut &*bytes) {
        assert_eq!(restored.digest(), state.digest(), "damage gives no other state");
    }
}
