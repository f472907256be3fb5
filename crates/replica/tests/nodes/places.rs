//! A state machine whose state depends on the places of its operations in the log.

use std::io;

use corecast_replica::{Index, StateMachine};

/// The places of all operations, in order.
#[derive(Debug, Default)]
pub(crate) struct Places {
    found: Vec<Index>,
    /// A place at which it panics.
    panics_at: Option<Index>,
}

impl Places {
    pub(crate) fn that_panic_at(place: Index) -> Self {
        Self { panics_at: Some(place), ..Self::default() }
    }
}

impl StateMachine for Places {
    type Op = ();
    type Out = u64;
    type Query = ();
    type Answer = Vec<Index>;

    fn apply(&mut self, at: Index, (): &()) -> u64 {
        assert_ne!(Some(at), self.panics_at, "asked to");
        self.found.push(at);
        at
    }

    fn query(&self, (): &()) -> Vec<Index> {
        self.found.clone()
    }

    fn digest(&self) -> u128 {
        self.found.iter().fold(0, |digest, at| digest * 31 + u128::from(*at) + 1)
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.found.iter().try_for_each(|at| to.write_all(&at.to_le_bytes()))
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        Self::default().restore_anew(from)
    }

    fn restore_anew(&self, from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let word = |bytes: &[u8]| Index::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(Self { found: bytes.chunks_exact(8).map(word).collect(), panics_at: self.panics_at })
    }
}
