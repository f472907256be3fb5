//! Transactional memories of other crates, which share a shape: variables that hold any value behind a count of references, and a
//! closure that runs again until what it has read is still there when it commits.
//!
//! The workloads are written once for that shape, and each crate has the few lines that name its functions.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use super::sequential::count;
use crate::tm::bank::{Account, Bank, Banker, accounts};
use crate::tm::histogram::{COUNTERS, Counter, Counts, Histogram};
use crate::tm::host::{Session, Setting, check_readers, seats};
use crate::tm::set::{Set, Worker, initial_keys};
use crate::tm::steps::{Step, Stepper, VARIABLES, WRITTEN};
use crate::tm::workload::{SetWork, Work};
use corecast_race::failure::Failure;

/// A crate's memory.
pub(in crate::tm) trait Stm: 'static {
    type Var<T: Any + Send + Sync + Clone>: Clone + Send + Sync;
    type Tx;
    type Retry;

    fn var<T: Any + Send + Sync + Clone>(value: T) -> Self::Var<T>;
    fn read<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>) -> Result<T, Self::Retry>;
    fn write<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>, value: T) -> Result<(), Self::Retry>;
    fn atomically<R>(body: impl Fn(&mut Self::Tx) -> Result<R, Self::Retry>) -> R;
}

/// The crate `stm-core`, which the crate `stm` hands on.
pub(in crate::tm) struct StmCore;

impl Stm for StmCore {
    type Var<T: Any + Send + Sync + Clone> = stm_core::TVar<T>;
    type Tx = stm_core::Transaction;
    type Retry = stm_core::StmError;

    fn var<T: Any + Send + Sync + Clone>(value: T) -> Self::Var<T> {
        stm_core::TVar::new(value)
    }

    fn read<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>) -> Result<T, Self::Retry> {
        var.read(tx)
    }

    fn write<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>, value: T) -> Result<(), Self::Retry> {
        var.write(tx, value)
    }

    fn atomically<R>(body: impl Fn(&mut Self::Tx) -> Result<R, Self::Retry>) -> R {
        stm_core::atomically(body)
    }
}

/// The crate `fast-stm`, which goes on with it.
pub(in crate::tm) struct FastStm;

impl Stm for FastStm {
    type Var<T: Any + Send + Sync + Clone> = fast_stm::TVar<T>;
    type Tx = fast_stm::Transaction;
    type Retry = fast_stm::StmError;

    fn var<T: Any + Send + Sync + Clone>(value: T) -> Self::Var<T> {
        fast_stm::TVar::new(value)
    }

    fn read<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>) -> Result<T, Self::Retry> {
        var.read(tx)
    }

    fn write<T: Any + Send + Sync + Clone>(tx: &mut Self::Tx, var: &Self::Var<T>, value: T) -> Result<(), Self::Retry> {
        var.write(tx, value)
    }

    fn atomically<R>(body: impl Fn(&mut Self::Tx) -> Result<R, Self::Retry>) -> R {
        fast_stm::atomically(body)
    }
}

/// A memory of this crate's variables.
pub(in crate::tm) fn with<M: Stm>(setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let clients = setting.participants;
    match setting.work {
        Work::Bank(work) => {
            check_readers(setting, clients)?;
            let bank: Vec<M::Var<Account>> = accounts().map(M::var).collect();
            let client = |rank| Banker::new(Attempts::<M, _>::new(&bank), work, setting, rank);
            session(seats(setting, clients, client))
        }
        Work::Table(work) | Work::List(work) => {
            let lists = lists::<M>(work, setting.seed);
            session(seats(setting, clients, |rank| Worker::new(Attempts::<M, _>::new(&lists), work, setting, rank)))
        }
        Work::MapReduce => {
            let shared: Vec<M::Var<u64>> = (0..=COUNTERS).map(|_| M::var(0)).collect();
            session(seats(setting, clients, |_| Counter::new(Attempts::<M, _>::new(&shared), setting)))
        }
        Work::Writes => {
            let words: Vec<M::Var<u64>> = (0..VARIABLES).map(|_| M::var(0)).collect();
            session(seats(setting, clients, |rank| Stepper::new(Attempts::<M, _>::new(&words), setting, rank)))
        }
        Work::Map(_) | Work::Queue => Err(Failure::Refused("this crate has no such structure".to_owned())),
        Work::Mp => Err(Failure::Refused("it has no servers".to_owned())),
    }
}

