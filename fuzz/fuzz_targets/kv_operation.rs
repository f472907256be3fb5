//! Operations, results, batches of them and the state of a group's own part, as bytes of a stranger: none, or a value that
//! comes back.

#![no_main]

use std::fmt::Debug;
use std::sync::Arc;

use corecast_replica::{Batch, Wire};
use corecast_replica::kv::{CompactOut, CompactSet, Op, Out};
use corecast_replica::system::System;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    comes_back::<Op>(bytes);
    comes_back::<Out>(bytes);
    comes_back::<CompactSet>(bytes);
    comes_back::<CompactOut>(bytes);
    are_a_batch::<Op>(bytes);
    are_a_batch::<Out>(bytes);
    if let Some(system) = System::<Arc<[u8]>>::decode(bytes) {
        let mut again = Vec::new();
        system.encode(&mut again);
        assert!(System::<Arc<[u8]>>::decode(&again).is_some());
    }
});

fn are_a_batch<T: Wire + PartialEq + Debug>(bytes: &[u8]) {
    if let Some(batch) = Batch::<T>::decode(bytes) {
        let again = Batch::from_iter(batch.iter());
        assert_eq!(again.len(), batch.len());
        assert!(again.iter().eq(batch.iter()));
    }
}

fn comes_back<T: Wire + PartialEq + Debug>(bytes: &[u8]) {
    if let Some(value) = T::decode(bytes) {
        let mut again = Vec::new();
        value.encode(&mut again);
        assert_eq!(T::decode(&again), Some(value));
    }
}
