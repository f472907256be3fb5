//! Numbers without a pattern that matters here.

/// A generator of the family xorshift, of G. Marsaglia (2003), with a state of 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// One that this seed tells from others.
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds in a row are far apart then, and none is 0.
        Self((seed.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below the limit, which is at least 1.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_whatever_the_seed() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut seen = [0_u32; 12];
            (0..12_000).for_each(|_| seen[random.below(12) as usize] += 1);
            assert!(seen.iter().all(|&seen| (850..1150).contains(&seen)), "{seed}: {seen:?}");
        }
    }
}
