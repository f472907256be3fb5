//! A state machine whose state depends on the places of its operations in the log.

use std::io;

use corecast_replica::{Index, StateMachine};

/// The places of all operations, in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Places(pub(crate) Vec<Index>);

impl StateMachine for Places {
    type Op = ();
    type Out = u64;
    type Query = ();
    type Answer = Vec<Index>;

    fn apply(&mut self, at: Index, (): &()) -> u64 {
        self.0.push(at);
        at
    }

    fn query(&self, (): &()) -> Vec<Index> {
        self.0.clone()
    }

    fn digest(&self) -> u128 {
        self.0.iter().fold(0, |digest, at| digest * 31 + u128::from(*at) + 1)
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.0.iter().try_for_each(|at| to.write_all(&at.to_le_bytes()))
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let words = bytes.chunks_exact(8);
        Ok(Self(words.map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect()))
    }
}
