//! All data behind one lock, corecast's `auto`: the program that a transactional memory takes the place of.

use std::collections::VecDeque;

use corecast::lock::{Auto, Mutex, Setup};

use super::sequential::{Accounts, Buckets, Ordered, Shared};
use crate::tm::bank::{Bank, Banker};
use crate::tm::histogram::{Counter, Counts, Histogram};
use crate::tm::host::{Session, Setting, check_readers, seats};
use crate::tm::queue::{Passer, Queue};
use crate::tm::set::{Set, Worker};
use crate::tm::steps::{Step, Stepper, VARIABLES, WRITTEN};
use crate::tm::workload::Work;
use corecast_race::failure::Failure;

/// A memory with one lock.
pub(in crate::tm) fn with(setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let clients = setting.participants;
    match setting.work {
        Work::Bank(work) => {
            check_readers(setting, clients)?;
            let bank = behind(Accounts::default(), clients);
            session(seats(setting, clients, |rank| Banker::new(OneLock(&bank), work, setting, rank)))
        }
        Work::Table(work) | Work::List(work) => {
            let set = behind(Buckets::new(work, setting.seed), clients);
            session(seats(setting, clients, |rank| Worker::new(OneLock(&set), work, setting, rank)))
        }
        Work::Map(work) => {
            let set = behind(Ordered::new(work, setting.seed), clients);
            session(seats(setting, clients, |rank| Worker::new(OneLock(&set), work, setting, rank)))
        }
        Work::Queue => {
            let queue = behind(VecDeque::<u64>::new(), clients);
            session(seats(setting, clients, |rank| Passer::new(OneLock(&queue), setting, rank)))
        }
        Work::MapReduce => {
            let shared = behind(Shared::default(), clients);
            session(seats(setting, clients, |_| Counter::new(OneLock(&shared), setting)))
        }
        Work::Writes => {
            let words = behind(vec![0u64; VARIABLES], clients);
            session(seats(setting, clients, |rank| Stepper::new(OneLock(&words), setting, rank)))
        }
        Work::Mp => Err(Failure::Refused("it has no servers".to_owned())),
    }
}

fn behind<T>(data: T, clients: usize) -> Mutex<T, Auto> {
    Mutex::for_setup(data, &Setup::of_threads(clients))
}

/// A client's way to the data.
struct OneLock<'a, T>(&'a Mutex<T, Auto>);

impl<T: Bank> Bank for OneLock<'_, T> {
    #[inline]
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        self.0.with(|bank| bank.transfer(from, to, amount))
    }

    #[inline]
    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        self.0.with(|bank| bank.check(one, other))
    }

    fn total(&mut self) -> Result<i64, Failure> {
        self.0.with(Bank::total)
    }
}

impl<T: Set> Set for OneLock<'_, T> {
    #[inline]
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        self.0.with(|set| set.contains(key))
    }

    #[inline]
    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        self.0.with(|set| set.insert(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        self.0.with(|set| set.remove(key))
    }

    fn rename(&mut self, from: u64, to: u64) -> Result<bool, Failure> {
        self.0.with(|set| set.rename(from, to))
    }

    fn snapshot(&mut self) -> Result<u64, Failure> {
        self.0.with(Set::snapshot)
    }
}

impl<T: Queue> Queue for OneLock<'_, T> {
    #[inline]
    fn push(&mut self, value: u64) -> Result<(), Failure> {
        self.0.with(|queue| queue.push(value))
    }

    #[inline]
    fn pop(&mut self) -> Result<Option<u64>, Failure> {
        self.0.with(Queue::pop)
    }
}

impl<T: Histogram> Histogram for OneLock<'_, T> {
    #[inline]
    fn next_chunk(&mut self) -> Result<u64, Failure> {
        self.0.with(Histogram::next_chunk)
    }

    fn add(&mut self, counts: &Counts) -> Result<(), Failure> {
        self.0.with(|shared| shared.add(counts))
    }

    fn counts(&mut self) -> Result<Counts, Failure> {
        self.0.with(Histogram::counts)
    }
}

impl<T: Step> Step for OneLock<'_, T> {
    #[inline]
    fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure> {
        self.0.with(|data| data.step(variables, value))
    }

    fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure> {
        self.0.with(|data| data.read(variable))
    }
}