/// A client's way to variables, and how often it tried.
struct Attempts<'a, M, V> {
    vars: &'a [V],
    aborts: Cell<u64>,
    memory: std::marker::PhantomData<fn() -> M>,
}

impl<'a, M: Stm, V> Attempts<'a, M, V> {
    fn new(vars: &'a [V]) -> Self {
        Self { vars, aborts: Cell::new(0), memory: std::marker::PhantomData }
    }

    #[inline]
    fn run<R>(&self, body: impl Fn(&mut M::Tx) -> Result<R, M::Retry>) -> R {
        let attempts = Cell::new(0);
        let done = M::atomically(|tx| {
            attempts.set(attempts.get() + 1);
            body(tx)
        });
        self.aborts.set(self.aborts.get() + attempts.get() - 1);
        done
    }
}

impl<M: Stm> Bank for Attempts<'_, M, M::Var<Account>> {
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        let (from, to) = (&self.vars[from], &self.vars[to]);
        self.run(|tx| {
            let ([number, balance], [other, held]) = (M::read(tx, from)?, M::read(tx, to)?);
            M::write(tx, from, [number, balance - amount])?;
            M::write(tx, to, [other, held + amount])
        });
        Ok(())
    }

    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        let (one, other) = (&self.vars[one], &self.vars[other]);
        Ok(self.run(|tx| Ok(i64::from(M::read(tx, one)?[1]) + i64::from(M::read(tx, other)?[1]))))
    }

    fn total(&mut self) -> Result<i64, Failure> {
        Ok(self.run(|tx| self.vars.iter().try_fold(0, |sum, var| Ok(sum + i64::from(M::read(tx, var)?[1])))))
    }

    fn aborts(&self) -> u64 {
        self.aborts.get()
    }
}

/// The next node of a list.
type Link<M> = Option<Arc<Node<M>>>;

/// A link, and the node behind it.
type Found<M> = (<M as Stm>::Var<Next<M>>, Link<M>);

/// A node of a sorted list.
struct Node<M: Stm> {
    key: u64,
    next: M::Var<Next<M>>,
}

/// A link as the value of a variable.
struct Next<M: Stm>(Link<M>);

impl<M: Stm> Clone for Next<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

fn lists<M: Stm>(work: SetWork, seed: u64) -> Vec<M::Var<Next<M>>> {
    let mut keys = initial_keys(work, seed);
    keys.sort_unstable();
    let mut firsts: Vec<Link<M>> = (0..count(work)).map(|_| None).collect();
    for key in keys.into_iter().rev() {
        let first = &mut firsts[key as usize % count(work)];
        *first = Some(Arc::new(Node { key, next: M::var(Next(first.take())) }));
    }
    firsts.into_iter().map(|first| M::var(Next(first))).collect()
}

/// The link before the first node that is not smaller, and that node.
fn find<M: Stm>(tx: &mut M::Tx, first: &M::Var<Next<M>>, key: u64) -> Result<Found<M>, M::Retry> {
    let mut link = first.clone();
    loop {
        match M::read(tx, &link)?.0 {
            Some(node) if node.key < key => link = node.next.clone(),
            found => return Ok((link, found)),
        }
    }
}

