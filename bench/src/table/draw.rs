//! The next step of each thread: which operation, and on which key.
//!
//! Keys are uniform in the paper. Zipf's are drawn before a block begins and gone through over and over, as to draw one takes
//! longer than an operation: a key is drawn as often as 1 divided by its number raised to the exponent says.
//!
//! Source: W. Hörmann, G. Derflinger, Rejection-Inversion to Generate Variates from Monotone Discrete Distributions, 1996.

use fastrand::Rng;

/// Of 128: a fifth, rounded down.
const UPDATES: u64 = 25;
/// How many keys are drawn before: a line of them is fetched for 16 tries.
const DRAWN: usize = 1 << 16;

/// An operation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Get,
    Put,
    Remove,
}

impl Kind {
    /// The one with this number; any other than those is the last.
    pub(super) fn of(number: u32) -> Self {
        match number {
            0 => Self::Get,
            1 => Self::Put,
            _ => Self::Remove,
        }
    }
}

/// The next step of the experiment's mix.
pub(super) struct Mix {
    random: Rng,
    keys: u64,
    /// Whether the next update puts.
    puts: bool,
    /// The keys that come, of Zipf's.
    drawn: Vec<u32>,
    at: usize,
}

impl Mix {
    /// With keys from 1 to `keys`, by Zipf's law if there is an exponent.
    pub(super) fn new(mut random: Rng, keys: u64, exponent: Option<f64>) -> Self {
        let zipf = exponent.map(|exponent| Zipf::new(keys, exponent));
        let drawn = zipf.map_or_else(Vec::new, |zipf| (0..DRAWN).map(|_| zipf.draw(&mut random) as u32).collect());
        Self { random, keys, puts: false, drawn, at: 0 }
    }

    pub(super) fn kind(&mut self) -> Kind {
        if self.random.u64(..) >> 57 >= UPDATES {
            return Kind::Get;
        }
        self.puts = !self.puts;
        if self.puts { Kind::Remove } else { Kind::Put }
    }

    #[inline]
    pub(super) fn key(&mut self) -> u64 {
        if self.drawn.is_empty() {
            return self.random.u64(1..=self.keys);
        }
        self.at = (self.at + 1) % DRAWN;
        self.drawn[self.at].into()
    }
}

/// Numbers from 1 to `most`, of which k is as likely as k raised to minus the exponent.
pub(crate) struct Zipf {
    most: f64,
    exponent: f64,
    /// The integral's ends, between which is drawn.
    first: f64,
    last: f64,
    /// Numbers at most so far below what was drawn are taken at once.
    sure: f64,
}

impl Zipf {
    pub(crate) fn new(most: u64, exponent: f64) -> Self {
        let most = most as f64;
        let zipf = Self { most, exponent, first: 0.0, last: 0.0, sure: 0.0 };
        let sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        Self { first: zipf.integral(1.5) - 1.0, last: zipf.integral(most + 0.5), sure, ..zipf }
    }

    fn weight(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// Of the weight, from 1 to `x`.
    fn integral(&self, x: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { x.ln() } else { (x.powf(power) - 1.0) / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { area.exp() } else { (1.0 + area * power).powf(power.recip()) }
    }

    pub(crate) fn draw(&self, random: &mut Rng) -> u64 {
        loop {
            let area = self.last + random.f64() * (self.first - self.last);
            let x = self.inverse(area);
            let number = x.round().clamp(1.0, self.most);
            if number - x <= self.sure || area >= self.integral(number + 0.5) - self.weight(number) {
                return number as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_what_succeeds_updates_in_turns() {
        let mut mix = Mix::new(Rng::with_seed(9), 5, None);
        let kinds: Vec<Kind> = (0..100_000).map(|_| mix.kind()).collect();
        let updates: Vec<bool> =
            kinds.iter().filter(|kind| !matches!(kind, Kind::Get)).map(|kind| matches!(kind, Kind::Put)).collect();
        let share = updates.len() as f64 / kinds.len() as f64;
        assert!((0.18..0.21).contains(&share), "{share}, with this seed always the same");
        assert!(updates.windows(2).all(|pair| pair[0] != pair[1]), "puts and removes alternate");
    }

    /// How often each number came, and how often it should.
    fn shares(most: u64, exponent: Option<f64>) -> Vec<(f64, f64)> {
        const DRAWS: usize = 200_000;
        let mut mix = Mix::new(Rng::with_seed(4), most, exponent);
        let mut found = vec![0u32; most as usize];
        for _ in 0..DRAWS {
            found[mix.key() as usize - 1] += 1;
        }
        let weight = |number: u64| (number as f64).powf(-exponent.unwrap_or(0.0));
        let all: f64 = (1..=most).map(weight).sum();
        found.iter().zip(1..).map(|(&found, number)| (f64::from(found) / DRAWS as f64, weight(number) / all)).collect()
    }

    #[test]
    fn keys_come_as_often_as_the_law_says() {
        for exponent in [None, Some(0.5), Some(0.99), Some(1.0), Some(2.0)] {
            for (found, expected) in shares(20, exponent) {
                assert!((found - expected).abs() < 0.01, "{exponent:?}: {found} {expected}");
            }
        }
        assert_eq!(shares(1, Some(0.99)), [(1.0, 1.0)]);
    }
}
