//! Sets of keys: a sorted list, or a hash table of them.
//!
//! A part of the operations changes the set: a client that has put a key in takes the same out next, and one that was there
//! already changes nothing, so updates are drawn more often until the part is as asked (*effective* updates). So the set
//! keeps its size. Of a table others may move a value from one key to another, which changes two buckets, and look at all keys at
//! one moment.

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

    /// Takes one key out and puts the other one in; false, and nothing happens, if the first is not in, or the second is. As it
    /// stands, for a set that nobody else uses meanwhile.
    ///
    /// # Errors
    /// A failure of the memory.
    fn rename(&mut self, from: u64, to: u64) -> Result<bool, Failure> {
        if !self.remove(from)? {
            return Ok(false);
        }
        let is_done = self.insert(to)?;
        if !is_done {
            self.insert(from)?;
        }
        Ok(is_done)
    }

    /// How many keys are in, counted at one moment.
    ///
    /// # Errors
    /// A failure of the memory, or if it is no table.
    fn snapshot(&mut self) -> Result<u64, Failure> {
        Err(Failure::Refused("keys are counted in tables only".to_owned()))
    }

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

    /// Moves a value between two keys, or looks at all keys.
    fn play_table(&mut self, moves: bool) -> Result<(), Failure> {
        if moves {
            let (from, to) = (self.random.u64(..self.work.range()), self.random.u64(..self.work.range()));
            return self.set.rename(from, to).map(drop);
        }
        let (found, initial) = (self.set.snapshot()?, self.work.initial);
        if self.work.updates_percent == 0 && found != initial {
            return Err(Failure::Wrong(format!("{found} keys amid moves, not {initial}")));
        }
        Ok(())
    }

    /// One operation. True if it looked at all keys.
    #[inline]
    fn step(&mut self) -> Result<bool, Failure> {
        let SetWork { moves_percent, snapshots_percent, .. } = self.work;
        if moves_percent + snapshots_percent > 0 {
            let drawn = self.random.u32(..100);
            if drawn < moves_percent + snapshots_percent {
                self.play_table(drawn < moves_percent)?;
                return Ok(drawn >= moves_percent);
            }
        }
        self.look_or_change().map(|()| false)
    }

    #[inline]
    fn look_or_change(&mut self) -> Result<(), Failure> {
        let is_update = 100 * self.changes < u64::from(self.work.updates_percent) * self.operations;
        self.operations += 1;
        if !is_update {
            let key = self.random.u64(..self.work.range());
            std::hint::black_box(self.set.contains(key)?);
            return Ok(());
        }
        let has_changed = match self.put.take() {
            Some(key) => {
                let was_there = self.set.remove(key)?;
                // Another client has moved it: one key less has to be there all the same.
                self.put = (!was_there).then(|| self.random.u64(..self.work.range()));
                was_there
            }
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
            if self.work.snapshots_percent > 0 && self.random.u8(..32) == 0 {
                self.set.snapshot()?;
            }
            if self.work.moves_percent > 0 && self.random.u8(..4) == 0 {
                let to = self.random.u64(..range);
                let moved = i64::from(self.set.rename(key, to)?);
                net[key as usize] -= moved;
                net[to as usize] += moved;
                continue;
            }
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
        for (key, expected) in expected.iter_mut().enumerate() {
            *expected += recorded.iter().map(|net| net[key]).sum::<i64>();
        }
        if self.work.snapshots_percent > 0 {
            let (found, all) = (self.set.snapshot()?, expected.iter().sum::<i64>());
            if found as i64 != all {
                return Err(Failure::Wrong(format!("{found} keys are counted, and {all} are in")));
            }
        }
        for (key, expected) in expected.into_iter().enumerate() {
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
            if self.step()? {
                tally.scans += 1;
            } else {
                tally.commits += 1;
            }
        }
        tally.end = clock.ticks();
        tally.aborts = self.set.aborts() - before;
        Ok(tally)
    }
}
