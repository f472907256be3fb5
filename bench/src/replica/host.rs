//! The traits of every contender: a store, and a client of it for each thread or process that uses it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use corecast::base::CpuId;
use corecast::base::wait::Wait;
use serde::{Deserialize, Serialize};

use super::load::Load;
use super::play::{self, Tally};
use corecast_race::failure::Failure;

/// The 16 bytes that belong to a key of 8.
pub(super) type Value = [u8; 16];

/// The situation in which a store is used.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// Replicas, where there are some.
    pub(super) members: usize,
    /// Threads or processes that use the store. The first are at a replica of their own each; others share those.
    pub(super) clients: usize,
    /// The CPUs that clients are bound to, in turn.
    pub(super) cpus: Vec<CpuId>,
    /// How nodes wait.
    pub(super) wait: Wait,
}

/// How a process comes to a store that another one has made.
#[derive(Debug, Default)]
pub(super) struct Entrance {
    pub(super) fd: Option<OwnedFd>,
    pub(super) path: Option<PathBuf>,
}

/// The part of an entrance that is told in words.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Address {
    pub(super) path: Option<PathBuf>,
}

/// One thread's way to a store.
pub(super) trait Client {
    /// The value of a key: as fresh as any client has seen it, unless this client is one that reads stale values. Those that take
    /// nanoseconds are always inlined: through memory, their results cost the loop 10 ns more than some reads take.
    ///
    /// # Errors
    /// Why there is no answer.
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure>;

    /// Gives a key a value, and returns once every client can see it.
    ///
    /// # Errors
    /// Why it was not done.
    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure>;

    /// Waits until it can see all that any client has been told is done: a client that reads stale values has to.
    ///
    /// # Errors
    /// Why it cannot.
    fn catch_up(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes part in the work of others while this client has none.
    fn assist(&mut self) {}

    /// The loop of a block: the only one that is compiled for each client, as a call through a trait object for each operation
    /// would be timed with it.
    ///
    /// # Errors
    /// The first error of an operation.
    fn play(&mut self, load: &Load, rank: usize, clients: usize) -> Result<Tally, Failure> {
        play::play(self, load, rank, clients)
    }
}

/// A store that lives for as long as it is used.
pub(super) trait Host: Sync {
    /// The way of the client of this number. Called in the client's own thread.
    ///
    /// # Errors
    /// Why there is none.
    fn client(&self, rank: usize) -> Result<Box<dyn Client + '_>, Failure>;

    /// How another process comes to it.
    ///
    /// # Errors
    /// Why it cannot.
    fn entrance(&self) -> Result<Entrance, Failure> {
        Err(Failure::Refused("it is for the threads of one process".to_owned()))
    }
}

/// Makes a store.
pub(super) type Open = fn(&Setting) -> Result<Box<dyn Host>, Failure>;
/// Comes to a store of another process.
pub(super) type Join = fn(&Setting, Entrance) -> Result<Box<dyn Host>, Failure>;
