//! A machine that remembers the order of its operations.

use std::io::{self, Read, Write};

/// Numbers, each of which is mixed with all operations before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Toy(pub(crate) Vec<u64>);

impl Toy {
    pub(crate) fn apply(&mut self, op: &[u8]) {
        let last = self.0.last().copied().unwrap_or(1);
        let mixed = op.iter().fold(last, |sum, byte| sum.rotate_left(9) ^ u64::from(*byte).wrapping_mul(0x9e37_79b9));
        if op.len() % 5 == 4 {
            self.0.clear();
        }
        self.0.push(mixed);
    }

    pub(crate) fn digest(&self) -> u128 {
        self.0.iter().fold(3, |sum, number| sum.wrapping_mul(0x1_0000_0000_0000_0001) ^ u128::from(*number))
    }

    pub(crate) fn save(&self, to: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|number| to.write_all(&number.to_le_bytes()))
    }

    pub(crate) fn load(from: &mut dyn Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        Ok(Self(bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().expect("eight"))).collect()))
    }
}

/// The `index`-th operation of a run.
pub(crate) fn op(index: u64) -> Vec<u8> {
    let len = (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 50;
    (0..len).map(|at| (index * 31 + at) as u8).collect()
}
