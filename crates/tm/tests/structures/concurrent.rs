//! Several participants: nothing is lost, nothing is there twice, and what several operations of one transaction do is seen at
//! once. Whether single operations are linearizable is tested where the checker of histories is, in the facade.

use std::collections::BTreeMap;
use std::thread;

use corecast_tm::structures::{Bank, HashTable, Queue, Search, SkipListMap, SortedList};
use corecast_tm::{Abort, Form, Manager, Participant, Role, Tm, Tx};

use super::{FORMS, builder, kinds, machine};

/// Calls `work` in three applications, or four of the shared form, with a random number generator each.
fn with_all<R: Send>(tm: &Tm, work: impl Fn(&mut Participant, &mut fastrand::Rng) -> R + Sync) -> Vec<R> {
    // Seeds are the numbers of the participants: the same in every run.
    let results = tm.run_threads(|mut participant| {
        let mut random = fastrand::Rng::with_seed(participant.id().0.into());
        work(&mut participant, &mut random)
    });
    results.expect("threads")
}

const KEYS: u64 = 32;
const ROUNDS: usize = 400;

/// For each key how often a participant has added it, less how often it has taken it out.
type Balance = BTreeMap<u64, i64>;

fn churn(
    participant: &mut Participant,
    random: &mut fastrand::Rng,
    insert: impl Fn(&mut Tx<'_>, u64) -> Result<bool, Abort>,
    remove: impl Fn(&mut Tx<'_>, u64) -> Result<bool, Abort>,
) -> Balance {
    let mut balance = Balance::new();
    for _ in 0..ROUNDS {
        let (key, adds) = (random.u64(..KEYS), random.bool());
        let is_done = participant.run(|tx| if adds { insert(tx, key) } else { remove(tx, key) }).expect("nobody dies");
        if is_done {
            *balance.entry(key).or_default() += if adds { 1 } else { -1 };
        }
    }
    balance
}

/// The keys that must be there, from what all have done.
#[track_caller]
fn left(balances: Vec<Balance>, name: &str) -> Vec<u64> {
    let mut sum = Balance::new();
    for (key, count) in balances.into_iter().flatten() {
        *sum.entry(key).or_default() += count;
    }
    assert!(sum.values().all(|count| (0..=1).contains(count)), "{name}: twice there, or twice taken: {sum:?}");
    sum.into_iter().filter(|(_, count)| *count == 1).map(|(key, _)| key).collect()
}

fn keys(entries: Vec<(u64, u64)>) -> Vec<u64> {
    let mut keys: Vec<u64> = entries.into_iter().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys
}

/// One transaction adds 9 if 5 is there. Once it has found 5 and gone by on its way to 9, another one takes 5 out and sees no 9:
/// neither may have happened before the other.
fn a_result_stays_that_a_later_search_passes(form: Form, search: Search) {
    let machine = machine();
    let tm = builder(&machine, form).manager(Manager::Wholly).build().expect("memory");
    let list = SortedList::new(&tm, search).expect("room");
    thread::scope(|scope| {
        let mut applications = Vec::new();
        for id in 0..tm.participants() {
            match tm.participant(id).expect("it is free") {
                Role::Server(server) => drop(scope.spawn(|| server.serve())),
                Role::Application(participant) => applications.push(participant),
                other => panic!("{other:?}"),
            }
        }
        let [first, second, ..] = &mut applications[..] else { panic!("there are three") };
        for key in 1..=8 {
            assert_eq!(first.run(|tx| list.insert(tx, key, key)), Ok(true));
        }
        let mut taken = None;
        let added = first.run(|tx| {
            let is_added = list.contains(tx, 5)? && list.insert(tx, 9, 9)?;
            taken.get_or_insert_with(|| {
                // It has fewer commits, and wins.
                let take = |tx: &mut Tx<'_>| Ok((list.remove(tx, 5)?.is_some(), list.contains(tx, 9)?));
                thread::scope(|scope| scope.spawn(|| second.run(take)).join().expect("no panic"))
            });
            Ok(is_added)
        });
        assert_eq!((taken, added), (Some(Ok((true, false))), Ok(false)), "{form}, {search:?}");
    });
}

#[test]
fn elastic_operations_of_one_transaction_compose() {
    for form in FORMS {
        for search in Search::ALL {
            a_result_stays_that_a_later_search_passes(form, search);
        }
    }
}

#[test]
fn lists_keep_what_was_added_and_not_taken() {
    for form in FORMS {
        for (search, manager) in Search::ALL.into_iter().zip([Manager::FairCm, Manager::Wholly, Manager::OffsetGreedy])
        {
            let machine = machine();
            let tm = builder(&machine, form).manager(manager).build().expect("memory");
            let list = SortedList::new(&tm, search).expect("room");
            let balances = with_all(&tm, |participant, random| {
                let insert = |tx: &mut Tx<'_>, key| list.insert(tx, key, key);
                churn(participant, random, insert, |tx, key| Ok(list.remove(tx, key)?.is_some()))
            });
            let found = keys_in(&tm, &list);
            let name = format!("{form} {search:?}");
            assert_eq!(found, left(balances, &name), "{name}");
        }
    }
}

/// The keys of a list, read without a participant: the instance's own threads have ended.
fn keys_in(tm: &Tm, list: &SortedList) -> Vec<u64> {
    let mut found = Vec::new();
    let mut next = tm.load(tm.var::<u64>(list.root() + 1).expect("the head")).expect("in memory");
    while next != 0 {
        let index = next as u32;
        found.push(tm.load(tm.var::<u64>(index).expect("a node")).expect("in memory"));
        next = tm.load(tm.var::<u64>(index + 1).expect("a node")).expect("in memory");
    }
    assert!(found.is_sorted(), "{found:?}");
    found
}

/// A table of this search and a map, whose keys are the same.
fn tables_and_maps(tm: &Tm, search: Search) -> Vec<Balance> {
    let (table, map) = (HashTable::new(tm, 8, search).expect("room"), SkipListMap::new(tm).expect("room"));
    with_all(tm, |participant, random| {
        let insert = |tx: &mut Tx<'_>, key| {
            let is_new = table.insert(tx, key, key)?;
            assert_eq!(is_new, map.get(tx, key)?.is_none(), "in one of both only");
            map.insert(tx, key, key)?;
            Ok(is_new)
        };
        let remove = |tx: &mut Tx<'_>, key| {
            let was = table.remove(tx, key)?;
            assert_eq!(map.remove(tx, key)?, was, "in one of both only");
            Ok(was.is_some())
        };
        let balance = churn(participant, random, insert, remove);
        let both = participant.run(|tx| Ok((table.entries(tx)?, map.range(tx, 0, KEYS as usize)?)));
        let (mine, ordered) = both.expect("nobody dies");
        assert_eq!(keys(mine), keys(ordered));
        balance
    })
}

