//! One participant, and a model: every operation gives the same result, and so does the whole contents at the end. All memory
//! comes back.

use std::collections::{BTreeMap, VecDeque};

use corecast_tm::structures::{HashTable, Queue, Search, SkipListMap, SortedList};
use corecast_tm::{Abort, Form, Participant, Tm, Tx};
use proptest::prelude::*;

use super::{alone, builder, machine};

#[derive(Debug, Clone, Copy)]
enum Op {
    Get(u64),
    Insert(u64, u64),
    Remove(u64),
    Rename(u64, u64),
    Push(u64),
    Pop,
}

/// Few keys, so that operations meet; the largest is the largest there is.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![15 => 0..24u64, 1 => Just(u64::MAX)]
}

fn ops() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let op = prop_oneof![
        3 => key().prop_map(Op::Get),
        4 => (key(), any::<u64>()).prop_map(|(key, value)| Op::Insert(key, value)),
        3 => key().prop_map(Op::Remove),
        1 => (key(), key()).prop_map(|(from, to)| Op::Rename(from, to)),
        2 => any::<u64>().prop_map(Op::Push),
        2 => Just(Op::Pop),
    ];
    // Transactions of one to three operations.
    proptest::collection::vec(proptest::collection::vec(op, 1..4), 0..80)
}

/// The words that the transactions of a test may use: so few that a leak shows.
const VARIABLES: usize = 1024;

fn tm() -> (Tm, Participant) {
    let tm = builder(&machine(), Form::Shared).variables(VARIABLES).build().expect("memory");
    let participant = alone(&tm);
    (tm, participant)
}

/// Runs each group of operations as one transaction, and compares results.
fn run(
    participant: &mut Participant,
    groups: &[Vec<Op>],
    mut op: impl FnMut(&mut Tx<'_>, Op) -> Result<Option<u64>, Abort>,
    mut model: impl FnMut(Op) -> Option<u64>,
) {
    for group in groups {
        let results = participant.run(|tx| group.iter().map(|each| op(tx, *each)).collect::<Result<Vec<_>, _>>());
        let expected: Vec<_> = group.iter().map(|each| model(*each)).collect();
        assert_eq!(results, Ok(expected), "{group:?}");
    }
}

fn flag(is_done: bool) -> Option<u64> {
    Some(u64::from(is_done))
}

/// A list or a table: the old value of a key stays.
fn set_model(map: &mut BTreeMap<u64, u64>, op: Op) -> Option<u64> {
    match op {
        Op::Get(key) => map.get(&key).copied(),
        Op::Insert(key, value) => {
            let is_new = !map.contains_key(&key);
            map.entry(key).or_insert(value);
            flag(is_new)
        }
        Op::Remove(key) => map.remove(&key),
        Op::Rename(from, to) => {
            let is_possible = map.contains_key(&from) && (from == to || !map.contains_key(&to));
            if let Some(value) = is_possible.then(|| map.remove(&from)).flatten() {
                map.insert(to, value);
            }
            flag(is_possible)
        }
        Op::Push(_) | Op::Pop => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_list_is_a_map(groups in ops()) {
        for search in Search::ALL {
            let (tm, mut participant) = tm();
            let list = SortedList::new(&tm, search).expect("room");
            let mut map = BTreeMap::new();
            let op = |tx: &mut Tx<'_>, op: Op| match op {
                Op::Get(key) => list.get(tx, key),
                Op::Insert(key, value) => list.insert(tx, key, value).map(flag),
                Op::Remove(key) => list.remove(tx, key),
                _ => Ok(None),
            };
            let model = |op| if matches!(op, Op::Rename(..)) { None } else { set_model(&mut map, op) };
            run(&mut participant, &groups, op, model);
            let again = SortedList::open(&tm, list.root(), search).expect("it is there");
            let entries = participant.run(|tx| again.entries(tx)).expect("nobody dies");
            assert_eq!(entries, map.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_table_is_a_map(groups in ops()) {
        for search in Search::ALL {
            let (tm, mut participant) = tm();
            let table = HashTable::new(&tm, 5, search).expect("room");
            let mut map = BTreeMap::new();
            let op = |tx: &mut Tx<'_>, op: Op| match op {
                Op::Get(key) => table.get(tx, key),
                Op::Insert(key, value) => table.insert(tx, key, value).map(flag),
                Op::Remove(key) => table.remove(tx, key),
                Op::Rename(from, to) => table.rename(tx, from, to).map(flag),
                _ => Ok(None),
            };
            run(&mut participant, &groups, op, |op| set_model(&mut map, op));
            let again = HashTable::open(&tm, &mut participant, table.root(), 5, search).expect("it is there");
            let mut entries = participant.run(|tx| again.entries(tx)).expect("nobody dies");
            entries.sort_unstable();
            assert_eq!(entries, map.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_skip_list_is_a_map(groups in ops()) {
        let (tm, mut participant) = tm();
        let skip_list = SkipListMap::new(&tm).expect("room");
        let mut map = BTreeMap::new();
        let op = |tx: &mut Tx<'_>, op: Op| match op {
            Op::Get(key) => skip_list.get(tx, key),
            Op::Insert(key, value) => skip_list.insert(tx, key, value),
            Op::Remove(key) => skip_list.remove(tx, key),
            _ => Ok(None),
        };
        let model = |op| match op {
            Op::Get(key) => map.get(&key).copied(),
            Op::Insert(key, value) => map.insert(key, value),
            Op::Remove(key) => map.remove(&key),
            _ => None,
        };
        run(&mut participant, &groups, op, model);
        let again = SkipListMap::open(&tm, skip_list.root()).expect("it is there");
        for first in [0, 7, u64::MAX] {
            let found = participant.run(|tx| again.range(tx, first, 10)).expect("nobody dies");
            let expected: Vec<_> = map.range(first..).take(10).map(|(key, value)| (*key, *value)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_queue_is_a_queue(groups in ops()) {
        let (tm, mut participant) = tm();
        let queue = Queue::new(&tm).expect("room");
        let queue = Queue::open(&tm, &mut participant, queue.root()).expect("it is there");
        let mut model = VecDeque::new();
        let op = |tx: &mut Tx<'_>, op: Op| match op {
            Op::Push(value) => queue.push(tx, value).map(|()| None),
            Op::Pop => queue.pop(tx),
            _ => Ok(None),
        };
        let modelled = |op| match op {
            Op::Push(value) => {
                model.push_back(value);
                None
            }
            Op::Pop => model.pop_front(),
            _ => None,
        };
        run(&mut participant, &groups, op, modelled);
        assert_eq!(participant.run(|tx| queue.is_empty(tx)), Ok(model.is_empty()));
    }
}

/// More nodes come and go than there is room for at one time.
#[test]
fn nodes_that_are_taken_out_are_used_again() {
    for search in Search::ALL {
        let tm = builder(&machine(), Form::Shared).variables(256).build().expect("memory");
        let mut participant = alone(&tm);
        let list = SortedList::new(&tm, search).expect("room");
        for key in 0..1000 {
            assert_eq!(participant.run(|tx| list.insert(tx, key, key)), Ok(true), "{search:?}");
            assert_eq!(participant.run(|tx| list.remove(tx, key)), Ok(Some(key)), "{search:?}");
        }
    }
}
