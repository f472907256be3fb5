//! The promises of a table with every lock of the registry.

use std::collections::HashMap;
use std::thread;

use corecast_lock::{RawLock, Setup, Table, Word, for_each_lock};
use fastrand::Rng;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const THREADS: usize = 4;
const OPERATIONS: usize = 4000;
/// Few buckets and some overflow, so that threads meet.
const BUCKETS: usize = 3;
const KEYS: usize = 120;

/// Puts where `puts`, else removes, and compares the answers.
fn steps() -> impl Strategy<Value = Vec<(bool, u64, u64)>> {
    prop::collection::vec((any::<bool>(), 0..KEYS as u64, any::<u64>()), 0..400)
}

fn one_thread_sees_a_map<L: RawLock>() {
    let run = |steps: Vec<(bool, u64, u64)>| {
        let table: Table<u64, L> = Table::for_setup(BUCKETS, &Setup::of_threads(1));
        let mut model = HashMap::new();
        for (puts, key, value) in steps {
            let before = model.get(&key).copied();
            prop_assert_eq!(table.get(key), before);
            if puts {
                prop_assert_eq!(table.put(key, value), before.map_or(Ok(()), |_| Err(value)));
                model.entry(key).or_insert(value);
            } else {
                prop_assert_eq!(table.remove(key), model.remove(&key));
            }
            prop_assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
        }
        Ok(())
    };
    TestRunner::new(Config::with_cases(64)).run(&steps(), run).expect("it does what a map does");
}

/// The puts minus the removes of one thread, by key. A value names its key, so that a wrong one is found out.
fn work<L: RawLock>(table: &Table<u64, L>, seed: u64) -> Vec<i64> {
    let mut random = Rng::with_seed(seed);
    let mut net = vec![0; KEYS];
    for _ in 0..OPERATIONS {
        let key = random.usize(..KEYS);
        match random.u8(..4) {
            0 => net[key] += i64::from(table.put(key as u64, 1000 + key as u64).is_ok()),
            1 => {
                net[key] -=
                    i64::from(table.remove(key as u64).inspect(|&value| assert_eq!(value, 1000 + key as u64)).is_some())
            }
            2 => assert!(table.get(key as u64).is_none_or(|value| value == 1000 + key as u64)),
            _ => table.with(key as u64, |mut entry| {
                // Out and in again: nobody sees it missing.
                if let Some(value) = entry.remove() {
                    assert_eq!((entry.key(), entry.get()), (key as u64, None));
                    entry.put(value).expect("just removed");
                }
            }),
        }
    }
    net
}

fn puts_minus_removes_is_presence<L: RawLock>() {
    let table: Table<u64, L> = Table::for_setup(BUCKETS, &Setup::of_threads(THREADS));
    let mut net = vec![0; KEYS];
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS as u64)
            .map(|seed| {
                scope.spawn({
                    let table = &table;
                    move || work(table, seed)
                })
            })
            .collect();
        for thread in threads {
            let theirs = thread.join().expect("no thread panics");
            net.iter_mut().zip(theirs).for_each(|(net, theirs)| *net += theirs);
        }
    });
    for (key, net) in net.iter().enumerate() {
        assert_eq!(i64::from(table.get(key as u64).is_some()), *net, "key {key}");
    }
    assert_eq!(table.len() as i64, net.iter().sum::<i64>());
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $variant() {
                one_thread_sees_a_map::<$lock>();
                puts_minus_removes_is_presence::<$lock>();
            }
        )*
    };
}

for_each_lock!(every);

#[test]
#[should_panic(expected = "a table has at least one bucket")]
fn a_table_without_buckets_is_refused() {
    let _table: Table<u64, Word> = Table::new(0);
}

#[test]
fn a_panic_inside_frees_the_bucket() {
    let table: Table<u64, Word> = Table::new(1);
    let panicked = thread::scope(|scope| scope.spawn(|| table.with(1, |_| panic!("inside"))).join().is_err());
    assert!(panicked);
    assert_eq!((table.put(1, 5), table.get(1)), (Ok(()), Some(5)));
}

#[test]
fn it_shows_its_size_only() {
    let table: Table<u64, Word> = Table::new(12);
    assert_eq!(format!("{table:?}"), "Table { buckets: 12, .. }");
}
