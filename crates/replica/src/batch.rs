//! Several operations as one command: [`Batch`], and [`Batched`], the state machine that takes them.
//!
//! Take it where a client often has several short operations at hand, as the server of a pipelined protocol has. Ordering a
//! command costs each replica several times what a short operation does: a slot of the log, a look at the session, a reply that
//! is kept. A batch pays it once. Do without it where operations come one by one: a batch of one is a byte longer.
//!
//! A batch has one place in the log: it is applied as a whole or not at all, its operations see the same index, and no reader
//! sees a part of it. A retry retries all of it.
//!
//! ```
//! use corecast_replica::kv::{Condition, Key, Op, Out, Store, Value};
//! use corecast_replica::{Batch, Batched, StateMachine};
//!
//! let (key, value) = (Key::try_from("n")?, Value::try_from("41")?);
//! let set = Op::Set { key: key.clone(), value, condition: Condition::Always };
//! let batch = Batch::from_iter([set, Op::Increment { key, by: 1 }]);
//! let mut store = Batched::new(Store::default());
//! assert!(store.apply(0, &batch).iter().eq([Out::Done, Out::Integer(42)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io;
use std::marker::PhantomData;

use crate::{Index, StateMachine, Wire};

/// A length from this one on is this byte and four more.
const LONG: usize = 255;
/// The memory that an emptied batch keeps.
const KEPT_BYTES: usize = 64 << 10;

/// Operations that are applied together, in their order; or their results.
///
/// They are kept as bytes, and made one by one as they are needed: each value is its length and its bytes. A length is one byte,
/// or from 255 on the byte 255 and a number of 32 bits.
pub struct Batch<T> {
    bytes: Vec<u8>,
    len: usize,
    values: PhantomData<fn() -> T>,
}

impl<T> Batch<T> {
    /// No operations.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), len: 0, values: PhantomData }
    }

    /// Their number.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes all out. Memory for up to 64 KiB is kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.len = 0;
    }
}

impl<T: Wire> Batch<T> {
    /// Adds one behind the others.
    ///
    /// # Panics
    /// If it has 4 GiB or more.
    #[inline]
    pub fn push(&mut self, value: &T) {
        let at = self.bytes.len();
        self.bytes.push(0);
        value.encode(&mut self.bytes);
        let len = self.bytes.len() - at - 1;
        if len < LONG {
            self.bytes[at] = len as u8;
        } else {
            self.put_long(at, len);
        }
        self.len += 1;
    }

    #[cold]
    fn put_long(&mut self, at: usize, len: usize) {
        self.bytes[at] = LONG as u8;
        let len = u32::try_from(len).expect("an operation has less than 4 GiB");
        self.bytes.splice(at + 1..at + 1, len.to_le_bytes());
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let decode = |bytes: &[u8]| T::decode(bytes).expect("a batch holds values that were encoded, or decoded once");
        Parts(&self.bytes).map(decode)
    }
}

/// The bytes of the values that are left.
struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (&short, rest) = self.0.split_first()?;
        let (len, rest) = if usize::from(short) < LONG {
            (usize::from(short), rest)
        } else {
            let (long, rest) = rest.split_first_chunk()?;
            (usize::try_from(u32::from_le_bytes(*long)).ok()?, rest)
        };
        let (value, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some(value)
    }
}

impl<T: Wire> Wire for Batch<T> {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.bytes);
    }

    /// Makes each value once: the bytes may be another process's, and no operation of a batch is applied if one of them is none.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (mut parts, mut len) = (Parts(bytes), 0);
        for value in parts.by_ref() {
            T::decode(value)?;
            len += 1;
        }
        parts.0.is_empty().then(|| Self { bytes: bytes.to_vec(), len, values: PhantomData })
    }
}

impl<T: Wire> FromIterator<T> for Batch<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut batch = Self::new();
        values.into_iter().for_each(|value| batch.push(&value));
        batch
    }
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} values in {} bytes)", self.len, self.bytes.len())
    }
}

/// A state machine whose commands are [batches](Batch) of the operations of another. Its questions, its digest and its
/// snapshots are those of the other.
#[derive(Debug, Default)]
pub struct Batched<S>(S);

impl<S> Batched<S> {
    /// Takes batches for this state machine.
    pub const fn new(machine: S) -> Self {
        Self(machine)
    }

    /// The state machine.
    pub const fn machine(&self) -> &S {
        &self.0
    }
}

impl<S: StateMachine> StateMachine for Batched<S> {
    type Op = Batch<S::Op>;
    type Out = Batch<S::Out>;
    type Query = S::Query;
    type Answer = S::Answer;

    fn apply(&mut self, at: Index, op: &Batch<S::Op>) -> Batch<S::Out> {
        op.iter().map(|op| self.0.apply(at, &op)).collect()
    }

    #[inline]
    fn query(&self, query: &S::Query) -> S::Answer {
        self.0.query(query)
    }

    fn digest(&self) -> u128 {
        self.0.digest()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        self.0.snapshot(to)
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        S::restore(from).map(Self)
    }

    fn restore_anew(&self, from: &mut dyn io::Read) -> io::Result<Self> {
        self.0.restore_anew(from).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(lens: &[usize]) -> Vec<Vec<u8>> {
        lens.iter().map(|&len| (0..len).map(|at| at as u8).collect()).collect()
    }

    #[test]
    fn values_come_back() {
        for lens in [&[][..], &[0], &[3, 0, 254], &[255, 256], &[1, 70_000, 2]] {
            let batch = Batch::from_iter(values(lens));
            let mut bytes = vec![9];
            batch.encode(&mut bytes);
            let found = Batch::<Vec<u8>>::decode(&bytes[1..]).expect("a batch");
            assert_eq!((found.len(), found.is_empty()), (lens.len(), lens.is_empty()));
            assert!(found.iter().eq(values(lens)), "{lens:?}");
            let long = lens.iter().filter(|&&len| len >= LONG).count();
            assert_eq!(bytes.len(), 1 + lens.iter().sum::<usize>() + lens.len() + 4 * long);
        }
    }

    #[test]
    fn a_batch_is_used_again() {
        let mut batch = Batch::from_iter([1_u64, 2]);
        batch.clear();
        batch.push(&3);
        assert!(batch.iter().eq([3]) && batch.len() == 1);
    }

    #[test]
    fn values_that_are_none_are_refused() {
        let mut bytes = Vec::new();
        Batch::from_iter([1_u64, 2]).encode(&mut bytes);
        assert!(Batch::<u64>::decode(&bytes).is_some());
        bytes.extend([3, 0, 0, 0]);
        assert!(Batch::<Vec<u8>>::decode(&bytes).is_some(), "the lengths fit");
        assert!(Batch::<u64>::decode(&bytes).is_none(), "a number of three bytes");
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        for bytes in [&[2][..], &[1, 3, 2, 0], &[255], &[255, 255, 255, 255, 255], &[255, 2, 0, 0, 0, 7]] {
            assert!(Batch::<Vec<u8>>::decode(bytes).is_none(), "{bytes:?}");
        }
    }
}
