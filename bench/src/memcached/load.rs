//! The requests of a client: which, and of which key.

use fastrand::Rng;

use super::protocol::Request;
use crate::table::Zipf;

/// Different keys: as many as five digits name.
pub(super) const KEYS: u32 = 100_000;
/// YCSB's exponent.
const ZIPF: f64 = 0.99;
/// Keys that are drawn before, and gone through over and over.
const DRAWN: usize = 1 << 14;

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcachedMix {
    /// Only gets, of keys that are equally likely.
    Get,
    /// Only sets, of the same.
    Set,
    /// 90 gets and 10 sets of a hundred, of keys by Zipf's law.
    Mixed,
    /// 50 gets and 50 sets of a hundred, of the same.
    Half,
}

impl MemcachedMix {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Get, Self::Set, Self::Mixed, Self::Half];

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Set => "set",
            Self::Mixed => "mixed",
            Self::Half => "half",
        }
    }

    /// Of a hundred requests.
    pub(super) const fn gets_percent(self) -> u32 {
        match self {
            Self::Get => 100,
            Self::Set => 0,
            Self::Mixed => 90,
            Self::Half => 50,
        }
    }

    /// How keys are drawn.
    pub(super) const fn keys(self) -> &'static str {
        match self {
            Self::Get | Self::Set => "uniform",
            Self::Mixed | Self::Half => "zipf 0.99",
        }
    }
}

/// An endless row of requests.
pub(super) struct Requests {
    random: Rng,
    mix: MemcachedMix,
    drawn: Vec<u32>,
    at: usize,
}

impl Requests {
    pub(super) fn new(mix: MemcachedMix, mut random: Rng) -> Self {
        let zipf = Zipf::new(KEYS.into(), ZIPF);
        // Popular keys lie anywhere: neighbours would share buckets' locks.
        let scattered = |rank: u64| (rank * 7919 % u64::from(KEYS)) as u32;
        let mut draw = || match mix {
            MemcachedMix::Mixed | MemcachedMix::Half => scattered(zipf.draw(&mut random)),
            MemcachedMix::Get | MemcachedMix::Set => random.u32(..KEYS),
        };
        let drawn = (0..DRAWN).map(|_| draw()).collect();
        Self { random, mix, drawn, at: 0 }
    }
}

impl Iterator for Requests {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        self.at = (self.at + 1) % DRAWN;
        let key = self.drawn[self.at];
        let is_get = self.random.u32(..100) < self.mix.gets_percent();
        Some(if is_get { Request::Get(key) } else { Request::Set(key) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_of_the_mix() {
        let seed = 17;
        let of = |mix| Requests::new(mix, Rng::with_seed(seed)).take(20_000).collect::<Vec<_>>();
        let gets = |mix| of(mix).iter().filter(|request| matches!(request, Request::Get(_))).count() as f64 / 20_000.0;
        assert_eq!([gets(MemcachedMix::Get), gets(MemcachedMix::Set)], [1.0, 0.0]);
        assert!((gets(MemcachedMix::Mixed) - 0.9).abs() < 0.02 && (gets(MemcachedMix::Half) - 0.5).abs() < 0.02);
        let first = (7919 % KEYS, "the most popular key");
        let popular = of(MemcachedMix::Mixed).iter().filter(|request| **request == Request::Get(first.0)).count();
        assert!(popular > 1000, "{}: {popular}", first.1);
    }
}