#[test]
fn tables_and_maps_keep_what_was_added_and_not_taken() {
    let machine = machine();
    for search in Search::ALL {
        for (name, builder) in kinds(&machine) {
            let tm = builder.build().expect("memory");
            left(tables_and_maps(&tm, search), &format!("{name}, {}", search.name()));
        }
    }
}

#[test]
fn keys_that_are_renamed_are_never_gone() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).build().expect("memory");
        let table = HashTable::new(&tm, 4, Search::Plain).expect("room");
        with_all(&tm, |participant, random| {
            let mine = u64::from(participant.id().0) * 1000;
            participant.run(|tx| table.insert(tx, mine, mine)).expect("nobody dies");
            let mut at = mine;
            for _ in 0..ROUNDS / 4 {
                let to = mine + random.u64(..8);
                let is_done = participant.run(|tx| table.rename(tx, at, to)).expect("nobody dies");
                assert!(is_done, "only its owner moves it");
                at = to;
                let all = participant.run(|tx| table.entries(tx)).expect("nobody dies");
                assert_eq!(all.iter().filter(|(_, value)| *value == mine).count(), 1);
            }
        });
    }
}

#[test]
fn a_queue_gives_each_value_once_and_in_its_senders_order() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).build().expect("memory");
        let (queue, ended) = (Queue::new(&tm).expect("room"), tm.new_var(0usize).expect("room"));
        let applications = tm.participants() - tm.servers();
        let taken = with_all(&tm, |participant, random| {
            let (me, mut next, mut taken) = (u64::from(participant.id().0) << 32, 0, Vec::new());
            while next < ROUNDS as u64 {
                if random.bool() {
                    participant.run(|tx| queue.push(tx, me | next)).expect("nobody dies");
                    next += 1;
                } else {
                    taken.extend(participant.run(|tx| queue.pop(tx)).expect("nobody dies"));
                }
            }
            // Until all have put in what they will, and nothing is left.
            participant
                .run(|tx| tx.read_for_update(ended).and_then(|count| tx.write(ended, count + 1)))
                .expect("alive");
            loop {
                let value = participant.run(|tx| Ok((queue.pop(tx)?, tx.read(ended)?))).expect("nobody dies");
                match value {
                    (Some(value), _) => taken.push(value),
                    (None, count) if count == applications => break (me, taken),
                    (None, _) => std::thread::yield_now(),
                }
            }
        });
        let (ids, taken): (Vec<u64>, Vec<Vec<u64>>) = taken.into_iter().unzip();
        for values in &taken {
            let mut last = BTreeMap::new();
            for value in values {
                let before = last.insert(value >> 32, *value);
                assert!(before.is_none_or(|before| before < *value), "out of order");
            }
        }
        let mut all: Vec<u64> = taken.into_iter().flatten().collect();
        all.sort_unstable();
        let mut given: Vec<u64> =
            ids.into_iter().flat_map(|me| (0..ROUNDS as u64).map(move |next| me | next)).collect();
        given.sort_unstable();
        assert!(all == given, "{form}: {} values came out of {}, or one twice", all.len(), given.len());
    }
}

#[test]
fn the_money_of_a_bank_stays_under_every_manager() {
    for form in FORMS {
        for manager in Manager::ALL {
            let machine = machine();
            let tm = builder(&machine, form).manager(manager).build().expect("memory");
            let bank = Bank::new(&tm, 16, 100).expect("room");
            with_all(&tm, |participant, random| {
                for round in 0..ROUNDS {
                    let (from, to) = (random.usize(..16), random.usize(..16));
                    participant.run(|tx| bank.transfer(tx, from, to, 7)).expect("nobody dies");
                    if round % 8 == 0 {
                        assert_eq!(participant.run(|tx| bank.total(tx)), Ok(1600), "{form} {manager}");
                    }
                }
            });
        }
    }
}
