//! The work of the clients of a store: one block that is timed, and the check before.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use corecast::base::Clock;
use corecast::base::sync::{AtomicUsize, Ordering};
use corecast::machine::pin;
use serde::{Deserialize, Serialize};

use super::host::{Client, Host, Setting, Value};
use super::load::{BATCH, KEYS, Load, Mix, Step, Steps};
use crate::table::Latency;
use corecast_race::failure::Failure;

/// A client that is early by more than this sleeps, in nanoseconds; otherwise it gives way.
const NAP_NS: f64 = 200_000.0;

/// The counts of one client in a block. Times are ticks of [`Clock`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) operations: u64,
    start: u64,
    end: u64,
    pub(super) reads: Latency,
    pub(super) writes: Latency,
}

/// The results of one block, of all clients.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    pub(super) operations: u64,
    pub(super) seconds: f64,
    pub(super) reads: Latency,
    pub(super) writes: Latency,
    /// The writes of each client by itself.
    pub(super) writes_of: Vec<Latency>,
}

impl Tally {
    /// Of a client that begins now.
    pub(super) fn begun() -> Self {
        Self { start: Clock::get().ticks(), ..Self::default() }
    }

    pub(super) fn end(mut self) -> Self {
        self.end = Clock::get().ticks();
        self
    }
}

impl Block {
    pub(super) fn of(tallies: &[Tally]) -> Self {
        let start = tallies.iter().map(|tally| tally.start).min().unwrap_or(0);
        let end = tallies.iter().map(|tally| tally.end).max().unwrap_or(0);
        let seconds = Clock::get().ns(end.saturating_sub(start)) / 1e9;
        let mut block = Self { seconds, ..Self::default() };
        for tally in tallies {
            block.operations += tally.operations;
            block.reads.merge(&tally.reads);
            block.writes.merge(&tally.writes);
            block.writes_of.push(tally.writes.clone());
        }
        block
    }
}

/// A value that tells its key and the number of its write.
pub(super) fn value_of(key: u64, number: u64) -> Value {
    (u128::from(key) << 64 | u128::from(number)).to_le_bytes()
}

fn is_of(key: u64, value: Option<Value>) -> bool {
    value.is_none_or(|value| (u128::from_le_bytes(value) >> 64) as u64 == key)
}

/// Plays a block until its time is over.
pub(super) fn play<C: Client + ?Sized>(
    client: &mut C,
    load: &Load,
    rank: usize,
    clients: usize,
) -> Result<Tally, Failure> {
    let clock = Clock::get();
    let mut steps = Steps::new(load, rank, clients);
    let mut tally = Tally::begun();
    let over = tally.start + clock.ticks_in(Duration::from_nanos(load.time_ns));
    if load.mix == Mix::Reads && load.every_ns.is_none() {
        return read_in_batches(client, &mut steps, tally, over);
    }
    let mut begin = tally.start;
    loop {
        if let Some(every_ns) = load.every_ns {
            let intended = Duration::from_nanos((every_ns * tally.operations as f64) as u64);
            begin = tally.start + clock.ticks_in(intended);
            await_start(client, begin);
        }
        if begin >= over {
            return Ok(tally.end());
        }
        let (step, number) = (steps.next(), tally.operations);
        perform(client, step, number)?;
        let now = clock.ticks_in_order();
        let latency = if matches!(step, Step::Get(_)) { &mut tally.reads } else { &mut tally.writes };
        latency.add(now.saturating_sub(begin));
        tally.operations += 1;
        begin = now;
    }
}

fn await_start<C: Client + ?Sized>(client: &mut C, begin: u64) {
    let clock = Clock::get();
    loop {
        let now = clock.ticks();
        if now >= begin {
            return;
        }
        client.assist();
        if clock.ns(begin - now) > NAP_NS {
            thread::sleep(Duration::from_nanos(NAP_NS as u64 / 2));
        } else {
            thread::yield_now();
        }
    }
}

