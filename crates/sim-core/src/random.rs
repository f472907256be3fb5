//! Numbers without a pattern, which a seed repeats on every host.

/// A generator of such numbers: SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of this number in a run with this seed.
    #[must_use]
    pub fn new(seed: u64, number: usize) -> Self {
        let mut seeds = Self(seed);
        let begin = seeds.next();
        Self(begin.wrapping_add((number as u64).wrapping_mul(0xD1B5_4A32_D192_ED03)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `limit`, or 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_spread_and_those_of_threads_differ() {
        let numbers = |thread| {
            let mut random = Random::new(7, thread);
            (0..1000).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        let (one, other) = (numbers(0), numbers(1));
        assert_ne!(one, other);
        for number in 0..10 {
            let count = one.iter().filter(|&&drawn| drawn == number).count();
            assert!((60..140).contains(&count), "{number}: {count}");
        }
    }
}
