//! Sets of keys: a sorted list, or a hash table of them.
//!
//! A part of the operations changes the set: a client that has put a key in takes the same out next, and one that was there already
//! changes nothing, so updates are drawn more often until the part is as asked (*effective* updates). So the set keeps its size.

use corecast::base::Clock;
use fastrand::Rng;

use super::host::{Block, Player, Setting};
use super::session::goes_on;
use super::tally::Tally;
use super::workload::SetWork;
use corecast_race::failure::Failure;

/// Operations of each client in the check.
const CHECKED: usize = 300;

/// A client's way to a set.
pub(super) trait Set: Send {
    /// Puts in the keys of the start, where the memory was made without them. Called once, by the first client.
    ///
    /// # Errors
    /// A failure of the memory.
    fn fill(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether the key is in.
    ///
    /// # Errors
    /// A failure of the memory.
    fn contains(&mut self, key: u64) -> Result<bool, Failure>;

    /// Puts it in; false if it was.
    ///
    /// # Errors
    /// A failure of the memory.
    fn insert(&mut self, key: u64) -> Result<bool, Failure>;

    /// Takes it out; false if it was not in.
    ///
    /// # Errors
    /// A failure of the memory.
    fn remove(&mut self, key: u64) -> Result<bool, Failure>;

    /// Attempts so far that were not the last of their transaction.
    fn aborts(&self) -> u64 {
        0
    }
}

/// The keys that are in at the start: half of all, drawn at random, in an order that is not sorted.
pub(super) fn initial_keys(work: SetWork, seed: u64) -> Vec<u64> {
    let mut keys: Vec<u64> = (0..work.range()).collect();
    Rng::with_seed(seed).shuffle(&mut keys);
    keys.truncate(work.initial as usize);
    keys
}

/// A client that works on a set.
pub(super) struct Worker<S> {
    set: S,
    work: SetWork,
    random: Rng,
    seed: u64,
    /// The key that it has put in and will take out.
    put: Option<u64>,
    operations: u64,
    /// Those that changed the set.
    changes: u64,
}

impl<S: Set> Worker<S> {
    /// The client of this number.
    pub(super) fn new(set: S, work: SetWork, setting: &Setting<'_>, rank: usize) -> Self {
        let random = Rng::with_seed(setting.seed ^ (rank as u64) << 32);
        Self { set, work, random, seed: setting.seed, put: None, operations: 0, changes: 0 }
    }

    #[inline]
    fn step(&mut self) -> Result<(), Failure> {
        let is_update = 100 * self.changes < u64::from(self.work.updates_percent) * self.operations;
        self.operations += 1;
        if !is_update {
            let key = self.random.u64(..self.work.range());
            std::hint::black_box(self.set.contains(key)?);
            return Ok(());
        }
        let has_changed = match self.put.take() {
            Some(key) => self.set.remove(key)?,
            None => {
                let key = self.random.u64(..self.work.range());
                let is_new = self.set.insert(key)?;
                self.put = is_new.then_some(key);
                is_new
            }
        };
        self.changes += u64::from(has_changed);
        Ok(())
    }
}

impl<S: Set> Player for Worker<S> {
    fn fill(&mut self) -> Result<(), Failure> {
        self.set.fill()
    }

    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        let mut net = vec![0; self.work.range() as usize];
        for _ in 0..CHECKED {
            // Half of the time among a few keys that all clients like.
            let range = if self.random.bool() { self.work.range() } else { 8 };
            let key = self.random.u64(..range);
            match self.random.u8(..3) {
                0 => net[key as usize] += i64::from(self.set.insert(key)?),
                1 => net[key as usize] -= i64::from(self.set.remove(key)?),
                _ => drop(self.set.contains(key)?),
            }
        }
        Ok(net)
    }

    fn verify(&mut self, recorded: &[Vec<i64>]) -> Result<(), Failure> {
        let mut expected = vec![0; self.work.range() as usize];
        initial_keys(self.work, self.seed).into_iter().for_each(|key| expected[key as usize] = 1);
        for (key, expected) in expected.into_iter().enumerate() {
            let expected = expected + recorded.iter().map(|net| net[key]).sum::<i64>();
            let found = i64::from(self.set.contains(key as u64)?);
            if found != expected {
                return Err(Failure::Wrong(format!(
                    "key {key}: puts minus removes are {expected}, present is {found}"
                )));
            }
        }
        Ok(())
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let (before, mut tally) = (self.set.aborts(), Tally { start: clock.ticks(), ..Tally::default() });
        while goes_on(block) {
            self.step()?;
            tally.commits += 1;
        }
        tally.end = clock.ticks();
        tally.aborts = self.set.aborts() - before;
        Ok(tally)
    }
}
