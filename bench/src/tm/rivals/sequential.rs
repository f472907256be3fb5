//! Sorted lists as one thread at a time uses them: without any synchronisation for one client, and the data that the locks of the
//! other rivals guard.

use std::collections::{BTreeSet, VecDeque};

use crate::tm::bank::{ACCOUNTS, Account, Bank, Banker, accounts};
use crate::tm::histogram::{COUNTERS, Counter, Counts, Histogram};
use crate::tm::host::{Session, Setting, check_readers, seats};
use crate::tm::queue::{Passer, Queue};
use crate::tm::set::{Set, Worker, initial_keys};
use crate::tm::steps::{Step, Stepper, VARIABLES, WRITTEN};
use crate::tm::workload::{SetWork, Work};
use corecast_race::failure::Failure;

/// A memory of one client that needs no synchronisation.
pub(in crate::tm) fn with(setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    match setting.work {
        Work::Bank(work) => {
            check_readers(setting, 1)?;
            session(seats(setting, 1, |rank| Banker::new(Accounts::default(), work, setting, rank)))
        }
        Work::Table(work) | Work::List(work) => {
            session(seats(setting, 1, |rank| Worker::new(Buckets::new(work, setting.seed), work, setting, rank)))
        }
        Work::Map(work) => {
            session(seats(setting, 1, |rank| Worker::new(Ordered::new(work, setting.seed), work, setting, rank)))
        }
        Work::Queue => session(seats(setting, 1, |rank| Passer::new(VecDeque::<u64>::new(), setting, rank))),
        Work::MapReduce => session(seats(setting, 1, |_| Counter::new(Shared::default(), setting))),
        Work::Writes => session(seats(setting, 1, |rank| Stepper::new(vec![0u64; VARIABLES], setting, rank))),
        Work::Mp => Err(Failure::Refused("it has no servers".to_owned())),
    }
}

/// The accounts of a bank.
pub(super) struct Accounts(Vec<Account>);

impl Default for Accounts {
    fn default() -> Self {
        Self(accounts().collect())
    }
}

impl Bank for Accounts {
    #[inline]
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        self.0[from][1] -= amount;
        self.0[to][1] += amount;
        Ok(())
    }

    #[inline]
    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        Ok(i64::from(self.0[one][1]) + i64::from(self.0[other][1]))
    }

    fn total(&mut self) -> Result<i64, Failure> {
        debug_assert_eq!(self.0.len(), ACCOUNTS);
        Ok(self.0.iter().map(|account| i64::from(account[1])).sum())
    }
}

/// Sorted keys as the standard library keeps them.
pub(super) struct Ordered(BTreeSet<u64>);

impl Ordered {
    /// With the keys of the start.
    pub(super) fn new(work: SetWork, seed: u64) -> Self {
        Self(initial_keys(work, seed).into_iter().collect())
    }
}

impl Set for Ordered {
    #[inline]
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.0.contains(&key))
    }

    #[inline]
    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.0.insert(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.0.remove(&key))
    }
}

impl Queue for VecDeque<u64> {
    #[inline]
    fn push(&mut self, value: u64) -> Result<(), Failure> {
        self.push_back(value);
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Result<Option<u64>, Failure> {
        Ok(self.pop_front())
    }
}

/// The next chunk, and the counts of all clients.
#[derive(Default)]
pub(super) struct Shared {
    next: u64,
    counts: Counts,
}

impl Histogram for Shared {
    #[inline]
    fn next_chunk(&mut self) -> Result<u64, Failure> {
        self.next += 1;
        Ok(self.next - 1)
    }

    fn add(&mut self, counts: &Counts) -> Result<(), Failure> {
        (0..COUNTERS).for_each(|at| self.counts[at] += counts[at]);
        Ok(())
    }

    fn counts(&mut self) -> Result<Counts, Failure> {
        Ok(self.counts)
    }
}

impl Step for Vec<u64> {
    #[inline]
    fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure> {
        variables.iter().for_each(|&at| self[at] = value);
        Ok(())
    }

    fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure> {
        Ok(Some(self[variable]))
    }
}

/// A node of a list, whose place in the list's nodes is its name.
struct Node {
    key: u64,
    next: usize,
}

/// The name of no node: the end of a list.
const END: usize = usize::MAX;

/// Sorted keys, each in a node that names the next one.
pub(super) struct SortedList {
    first: usize,
    nodes: Vec<Node>,
    free: Vec<usize>,
}

impl Default for SortedList {
    fn default() -> Self {
        Self { first: END, nodes: Vec::new(), free: Vec::new() }
    }
}

impl SortedList {
    /// The last node of a smaller key, and the first of the others.
    #[inline]
    fn find(&self, key: u64) -> (usize, usize) {
        let (mut before, mut at) = (END, self.first);
        while at != END && self.nodes[at].key < key {
            before = at;
            at = self.nodes[at].next;
        }
        (before, at)
    }

    #[inline]
    fn holds(&self, at: usize, key: u64) -> bool {
        at != END && self.nodes[at].key == key
    }

    fn link(&mut self, before: usize, at: usize) {
        if before == END { self.first = at } else { self.nodes[before].next = at }
    }

    /// From the least on.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        let node = |at: usize| self.nodes.get(at);
        std::iter::successors(node(self.first), move |last| node(last.next)).map(|node| node.key)
    }

    /// Takes one key out and puts the other one in; false, and nothing happens, if that cannot be.
    pub(super) fn rename(&mut self, from: u64, to: u64) -> bool {
        let is_possible = self.contains(from) && (from == to || !self.contains(to));
        is_possible && self.remove(from) && self.insert(to)
    }

    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        self.holds(self.find(key).1, key)
    }

    pub(super) fn insert(&mut self, key: u64) -> bool {
        let (before, next) = self.find(key);
        if self.holds(next, key) {
            return false;
        }
        let node = Node { key, next };
        let at = match self.free.pop() {
            Some(at) => {
                self.nodes[at] = node;
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.link(before, at);
        true
    }

    pub(super) fn remove(&mut self, key: u64) -> bool {
        let (before, at) = self.find(key);
        let is_there = self.holds(at, key);
        if is_there {
            self.link(before, self.nodes[at].next);
            self.free.push(at);
        }
        is_there
    }
}

/// The buckets of a hash table; a list is a table of one.
pub(super) struct Buckets(Vec<SortedList>);

impl Buckets {
    /// With the keys of the start.
    pub(super) fn new(work: SetWork, seed: u64) -> Self {
        let mut buckets = Self((0..count(work)).map(|_| SortedList::default()).collect());
        for key in initial_keys(work, seed) {
            buckets.of(key).insert(key);
        }
        buckets
    }

    #[inline]
    fn of(&mut self, key: u64) -> &mut SortedList {
        let at = key as usize % self.0.len();
        &mut self.0[at]
    }

    pub(super) fn into_lists(self) -> Vec<SortedList> {
        self.0
    }
}

/// How many buckets there are.
pub(super) fn count(work: SetWork) -> usize {
    if work.load == 0 { 1 } else { work.buckets() }
}

impl Set for Buckets {
    #[inline]
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).contains(key))
    }

    #[inline]
    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).insert(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        Ok(self.of(key).remove(key))
    }

    fn snapshot(&mut self) -> Result<u64, Failure> {
        Ok(self.0.iter().map(|list| list.keys().count() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_set() {
        let (mut random, mut list, mut model) = (fastrand::Rng::with_seed(7), SortedList::default(), BTreeSet::new());
        for _ in 0..5000 {
            let key = random.u64(..40);
            match random.u8(..4) {
                0 => assert_eq!(list.insert(key), model.insert(key)),
                3 => {
                    let to = random.u64(..40);
                    let moves = model.contains(&key) && (key == to || !model.contains(&to));
                    assert_eq!(list.rename(key, to), moves);
                    if moves {
                        model.remove(&key);
                        model.insert(to);
                    }
                    assert!(list.keys().eq(model.iter().copied()));
                }
                1 => assert_eq!(list.remove(key), model.remove(&key)),
                _ => assert_eq!(list.contains(key), model.contains(&key)),
            }
        }
        assert!(list.nodes.len() <= 40, "nodes are used again");
    }
}
