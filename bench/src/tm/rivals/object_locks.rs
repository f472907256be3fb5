//! A lock, corecast's `auto`, for each account or bucket. A client that needs several takes them in their order, so that nobody
//! waits in a circle: the program that one writes who knows beforehand which objects a transaction will touch.

use corecast::lock::{Auto, Mutex, MutexGuard, Setup};

use super::sequential::{Buckets, SortedList};
use crate::tm::bank::{Account, Bank, Banker, accounts};
use crate::tm::host::{Session, Setting, check_readers, seats};
use crate::tm::set::{Set, Worker};
use crate::tm::workload::Work;
use corecast_race::failure::Failure;

/// A memory with a lock for each object.
pub(in crate::tm) fn with(setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let (clients, setup) = (setting.participants, Setup::of_threads(setting.participants));
    match setting.work {
        Work::Bank(work) => {
            check_readers(setting, clients)?;
            let bank: Vec<Mutex<Account, Auto>> = accounts().map(|account| Mutex::for_setup(account, &setup)).collect();
            session(seats(setting, clients, |rank| Banker::new(Accounts(&bank), work, setting, rank)))
        }
        Work::Table(work) => {
            let lists = Buckets::new(work, setting.seed).into_lists();
            let buckets: Vec<Mutex<SortedList, Auto>> =
                lists.into_iter().map(|list| Mutex::for_setup(list, &setup)).collect();
            session(seats(setting, clients, |rank| Worker::new(Lists(&buckets), work, setting, rank)))
        }
        _ => Err(Failure::Refused("its transactions do not know beforehand which objects they touch".to_owned())),
    }
}

/// A client's way to the accounts.
struct Accounts<'a>(&'a [Mutex<Account, Auto>]);

impl<'a> Accounts<'a> {
    /// Both, in the order asked for.
    #[inline]
    fn both(&self, one: usize, other: usize) -> [MutexGuard<'a, Account, Auto>; 2] {
        if one < other {
            let first = self.0[one].lock();
            [first, self.0[other].lock()]
        } else {
            let second = self.0[other].lock();
            [self.0[one].lock(), second]
        }
    }
}

impl Bank for Accounts<'_> {
    #[inline]
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        let [mut from, mut to] = self.both(from, to);
        from[1] -= amount;
        to[1] += amount;
        Ok(())
    }

    #[inline]
    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        let [one, other] = self.both(one, other);
        Ok(i64::from(one[1]) + i64::from(other[1]))
    }

    fn total(&mut self) -> Result<i64, Failure> {
        let held: Vec<_> = self.0.iter().map(Mutex::lock).collect();
        Ok(held.iter().map(|account| i64::from(account[1])).sum())
    }
}

/// A client's way to the buckets.
struct Lists<'a>(&'a [Mutex<SortedList, Auto>]);

impl Lists<'_> {
    #[inline]
    fn place(&self, key: u64) -> usize {
        key as usize % self.0.len()
    }

    #[inline]
    fn of(&self, key: u64) -> &Mutex<SortedList, Auto> {
        &self.0[self.place(key)]
    }
}

impl Set for Lists<'_> {
    #[inline]
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).with(|list| list.contains(key)))
    }

    #[inline]
    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).with(|list| list.insert(key)))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).with(|list| list.remove(key)))
    }

    fn rename(&mut self, from: u64, to: u64) -> Result<bool, Failure> {
        let (source, target) = (self.place(from), self.place(to));
        if source == target {
            return Ok(self.0[source].with(|list| list.rename(from, to)));
        }
        // The lesser place first, as everybody takes them.
        let mut first = self.0[source.min(target)].lock();
        let mut second = self.0[source.max(target)].lock();
        let (source, target) = if source < target { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
        let is_possible = source.contains(from) && !target.contains(to);
        Ok(is_possible && source.remove(from) && target.insert(to))
    }

    fn snapshot(&mut self) -> Result<u64, Failure> {
        let held: Vec<_> = self.0.iter().map(Mutex::lock).collect();
        Ok(held.iter().map(|list| list.keys().count() as u64).sum())
    }
}
