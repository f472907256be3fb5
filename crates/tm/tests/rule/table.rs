//! The lock table does what a map does, while it grows and gives slots up.

use std::collections::BTreeMap;

use corecast_tm::client_set::ClientSet;
use corecast_tm::lock_table::LockTable;
use corecast_tm::rule::{Locks, Request};
use corecast_tm::status::ClientId;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Call {
    Read(u32, u16),
    Write(u32, u16),
    Release(u32, u16),
    End(u16),
    Idle,
}

/// Few variables, so that they meet; some differ in high bits only.
fn var() -> impl Strategy<Value = u32> {
    prop_oneof![0..40u32, (0..8u32).prop_map(|high| high << 29)]
}

fn calls(clients: u16) -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (var(), 0..clients).prop_map(|(var, client)| Call::Read(var, client)),
        4 => (var(), 0..clients).prop_map(|(var, client)| Call::Write(var, client)),
        2 => (var(), 0..clients).prop_map(|(var, client)| Call::Release(var, client)),
        2 => (0..clients).prop_map(Call::End),
        1 => Just(Call::Idle),
    ];
    proptest::collection::vec(call, 0..400)
}

/// The writer and the readers of each variable that is locked.
type Map = BTreeMap<u32, (Option<u16>, Vec<u16>)>;

fn drop_locks(map: &mut Map, client: u16) {
    for (writer, readers) in map.values_mut() {
        *writer = writer.filter(|writer| *writer != client);
        readers.retain(|reader| *reader != client);
    }
}

fn apply(table: &mut LockTable, map: &mut Map, call: &Call) {
    match *call {
        Call::Read(var, client) => {
            table.grant_read(var, ClientId(client));
            let readers = &mut map.entry(var).or_default().1;
            readers.retain(|reader| *reader != client);
            readers.push(client);
            readers.sort_unstable();
        }
        Call::Write(var, client) => {
            let entry = map.entry(var).or_default();
            // The rule takes the lock of another writer away first.
            if entry.0.is_none_or(|writer| writer == client) {
                table.grant_write(var, ClientId(client));
                entry.0 = Some(client);
            }
        }
        Call::Release(var, client) => {
            table.release(ClientId(client), 1, var);
            map.entry(var).or_default().1.retain(|reader| *reader != client);
        }
        Call::End(client) => {
            table.release_all(ClientId(client), 1);
            drop_locks(map, client);
        }
        Call::Idle => table.tidy_when_idle(),
    }
    map.retain(|_, (writer, readers)| writer.is_some() || !readers.is_empty());
}

fn is_as_the_map(clients: u16, calls: &[Call]) {
    let (mut table, mut map) = (LockTable::with_slots(clients.into(), 4), Map::new());
    for client in (0..clients).map(ClientId) {
        table.admit(Request { client, epoch: 1, key: 0 });
    }
    for call in calls {
        apply(&mut table, &mut map, call);
        assert_eq!(table.locked(), map.len());
        for var in (0..40).chain((0..8).map(|high| high << 29)) {
            let mut readers = ClientSet::default();
            table.add_readers(var, &mut readers);
            let found = (table.writer(var).map(|id| id.0), readers.iter().map(|id| id.0).collect::<Vec<_>>());
            assert_eq!(found, map.get(&var).cloned().unwrap_or_default(), "variable {var} after {call:?}");
            let (writer, readers) = found;
            for client in 0..clients.min(3) {
                let can_read = writer.is_none_or(|writer| writer == client);
                let can_write = can_read && readers.iter().all(|reader| *reader == client);
                let can = (table.can_read(ClientId(client), var), table.can_write(ClientId(client), var));
                assert_eq!(can, (can_read, can_write), "variable {var}, client {client}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn few_clients(calls in calls(3)) {
        is_as_the_map(3, &calls);
    }

    #[test]
    fn more_clients_than_bits_of_a_word(calls in calls(130)) {
        is_as_the_map(130, &calls);
    }
}
