//! Tests every table against the standard library's map, one client at a time: the result of each operation, and its effect.

use std::collections::HashMap;

use corecast::lock::{Auto, Mcs, RwPhase, RwSpread, RwTtas, Tas};
use fastrand::Rng;

use super::batched::Batched;
use super::combined::Combined;
use super::delegated::Delegated;
use super::host::{Client, Host, Setting, Words};
use super::locked::{Locked, Misaligned};
use super::messages::{Bare, Messages};
use super::packed::Packed;
use super::play::tests::SETTING;
use super::pthread::PthreadLocked;
use super::readers::Readers;
use super::rivals::{Dashmap, Papaya, Rival, Scc, Std};
use super::sequenced::Sequenced;

const STEPS: u64 = 3000;

/// Elements of a bucket: enough that chains have several nodes.
pub(super) const MEAN: usize = 30;

/// With the keys of the experiment, so that half of the steps hit.
pub(super) fn assert_is_a_map(client: &mut dyn Client, keys: u64, seed: u64) {
    let (mut random, mut model) = (Rng::with_seed(seed), HashMap::<u64, Words>::new());
    for step in 0..STEPS {
        let key = random.u64(1..=keys);
        let (mut got, words) = ([0; 8], [step; 8]);
        match random.u8(..4) {
            0 => assert_eq!(client.get(key, &mut got).then_some(got), model.get(&key).copied(), "seed {seed}"),
            1 => assert_eq!(client.remove(key), model.remove(&key).is_some(), "seed {seed}"),
            _ => {
                assert_eq!(client.put(key, Some(&words)), !model.contains_key(&key), "seed {seed}");
                model.entry(key).or_insert(words);
            }
        }
    }
    for (&key, words) in &model {
        let mut got = [0; 8];
        assert!(client.get(key, &mut got) && got == *words, "seed {seed}");
    }
}

fn is_a_map<H: Host>() {
    for (seed, buckets) in [(1, 1), (2, 2), (3, 7)] {
        let setting = Setting { buckets, mean: MEAN, threads: 2, ..SETTING };
        let done = H::with(&setting, &mut |mut seats| {
            assert_is_a_map(&mut *seats[0].client, setting.keys(), seed);
            Ok(())
        });
        assert_eq!(done, Ok(()));
    }
}

#[test]
fn every_table_is_a_map() {
    is_a_map::<Locked<Tas>>();
    is_a_map::<Locked<Mcs>>();
    is_a_map::<Locked<Mcs, Misaligned>>();
    is_a_map::<PthreadLocked>();
    is_a_map::<Packed<Tas>>();
    is_a_map::<Packed<Auto>>();
    is_a_map::<Readers<RwTtas>>();
    is_a_map::<Readers<RwPhase>>();
    is_a_map::<Readers<RwSpread>>();
    is_a_map::<Sequenced>();
    is_a_map::<Combined>();
    is_a_map::<Delegated>();
    is_a_map::<Messages>();
    is_a_map::<Messages<Bare>>();
    is_a_map::<Batched>();
    is_a_map::<Rival<Dashmap>>();
    is_a_map::<Rival<Papaya>>();
    is_a_map::<Rival<Scc>>();
    is_a_map::<Rival<Std>>();
}
