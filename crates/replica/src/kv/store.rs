//! [`Store`]: when to take it, how it works, and its code.

use std::collections::HashMap;
use std::io;

use super::fingerprint;
use super::key::Key;
use super::map_hasher::Seed;
use super::operation::{Condition, Op, Out};
use super::query::{Answer, Query};
use super::snapshot;
use super::value::Value;
use crate::{Index, StateMachine};

/// Keys of 1 to 1,024 bytes with values of up to 16 MiB: get, set, set if absent or present, compare-and-set, delete,
/// increment, append, and several keys read from one state.
///
/// Take it where keys and values have lengths of their own. [`Compact`](super::Compact) is for keys of 8 bytes and values of
/// 16, which it reads in a fraction of the time.
///
/// **How it works.** A hash map, whose values are shared with the answers that show them. The digest is the sum of a
/// 128-bit fingerprint for each entry, moved by every change, so asking for it costs nothing however large the store is. The
/// order of entries in memory and in a snapshot differs from replica to replica; the digest does not depend on it.
///
/// ```
/// use corecast_replica::StateMachine;
/// use corecast_replica::kv::{Answer, Condition, Key, Op, Out, Query, Store, Value};
///
/// let mut store = Store::default();
/// let (key, value) = (Key::try_from("greeting")?, Value::try_from("hello")?);
/// let set = Op::Set { key: key.clone(), value: value.clone(), condition: Condition::Absent };
/// assert_eq!((store.apply(0, &set), store.apply(1, &set)), (Out::Done, Out::Refused));
/// assert_eq!(store.query(&Query::Get(key)), Answer::Value(Some(value)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Store {
    entries: HashMap<Key, Entry, Seed>,
    /// The sum of the fingerprints of all entries.
    digest: u128,
}

/// A value, and the fingerprint of the key with it.
#[derive(Debug)]
struct Entry {
    value: Value,
    fingerprint: u128,
}

impl StateMachine for Store {
    type Op = Op;
    type Out = Out;
    type Query = Query;
    type Answer = Answer;

    fn apply(&mut self, _at: Index, op: &Op) -> Out {
        match op {
            Op::Set { key, value, condition } => self.set_if(key, value, *condition),
            Op::CompareAndSet { key, old, new } => {
                let is_old = self.get(key).is_some_and(|value| value == old);
                if is_old { self.set(key, new.clone(), Out::Done) } else { Out::Refused }
            }
            Op::Delete { keys } => Out::Count(keys.iter().filter(|key| self.delete(key)).count() as u64),
            Op::Increment { key, by } => self.increment(key, *by),
            Op::Append { key, bytes } => self.append(key, bytes),
        }
    }

    fn query(&self, query: &Query) -> Answer {
        match query {
            Query::Get(key) => Answer::Value(self.get(key).cloned()),
            Query::MultiGet(keys) => Answer::Values(keys.iter().map(|key| self.get(key).cloned()).collect()),
            Query::Exists(keys) => Answer::Count(keys.iter().filter(|key| self.get(key).is_some()).count() as u64),
            Query::Length(key) => Answer::Count(self.get(key).map_or(0, |value| value.len() as u64)),
            Query::Size => Answer::Count(self.len() as u64),
        }
    }

    fn digest(&self) -> u128 {
        self.digest
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        snapshot::write(self.iter(), self.digest, to)
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut store = Self::default();
        let digest = snapshot::read(from, |key, value| {
            let is_new = store.get(&key).is_none();
            store.set(&key, value, is_new)
        })?;
        if digest == store.digest { Ok(store) } else { Err(snapshot::damaged("its digest is that of another state")) }
    }
}

impl Store {
    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All keys with their values, in no particular order, which differs from replica to replica.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    #[inline]
    fn get(&self, key: &Key) -> Option<&Value> {
        self.entries.get(key.as_bytes()).map(|entry| &entry.value)
    }

    fn set_if(&mut self, key: &Key, value: &Value, condition: Condition) -> Out {
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => self.get(key).is_none(),
            Condition::Present => self.get(key).is_some(),
        };
        if holds { self.set(key, value.clone(), Out::Done) } else { Out::Refused }
    }

    /// Sets it, and returns `out`.
    fn set<O>(&mut self, key: &Key, value: Value, out: O) -> O {
        let fingerprint = fingerprint::of_entry(key.as_bytes(), &value);
        self.digest = self.digest.wrapping_add(fingerprint);
        let entry = Entry { value, fingerprint };
        let old = match self.entries.get_mut(key.as_bytes()) {
            Some(present) => Some(std::mem::replace(present, entry)),
            None => self.entries.insert(key.clone(), entry),
        };
        self.forget(old);
        out
    }

    /// True if it had a value.
    fn delete(&mut self, key: &Key) -> bool {
        let old = self.entries.remove(key.as_bytes());
        self.forget(old)
    }

    /// Takes an entry out of the digest; true if there was one.
    fn forget(&mut self, old: Option<Entry>) -> bool {
        self.digest = self.digest.wrapping_sub(old.as_ref().map_or(0, |entry| entry.fingerprint));
        old.is_some()
    }

    fn increment(&mut self, key: &Key, by: i64) -> Out {
        let Some(number) = self.get(key).map_or(Some(0), Value::to_integer) else { return Out::NotAnInteger };
        let Some(sum) = number.checked_add(by) else { return Out::Overflow };
        self.set(key, Value::of_integer(sum), Out::Integer(sum))
    }

    fn append(&mut self, key: &Key, bytes: &Value) -> Out {
        let joined = match self.get(key) {
            Some(value) => value.joined(bytes),
            None => Some(bytes.clone()),
        };
        let Some(value) = joined else { return Out::TooLong };
        let len = value.len() as u64;
        self.set(key, value, Out::Count(len))
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
