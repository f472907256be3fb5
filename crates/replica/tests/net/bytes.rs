//! A state machine that adds up all bytes of its operations.

use std::io;

use corecast_replica::{Index, StateMachine};

#[derive(Debug, Default)]
pub(crate) struct Bytes {
    sum: u64,
}

impl StateMachine for Bytes {
    type Op = Vec<u8>;
    type Out = u64;
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, op: &Vec<u8>) -> u64 {
        self.sum += op.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        self.sum
    }

    fn query(&self, (): &()) -> u64 {
        self.sum
    }

    fn digest(&self) -> u128 {
        self.sum.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        to.write_all(&self.sum.to_le_bytes())
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        Ok(Self { sum: u64::from_le_bytes(word) })
    }
}
