//! Operations that change a [`Store`](super::Store), their results, and both as bytes.
//!
//! An operation is a byte for its kind, its numbers in little-endian order, its keys with their lengths before them, and last,
//! up to the end, a value: setting 8 bytes to 16 takes 27, which fit the line of the log.

use super::bytes::{Parts, put_key, put_keys, put_value};
use super::key::Key;
use super::value::Value;
use crate::Wire;

/// When a value is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// In any case.
    Always,
    /// If the key has no value yet.
    Absent,
    /// If the key has a value.
    Present,
}

/// A change of the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Op {
    /// Gives the key a value: [`Out::Done`], or [`Out::Refused`] where the condition does not hold.
    Set {
        /// The key.
        key: Key,
        /// Its new value.
        value: Value,
        /// When.
        condition: Condition,
    },
    /// Gives the key another value if it has exactly this one: [`Out::Done`], or [`Out::Refused`].
    CompareAndSet {
        /// The key.
        key: Key,
        /// The value that it must have.
        old: Value,
        /// Its new value.
        new: Value,
    },
    /// Removes keys: [`Out::Count`], the number of those that had a value. At most [`MAX_KEYS`](super::MAX_KEYS).
    Delete {
        /// The keys.
        keys: Vec<Key>,
    },
    /// Adds to a decimal integer, 0 if there is none: [`Out::Integer`], the sum, or [`Out::NotAnInteger`], or
    /// [`Out::Overflow`].
    Increment {
        /// The key.
        key: Key,
        /// The number to add.
        by: i64,
    },
    /// Puts bytes behind the value, an empty one if there is none: [`Out::Count`], its length in bytes now, or
    /// [`Out::TooLong`].
    Append {
        /// The key.
        key: Key,
        /// The bytes.
        bytes: Value,
    },
}

/// The result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Out {
    /// It is done.
    Done,
    /// The condition did not hold; nothing has changed.
    Refused,
    /// A number of keys or bytes.
    Count(u64),
    /// The new value of an integer.
    Integer(i64),
    /// The value is no integer of 64 bits; it stays.
    NotAnInteger,
    /// The sum is no integer of 64 bits; the value stays.
    Overflow,
    /// The value would be longer than values may be; it stays.
    TooLong,
}

const SET: u8 = 0;
const SET_ABSENT: u8 = 1;
const SET_PRESENT: u8 = 2;
const COMPARE_AND_SET: u8 = 3;
const DELETE: u8 = 4;
const INCREMENT: u8 = 5;
const APPEND: u8 = 6;

impl Wire for Op {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Set { key, value, condition } => {
                to.push(kind_of(*condition));
                put_key(to, key);
                to.extend_from_slice(value);
            }
            Self::CompareAndSet { key, old, new } => {
                to.push(COMPARE_AND_SET);
                put_key(to, key);
                put_value(to, old);
                to.extend_from_slice(new);
            }
            Self::Delete { keys } => {
                to.push(DELETE);
                put_keys(to, keys);
            }
            Self::Increment { key, by } => {
                to.push(INCREMENT);
                to.extend_from_slice(&by.to_le_bytes());
                put_key(to, key);
            }
            Self::Append { key, bytes } => {
                to.push(APPEND);
                put_key(to, key);
                to.extend_from_slice(bytes);
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Parts(bytes);
        let op = match parts.u8()? {
            SET => set(&mut parts, Condition::Always)?,
            SET_ABSENT => set(&mut parts, Condition::Absent)?,
            SET_PRESENT => set(&mut parts, Condition::Present)?,
            COMPARE_AND_SET => Self::CompareAndSet { key: parts.key()?, old: parts.value()?, new: parts.rest()? },
            DELETE => Self::Delete { keys: parts.keys()? },
            INCREMENT => {
                let by = parts.i64()?;
                Self::Increment { key: parts.key()?, by }
            }
            APPEND => Self::Append { key: parts.key()?, bytes: parts.rest()? },
            _ => return None,
        };
        parts.end(op)
    }
}

fn kind_of(condition: Condition) -> u8 {
    match condition {
        Condition::Always => SET,
        Condition::Absent => SET_ABSENT,
        Condition::Present => SET_PRESENT,
    }
}

fn set(parts: &mut Parts<'_>, condition: Condition) -> Option<Op> {
    Some(Op::Set { key: parts.key()?, value: parts.rest()?, condition })
}

impl Wire for Out {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Done => to.push(0),
            Self::Refused => to.push(1),
            Self::Count(count) => {
                to.push(2);
                to.extend_from_slice(&count.to_le_bytes());
            }
            Self::Integer(number) => {
                to.push(3);
                to.extend_from_slice(&number.to_le_bytes());
            }
            Self::NotAnInteger => to.push(4),
            Self::Overflow => to.push(5),
            Self::TooLong => to.push(6),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Parts(bytes);
        let out = match parts.u8()? {
            0 => Self::Done,
            1 => Self::Refused,
            2 => Self::Count(parts.u64()?),
            3 => Self::Integer(parts.i64()?),
            4 => Self::NotAnInteger,
            5 => Self::Overflow,
            6 => Self::TooLong,
            _ => return None,
        };
        parts.end(out)
    }
}