fn insert<M: Stm>(tx: &mut M::Tx, first: &M::Var<Next<M>>, key: u64) -> Result<bool, M::Retry> {
    let (link, found) = find::<M>(tx, first, key)?;
    if found.as_ref().is_some_and(|node| node.key == key) {
        return Ok(false);
    }
    M::write(tx, &link, Next(Some(Arc::new(Node { key, next: M::var(Next(found)) }))))?;
    Ok(true)
}

fn remove<M: Stm>(tx: &mut M::Tx, first: &M::Var<Next<M>>, key: u64) -> Result<bool, M::Retry> {
    let (link, found) = find::<M>(tx, first, key)?;
    let Some(node) = found.filter(|node| node.key == key) else { return Ok(false) };
    let next = M::read(tx, &node.next)?;
    M::write(tx, &link, next)?;
    Ok(true)
}

fn count_keys<M: Stm>(tx: &mut M::Tx, first: &M::Var<Next<M>>) -> Result<u64, M::Retry> {
    let (mut link, mut keys) = (first.clone(), 0);
    while let Some(node) = M::read(tx, &link)?.0 {
        keys += 1;
        link = node.next.clone();
    }
    Ok(keys)
}

impl<M: Stm> Set for Attempts<'_, M, M::Var<Next<M>>> {
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        let first = &self.vars[key as usize % self.vars.len()];
        Ok(self.run(|tx| Ok(find::<M>(tx, first, key)?.1.is_some_and(|node| node.key == key))))
    }

    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        let first = &self.vars[key as usize % self.vars.len()];
        Ok(self.run(|tx| insert::<M>(tx, first, key)))
    }

    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        let first = &self.vars[key as usize % self.vars.len()];
        Ok(self.run(|tx| remove::<M>(tx, first, key)))
    }

    fn rename(&mut self, from: u64, to: u64) -> Result<bool, Failure> {
        let [source, target] = [from, to].map(|key| &self.vars[key as usize % self.vars.len()]);
        Ok(self.run(|tx| {
            if !remove::<M>(tx, source, from)? {
                return Ok(false);
            }
            let is_done = insert::<M>(tx, target, to)?;
            if !is_done {
                insert::<M>(tx, source, from)?;
            }
            Ok(is_done)
        }))
    }

    fn snapshot(&mut self) -> Result<u64, Failure> {
        Ok(self.run(|tx| self.vars.iter().try_fold(0, |sum, first| Ok(sum + count_keys::<M>(tx, first)?))))
    }

    fn aborts(&self) -> u64 {
        self.aborts.get()
    }
}

/// The first variable is the next chunk, the others are the counts.
impl<M: Stm> Histogram for Attempts<'_, M, M::Var<u64>> {
    fn next_chunk(&mut self) -> Result<u64, Failure> {
        Ok(self.run(|tx| {
            let next = M::read(tx, &self.vars[0])?;
            M::write(tx, &self.vars[0], next + 1)?;
            Ok(next)
        }))
    }

    fn add(&mut self, counts: &Counts) -> Result<(), Failure> {
        self.run(|tx| {
            self.vars[1..].iter().zip(counts).try_for_each(|(var, count)| {
                let sum = M::read(tx, var)? + count;
                M::write(tx, var, sum)
            })
        });
        Ok(())
    }

    fn counts(&mut self) -> Result<Counts, Failure> {
        Ok(self.run(|tx| {
            let mut counts = [0; COUNTERS];
            for (count, var) in counts.iter_mut().zip(&self.vars[1..]) {
                *count = M::read(tx, var)?;
            }
            Ok(counts)
        }))
    }

    fn aborts(&self) -> u64 {
        self.aborts.get()
    }
}

impl<M: Stm> Step for Attempts<'_, M, M::Var<u64>> {
    fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure> {
        self.run(|tx| variables.iter().try_for_each(|&at| M::write(tx, &self.vars[at], value)));
        Ok(())
    }

    fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure> {
        Ok(Some(self.run(|tx| M::read(tx, &self.vars[variable]))))
    }

    fn aborts(&self) -> u64 {
        self.aborts.get()
    }
}
