//! Reads and writes the parts of encoded operations and answers.
//!
//! A part that would reach beyond the end is none. Nothing is set aside for a length that was only announced.

use super::key::{Key, MAX_KEY_BYTES};
use super::query::MAX_KEYS;
use super::value::Value;

/// The bytes that were not read yet.
pub(super) struct Parts<'a>(pub(super) &'a [u8]);

impl<'a> Parts<'a> {
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn key(&mut self) -> Option<Key> {
        let len = usize::from(self.array().map(u16::from_le_bytes)?);
        Key::new(self.take(len)?).ok()
    }

    /// All keys that are left, at most [`MAX_KEYS`].
    pub(super) fn keys(&mut self) -> Option<Vec<Key>> {
        let mut keys = Vec::new();
        while !self.0.is_empty() {
            if keys.len() == MAX_KEYS {
                return None;
            }
            keys.push(self.key()?);
        }
        Some(keys)
    }

    /// A value with its length before it.
    pub(super) fn value(&mut self) -> Option<Value> {
        let len = usize::try_from(self.u32()?).ok()?;
        Value::new(self.take(len)?).ok()
    }

    /// A value of all bytes that are left.
    pub(super) fn rest(&mut self) -> Option<Value> {
        Value::new(std::mem::take(&mut self.0)).ok()
    }

    /// The result, if nothing is left.
    pub(super) fn end<T>(&self, result: T) -> Option<T> {
        self.0.is_empty().then_some(result)
    }
}

pub(super) fn put_key(to: &mut Vec<u8>, key: &Key) {
    const { assert!(MAX_KEY_BYTES <= u16::MAX as usize) };
    to.extend_from_slice(&(key.as_bytes().len() as u16).to_le_bytes());
    to.extend_from_slice(key.as_bytes());
}

pub(super) fn put_keys(to: &mut Vec<u8>, keys: &[Key]) {
    keys.iter().for_each(|key| put_key(to, key));
}

pub(super) fn put_value(to: &mut Vec<u8>, value: &Value) {
    to.extend_from_slice(&(value.len() as u32).to_le_bytes());
    to.extend_from_slice(value);
}
