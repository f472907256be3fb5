//! The operations of the clients of a store: which, on which key, and when.
//!
//! Closed loops ask for the next operation once the last one is done. Open loops have an intended start for each operation,
//! one after the other at the same distance: an operation that begins late, as the one before took long, is late by that, so that
//! a pause is seen by all that it delayed. Keys are drawn by Zipf's law with exponent 0.99, as YCSB does, or uniformly.
//!
//! Source: B. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, 2010.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::table::Zipf;

/// The number of keys of a store; YCSB D puts others in beyond.
pub(super) const KEYS: u64 = 1000;
/// The most keys that a store has to hold.
pub(super) const MOST_KEYS: usize = 1 << 16;
/// YCSB's exponent.
const ZIPF: f64 = 0.99;
/// Keys that are drawn before, and gone through over and over.
const DRAWN: usize = 1 << 14;
/// Reads that are timed together where nothing else is done.
pub(super) const BATCH: u64 = 64;

/// The kinds of operations, and their shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mix {
    /// Reads only, timed 64 at a time.
    Reads,
    /// Writes only.
    Writes,
    /// This share of 100 are reads.
    Shares(u8),
    /// 95 of 100 read what was put in lately, the others put in (YCSB D).
    Latest,
    /// Half read, half read and write the same key (YCSB F).
    ReadModifyWrite,
}

/// The work of every client in one block.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) mix: Mix,
    /// By Zipf's law, or else uniformly.
    pub(super) is_skewed: bool,
    /// Between the intended starts of two operations of a client, in nanoseconds; `None` for a closed loop.
    pub(super) every_ns: Option<f64>,
    /// How long the block lasts, in nanoseconds.
    pub(super) time_ns: u64,
    pub(super) seed: u64,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Get(u64),
    Set(u64),
    Modify(u64),
}

/// The next step of one client.
pub(super) struct Steps {
    random: Rng,
    mix: Mix,
    /// Ranks by Zipf's law, or keys.
    drawn: Vec<u32>,
    at: usize,
    /// The newest key that this client has put in, and the distance to its next.
    newest: u64,
    stride: u64,
}

impl Steps {
    /// Of client `rank` of `clients`.
    pub(super) fn new(load: &Load, rank: usize, clients: usize) -> Self {
        let mut random = Rng::with_seed(load.seed ^ (rank as u64) << 32);
        let zipf = Zipf::new(KEYS, ZIPF);
        let draw = |random: &mut Rng| if load.is_skewed { zipf.draw(random) } else { random.u64(1..=KEYS) };
        let drawn = (0..DRAWN).map(|_| draw(&mut random) as u32).collect();
        Self { random, mix: load.mix, drawn, at: 0, newest: KEYS + rank as u64, stride: clients as u64 }
    }

    #[inline]
    fn drawn(&mut self) -> u64 {
        self.at = (self.at + 1) % DRAWN;
        self.drawn[self.at].into()
    }

    #[inline]
    fn is_below(&mut self, share: u64) -> bool {
        ((self.random.u64(..) >> 32) * 100) >> 32 < share
    }

    #[inline]
    pub(super) fn next(&mut self) -> Step {
        let mix = self.mix;
        let reads = match mix {
            Mix::Reads => return Step::Get(self.drawn()),
            Mix::Writes => return Step::Set(self.drawn()),
            Mix::Latest => return self.latest(),
            Mix::Shares(reads) => reads.into(),
            Mix::ReadModifyWrite => 50,
        };
        let (is_read, key) = (self.is_below(reads), self.drawn());
        match mix {
            _ if is_read => Step::Get(key),
            Mix::ReadModifyWrite => Step::Modify(key),
            _ => Step::Set(key),
        }
    }

    fn latest(&mut self) -> Step {
        if self.is_below(95) {
            let back = self.drawn() - 1;
            return Step::Get(self.newest.saturating_sub(back).max(1));
        }
        self.newest += self.stride;
        if self.newest as usize >= MOST_KEYS {
            self.newest = KEYS;
        }
        Step::Set(self.newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(mix: Mix) -> Vec<Step> {
        let load = Load { mix, is_skewed: true, every_ns: None, time_ns: 0, seed: 11 };
        let mut steps = Steps::new(&load, 0, 2);
        (0..20_000).map(|_| steps.next()).collect()
    }

    #[test]
    fn shares_are_those_of_the_mix() {
        let share = |mix, is: fn(&Step) -> bool| steps(mix).iter().filter(|step| is(step)).count() as f64 / 20_000.0;
        let gets = |mix| share(mix, |step| matches!(step, Step::Get(_)));
        assert_eq!([gets(Mix::Reads), gets(Mix::Writes)], [1.0, 0.0]);
        for (mix, expected) in
            [(Mix::Shares(80), 0.8), (Mix::Shares(50), 0.5), (Mix::Latest, 0.95), (Mix::ReadModifyWrite, 0.5)]
        {
            assert!((gets(mix) - expected).abs() < 0.02, "{mix:?}: {}, with this seed always the same", gets(mix));
        }
    }

    #[test]
    fn keys_fit_the_store_and_the_newest_are_read() {
        for mix in [Mix::Writes, Mix::Latest] {
            let key = |step: &Step| match *step {
                Step::Get(key) | Step::Set(key) | Step::Modify(key) => key,
            };
            assert!(steps(mix).iter().all(|step| (1..MOST_KEYS as u64).contains(&key(step))), "{mix:?}");
        }
        let mut newest = 0;
        let mut reads_of_new = 0;
        for step in steps(Mix::Latest) {
            match step {
                Step::Set(key) => newest = key,
                Step::Get(key) => reads_of_new += u64::from(key > KEYS && newest > 0),
                Step::Modify(_) => unreachable!("D modifies nothing"),
            }
        }
        assert!(reads_of_new > 1000, "{reads_of_new}");
    }
}
