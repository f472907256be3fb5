//! The CPUs that a thread may run on, as words that can lie in shared memory.

use super::host_limits::for_each_cpu_of_thread;

/// The CPUs that an affinity has bits for.
const CPUS: usize = 1024;
/// Words of an affinity.
pub(crate) const AFFINITY_WORDS: usize = CPUS / 64;

/// A bit for each CPU below 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affinity(pub(crate) [u64; AFFINITY_WORDS]);

impl Affinity {
    /// The affinity of this thread; empty where the system does not tell it.
    #[must_use]
    pub fn of_this_thread() -> Self {
        let mut words = [0; AFFINITY_WORDS];
        for_each_cpu_of_thread(|cpu| {
            if cpu < CPUS {
                words[cpu / 64] |= 1 << (cpu % 64);
            }
        });
        Self(words)
    }

    /// The number of CPUs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if all these CPUs are among `others`.
    #[must_use]
    pub fn is_within(&self, others: &Self) -> bool {
        self.0.iter().zip(&others.0).all(|(mine, theirs)| mine & !theirs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_two_cpus_is_within_both() {
        let of = |word| Affinity(std::array::from_fn(|at| if at == 3 { word } else { 0 }));
        assert!(of(0b01).is_within(&of(0b11)) && !of(0b11).is_within(&of(0b01)) && !of(0b01).is_within(&of(0b10)));
        assert_eq!((of(0b11).count(), Affinity::of_this_thread().count() > 0), (2, true));
    }
}