#[inline]
fn perform<C: Client + ?Sized>(client: &mut C, step: Step, number: u64) -> Result<(), Failure> {
    match step {
        Step::Get(key) => {
            let value = client.get(key)?;
            if is_of(key, value) { Ok(()) } else { Err(wrong(key, value)) }
        }
        Step::Set(key) => client.set(key, value_of(key, number)),
        Step::Modify(key) => {
            let before = client.get(key)?.map_or(0, |value| u128::from_le_bytes(value) as u64);
            client.set(key, value_of(key, before.wrapping_add(1)))
        }
    }
}

/// Reads, timed many at a time: the clock takes about as long as a read. Their keys are drawn before: that is no
/// part of a read.
fn read_in_batches<C: Client + ?Sized>(
    client: &mut C,
    steps: &mut Steps,
    mut tally: Tally,
    over: u64,
) -> Result<Tally, Failure> {
    let clock = Clock::get();
    let mut keys = [0; BATCH as usize];
    while clock.ticks() < over {
        for key in &mut keys {
            if let Step::Get(drawn) = steps.next() {
                *key = drawn;
            }
        }
        let begin = clock.ticks_in_order();
        for key in keys {
            let value = client.get(key)?;
            if !is_of(key, value) {
                return Err(wrong(key, value));
            }
        }
        // The histogram has whole ticks, which are too coarse for one read.
        tally.reads.add(clock.ticks_in_order().saturating_sub(begin));
        tally.operations += BATCH;
    }
    Ok(tally.end())
}

#[cold]
fn wrong(key: u64, value: Option<Value>) -> Failure {
    Failure::Wrong(format!("{value:?} was read for key {key}"))
}

/// Clients that begin together, and help each other until the last one is done.
struct Meeting {
    begin: Barrier,
    clients: usize,
    /// Clients that could not begin, counted by themselves before the beginning.
    absent: AtomicUsize,
    /// Clients that are done, counted by themselves.
    finished: AtomicUsize,
}

impl Meeting {
    fn attend<R>(
        &self,
        client: Result<Box<dyn Client + '_>, Failure>,
        job: impl FnOnce(&mut dyn Client) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        // ORDERING: Relaxed, the barrier orders it
        self.absent.fetch_add(usize::from(client.is_err()), Ordering::Relaxed);
        self.begin.wait();
        let mut client = client?;
        // ORDERING: Relaxed, the barrier orders it
        if self.absent.load(Ordering::Relaxed) > 0 {
            return Err(Failure::Aborted);
        }
        let done = job(&mut *client);
        // ORDERING: Relaxed, the count publishes nothing but itself
        self.finished.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, the count publishes nothing but itself
        while self.finished.load(Ordering::Relaxed) < self.clients {
            client.assist();
            thread::yield_now();
        }
        done
    }
}

