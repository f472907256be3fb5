//! The state machine of these tests: a sum.

use std::io;

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_replica::{Index, StateMachine};

/// An operation at which every replica panics.
pub(crate) const PANIC: u64 = u64::MAX;
/// An operation at which replicas panic in processes that are [fragile](become_fragile).
pub(crate) const PANIC_IF_FRAGILE: u64 = u64::MAX - 1;

static IS_FRAGILE: AtomicBool = AtomicBool::new(false);

/// From now on replicas of this process panic at [`PANIC_IF_FRAGILE`].
pub(crate) fn become_fragile() {
    // ORDERING: Relaxed, set before there is a replica
    IS_FRAGILE.store(true, Ordering::Relaxed);
}

/// A sum.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sum(u64);

impl StateMachine for Sum {
    type Op = u64;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, op: &u64) -> u64 {
        assert_ne!(*op, PANIC, "planted");
        if *op == PANIC_IF_FRAGILE {
            // ORDERING: Relaxed, set before there is a replica
            assert!(!IS_FRAGILE.load(Ordering::Relaxed), "planted");
            return self.0;
        }
        self.0 += *op;
        self.0
    }

    fn query(&self, (): &()) -> u64 {
        self.0
    }

    fn digest(&self) -> u128 {
        self.0.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.0.to_le_bytes())
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        Ok(Self(u64::from_le_bytes(word)))
    }
}
