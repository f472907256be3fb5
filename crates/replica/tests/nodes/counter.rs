//! The state machine of these tests: a sum, and all that was ever added.

use std::io;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_replica::{Index, StateMachine};

/// An operation that makes the state machine panic.
pub(crate) const PANIC: u64 = u64::MAX;
/// An operation that adds something else in each replica.
pub(crate) const STRAY: u64 = u64::MAX - 1;

static STRAYED: AtomicU64 = AtomicU64::new(1);

/// A sum.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) sum: u64,
    pub(crate) count: u64,
}

impl StateMachine for Counter {
    type Op = u64;
    type Out = u64;
    type Query = ();
    type Answer = (u64, u64);

    fn apply(&mut self, _at: Index, op: &u64) -> u64 {
        assert_ne!(*op, PANIC, "asked to");
        // ORDERING: Relaxed, each replica gets a number of its own
        let more = if *op == STRAY { STRAYED.fetch_add(1, Ordering::Relaxed) } else { *op };
        self.sum = self.sum.wrapping_add(more);
        self.count += 1;
        self.sum
    }

    fn query(&self, (): &()) -> (u64, u64) {
        (self.sum, self.count)
    }

    fn digest(&self) -> u128 {
        u128::from(self.sum) << 64 | u128::from(self.count)
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.sum.to_le_bytes())?;
        to.write_all(&self.count.to_le_bytes())
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut words = [[0; 8]; 2];
        for word in &mut words {
            from.read_exact(word)?;
        }
        Ok(Self { sum: u64::from_le_bytes(words[0]), count: u64::from_le_bytes(words[1]) })
    }
}