/// All clients in threads of their own, bound to their CPUs, each with the same `job`.
fn together<R: Send>(
    setting: &Setting,
    host: &dyn Host,
    job: &(dyn Fn(&mut dyn Client, usize) -> Result<R, Failure> + Sync),
) -> Result<Vec<R>, Failure> {
    let clients = setting.clients;
    let (absent, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let meeting = &Meeting { begin: Barrier::new(clients), clients, absent, finished };
    let run = |rank: usize| {
        let pinned = pin::pin(setting.cpus[rank % setting.cpus.len()]).map_err(Failure::refused);
        let client = pinned.as_ref().map_err(Clone::clone).and_then(|_| host.client(rank));
        meeting.attend(client, |client| job(client, rank))
    };
    let run = &run;
    let done: Vec<Result<R, Failure>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|rank| scope.spawn(move || run(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no client panics")).collect()
    });
    first_cause(done)
}

/// All results, or the error that the others gave up for.
fn first_cause<R>(done: Vec<Result<R, Failure>>) -> Result<Vec<R>, Failure> {
    let cause = done.iter().filter_map(|one| one.as_ref().err()).find(|failure| **failure != Failure::Aborted).cloned();
    cause.map_or_else(|| done.into_iter().collect(), Err)
}

/// Times one block.
pub(super) fn block(setting: &Setting, host: &dyn Host, load: &Load) -> Result<Block, Failure> {
    let tallies = together(setting, host, &|client, rank| client.play(load, rank, setting.clients))?;
    Ok(Block::of(&tallies))
}

/// Writes the keys of this client's share, among them those that the check reads.
pub(super) fn fill(client: &mut dyn Client, rank: usize, clients: usize) -> Result<(), Failure> {
    let own = (1..=KEYS).filter(|key| key % clients as u64 == rank as u64);
    own.into_iter().try_for_each(|key| client.set(key, value_of(key, key)))
}

/// Reads what all clients have filled in: what was written has to be seen.
pub(super) fn verify(client: &mut dyn Client) -> Result<(), Failure> {
    client.catch_up()?;
    (1..=KEYS).try_for_each(|key| {
        let value = client.get(key)?;
        if value == Some(value_of(key, key)) { Ok(()) } else { Err(wrong(key, value)) }
    })
}

/// Fills the store, and reads it at every client.
pub(super) fn check(setting: &Setting, host: &dyn Host) -> Result<(), Failure> {
    together(setting, host, &|client, rank| fill(client, rank, setting.clients))?;
    together(setting, host, &|client, _| verify(client)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};

    use corecast::base::wait::Wait;

    /// Loses a key, or shows the value of another one.
    struct Broken {
        values: Mutex<HashMap<u64, Value>>,
        loses: bool,
    }

    struct BrokenClient<'a>(&'a Broken);

    impl Host for Broken {
        fn client(&self, _rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
            Ok(Box::new(BrokenClient(self)))
        }
    }

    impl Client for BrokenClient<'_> {
        fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
            let key = if !self.0.loses && key == 7 { 8 } else { key };
            Ok(self.0.values.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied())
        }

        fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
            if !(self.0.loses && key == 7) {
                self.0.values.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value);
            }
            Ok(())
        }
    }

    fn setting(clients: usize) -> Setting {
        let cpus = pin::affinity().expect("own mask").iter().collect();
        Setting { members: clients, clients, cpus, wait: Wait::Adaptive }
    }

    #[test]
    fn the_check_finds_a_store_that_loses_or_mixes_up_keys() {
        for (loses, told) in [(true, "None was read for key 7"), (false, "was read for key 7")] {
            let host = Broken { values: Mutex::default(), loses };
            let wrong = check(&setting(2), &host).expect_err("it is broken").to_string();
            assert!(wrong.contains(told), "{wrong}");
        }
        let host = Broken { values: Mutex::default(), loses: false };
        let load = Load { mix: Mix::Shares(50), is_skewed: false, every_ns: None, time_ns: 50_000_000, seed: 3 };
        assert!(block(&setting(1), &host, &load).is_err(), "a value of another key is found in a block, too");
    }

    #[test]
    fn a_client_that_cannot_begin_holds_nobody_up() {
        struct Absent;
        impl Host for Absent {
            fn client(&self, rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
                Err(Failure::Refused(format!("no client {rank}")))
            }
        }
        let refused = check(&setting(2), &Absent).expect_err("nobody begins").to_string();
        assert!(refused.starts_with("no client"), "{refused}");
    }

    #[test]
    fn an_open_loop_keeps_its_rate_and_counts_what_is_late() {
        let host = Broken { values: Mutex::default(), loses: true };
        let every_ns = Some(1_000_000.0);
        let load = Load { mix: Mix::Writes, is_skewed: true, every_ns, time_ns: 20_000_000, seed: 3 };
        let block = block(&setting(1), &host, &load).expect("it writes");
        assert_eq!((block.operations, block.writes.samples()), (20, 20));
    }
}
