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
//! use corecast_replica::kv::{Answer, Condition, Key, Op, Out, Query, Store, Value};
//! use corecast_replica::{Batch, Batched, StateMachine};
//!
//! let (key, value) = (Key::try_from("n")?, Value::try_from("41")?);
//! let set = Op::Set { key: key.clone(), value, condition: Condition::Always };
//! let mut store = Batched::new(Store::default());
//! let outs = store.apply(0, &Batch::Many(vec![set, Op::Increment { key: key.clone(), by: 1 }]));
//! assert_eq!(outs, Batch::Many(vec![Out::Done, Out::Integer(42)]));
//! assert_eq!(store.query(&Query::Get(key)), Answer::Value(Some(Value::of_integer(42))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io;

use crate::{Index, StateMachine, Wire};

/// The first byte of one value, which goes to the end.
const ONE: u8 = 0;
/// The first byte of several values, each behind its length.
const MANY: u8 = 1;
/// A length from this one on is this byte and four more.
const LONG: usize = 255;

/// Room is made for one value for this many bytes that have come, up to a number of values.
const USUAL_BYTES: usize = 16;
const MOST_AT_ONCE: usize = 64;

/// Operations that are applied together, in their order; or their results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Batch<T> {
    /// One, which needs no memory of its own.
    One(T),
    /// Any number of them.
    Many(Vec<T>),
}

impl<T> Batch<T> {
    /// All of them, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// The bytes are `0` and those of one value, or `1` and for each value its length and its bytes. A length is one byte, or from 255
/// on the byte 255 and a number of 32 bits.
impl<T: Wire> Wire for Batch<T> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::One(one) => {
                to.push(ONE);
                one.encode(to);
            }
            Self::Many(many) => {
                to.push(MANY);
                many.iter().for_each(|value| encode_with_length(value, to));
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&ONE, one) => T::decode(one).map(Self::One),
            (&MANY, mut rest) => {
                let mut many = Vec::with_capacity((rest.len() / USUAL_BYTES).min(MOST_AT_ONCE));
                while !rest.is_empty() {
                    many.push(T::decode(take_with_length(&mut rest)?)?);
                }
                Some(Self::Many(many))
            }
            _ => None,
        }
    }
}

fn encode_with_length(value: &impl Wire, to: &mut Vec<u8>) {
    let at = to.len();
    to.push(0);
    value.encode(to);
    let len = to.len() - at - 1;
    if len < LONG {
        to[at] = len as u8;
    } else {
        to[at] = LONG as u8;
        let long = u32::try_from(len).expect("an operation is far shorter than 4 GiB");
        to.splice(at + 1..at + 1, long.to_le_bytes());
    }
}

fn take_with_length<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (&short, behind) = rest.split_first()?;
    let (len, behind) = if usize::from(short) < LONG {
        (usize::from(short), behind)
    } else {
        let (long, behind) = behind.split_first_chunk()?;
        (usize::try_from(u32::from_le_bytes(*long)).ok()?, behind)
    };
    let (value, behind) = behind.split_at_checked(len)?;
    *rest = behind;
    Some(value)
}

/// A state machine whose commands are [batches](Batch) of the operations of another. Its questions, its digest and its snapshots are
/// those of the other.
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
        match op {
            Batch::One(op) => Batch::One(self.0.apply(at, op)),
            Batch::Many(ops) => Batch::Many(ops.iter().map(|op| self.0.apply(at, op)).collect()),
        }
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

    fn bytes_of(batch: &Batch<Vec<u8>>) -> Vec<u8> {
        let mut bytes = vec![9];
        batch.encode(&mut bytes);
        bytes.split_off(1)
    }

    #[test]
    fn batches_come_back() {
        for lens in [&[][..], &[0], &[3, 0, 254], &[255, 256], &[1, 70_000, 2]] {
            let batch = Batch::Many(values(lens));
            assert_eq!(Batch::decode(&bytes_of(&batch)).as_ref(), Some(&batch), "{lens:?}");
        }
        for len in [0, 1, 254, 255, 70_000] {
            let batch = Batch::One(values(&[len]).remove(0));
            let bytes = bytes_of(&batch);
            assert_eq!((bytes.len(), Batch::decode(&bytes)), (len + 1, Some(batch)), "{len} bytes");
        }
    }

    #[test]
    fn other_bytes_are_none() {
        for bytes in [&[][..], &[2], &[1, 3, 0, 0], &[1, 255], &[1, 255, 255, 255, 255, 255], &[1, 255, 2, 0, 0, 0, 7]]
        {
            assert_eq!(Batch::<Vec<u8>>::decode(bytes), None, "{bytes:?}");
        }
        assert_eq!(Batch::<u64>::decode(&[1, 4, 0, 0, 0, 0]), None, "four bytes are no u64");
    }
}
