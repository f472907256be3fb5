//! Questions to a [`Store`](super::Store), their answers, and both as bytes.

use super::bytes::{Parts, put_key, put_keys, put_value};
use super::key::Key;
use super::value::Value;
use crate::Wire;

/// The largest number of keys of one operation or question.
pub const MAX_KEYS: usize = 65_536;

/// A question. All of it is answered from one state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Query {
    /// The value of a key: [`Answer::Value`].
    Get(Key),
    /// The values of keys, at most [`MAX_KEYS`]: [`Answer::Values`], in the same order.
    MultiGet(Vec<Key>),
    /// How many of these keys, at most [`MAX_KEYS`], have a value, each counted as often as it is named: [`Answer::Count`].
    Exists(Vec<Key>),
    /// The length of a value in bytes, 0 if there is none: [`Answer::Count`].
    Length(Key),
    /// The number of keys: [`Answer::Count`].
    Size,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A value, if the key has one.
    Value(Option<Value>),
    /// The same for several keys.
    Values(Vec<Option<Value>>),
    /// A number of keys or bytes.
    Count(u64),
}

impl Wire for Query {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Get(key) => {
                to.push(0);
                put_key(to, key);
            }
            Self::MultiGet(keys) => {
                to.push(1);
                put_keys(to, keys);
            }
            Self::Exists(keys) => {
                to.push(2);
                put_keys(to, keys);
            }
            Self::Length(key) => {
                to.push(3);
                put_key(to, key);
            }
            Self::Size => to.push(4),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Parts(bytes);
        let query = match parts.u8()? {
            0 => Self::Get(parts.key()?),
            1 => Self::MultiGet(parts.keys()?),
            2 => Self::Exists(parts.keys()?),
            3 => Self::Length(parts.key()?),
            4 => Self::Size,
            _ => return None,
        };
        parts.end(query)
    }
}

impl Wire for Answer {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Value(None) => to.push(0),
            Self::Value(Some(value)) => {
                to.push(1);
                to.extend_from_slice(value);
            }
            Self::Values(values) => {
                to.push(2);
                for value in values {
                    to.push(u8::from(value.is_some()));
                    value.iter().for_each(|value| put_value(to, value));
                }
            }
            Self::Count(count) => {
                to.push(3);
                to.extend_from_slice(&count.to_le_bytes());
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Parts(bytes);
        let answer = match parts.u8()? {
            0 => Self::Value(None),
            1 => Self::Value(Some(parts.rest()?)),
            2 => Self::Values(values(&mut parts)?),
            3 => Self::Count(parts.u64()?),
            _ => return None,
        };
        parts.end(answer)
    }
}

/// All values that are left, at most [`MAX_KEYS`].
fn values(parts: &mut Parts<'_>) -> Option<Vec<Option<Value>>> {
    let mut values = Vec::new();
    while !parts.0.is_empty() {
        if values.len() == MAX_KEYS {
            return None;
        }
        values.push(match parts.u8()? {
            0 => None,
            1 => Some(parts.value()?),
            _ => return None,
        });
    }
    Some(values)
}
