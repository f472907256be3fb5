//! Maps of one process that people use today: nothing is replicated, and nothing is left when the process is killed.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use super::super::host::{Client, Host, Setting, Value};
use super::super::load::MOST_KEYS;
use crate::table::Multiply;
use corecast_race::failure::Failure;

/// A map that threads share.
pub(in crate::replica) trait Shared: Sync + Sized + 'static {
    fn empty() -> Self;
    fn get(&self, key: u64) -> Option<Value>;
    fn set(&self, key: u64, value: Value);
}

/// A map as a store.
struct Map<M>(M);

struct MapClient<'a, M>(&'a M);

/// Makes a store of it.
pub(in crate::replica) fn open<M: Shared>(_setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    Ok(Box::new(Map(M::empty())))
}

impl<M: Shared> Host for Map<M> {
    fn client(&self, _rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        Ok(Box::new(MapClient(&self.0)))
    }
}

impl<M: Shared> Client for MapClient<'_, M> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        Ok(self.0.get(key))
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        self.0.set(key, value);
        Ok(())
    }
}

pub(in crate::replica) type Dashmap = dashmap::DashMap<u64, Value, Multiply>;
pub(in crate::replica) type Papaya = papaya::HashMap<u64, Value, Multiply>;
/// The standard library's map behind its reader-writer lock.
pub(in crate::replica) type Std = RwLock<HashMap<u64, Value, Multiply>>;

impl Shared for Dashmap {
    fn empty() -> Self {
        Self::with_capacity_and_hasher(MOST_KEYS, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Value> {
        self.get(&key).map(|value| *value)
    }

    #[inline]
    fn set(&self, key: u64, value: Value) {
        self.insert(key, value);
    }
}

impl Shared for Papaya {
    fn empty() -> Self {
        Self::with_capacity_and_hasher(MOST_KEYS, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Value> {
        self.pin().get(&key).copied()
    }

    #[inline]
    fn set(&self, key: u64, value: Value) {
        self.pin().insert(key, value);
    }
}

impl Shared for Std {
    fn empty() -> Self {
        Self::new(HashMap::with_capacity_and_hasher(MOST_KEYS, Multiply::default()))
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Value> {
        self.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }

    #[inline]
    fn set(&self, key: u64, value: Value) {
        self.write().unwrap_or_else(PoisonError::into_inner).insert(key, value);
    }
}
