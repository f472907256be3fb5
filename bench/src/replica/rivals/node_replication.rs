//! The crate `node-replication`: replicas of threads that share a log in one process.
//!
//! A replica whose threads do nothing holds the log back for ever once it is full, so clients here call `sync` while they have
//! nothing else to do. [`until_it_stops`] shows what happens if one does not.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::sync::{AtomicU64, Ordering};
use node_replication::{Dispatch, Log, Replica, ReplicaToken};

use super::super::host::{Client, Host, Setting, Value};
use crate::table::Multiply;
use corecast_race::failure::Failure;

/// The size of the log in its own example, and in the comparison with an idle replica.
pub(in crate::replica) const LOG_BYTES: usize = 2 << 20;

#[derive(Default)]
struct Store(HashMap<u64, Value, Multiply>);

#[derive(Clone, Debug, PartialEq)]
struct Put(u64, Value);

impl Dispatch for Store {
    type ReadOperation = u64;
    type WriteOperation = Put;
    type Response = Option<Value>;

    fn dispatch(&self, key: u64) -> Option<Value> {
        self.0.get(&key).copied()
    }

    fn dispatch_mut(&mut self, Put(key, value): Put) -> Option<Value> {
        self.0.insert(key, value)
    }
}

struct Replicas(Vec<Arc<Replica<'static, Store>>>);

struct NodeClient<'a> {
    replica: &'a Replica<'static, Store>,
    token: ReplicaToken,
}

/// Makes a replica for each member that has a client: one without would hold the log back for ever.
pub(in crate::replica) fn open(setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    Ok(Box::new(Replicas(replicas(setting.members.min(setting.clients)))))
}

fn replicas(count: usize) -> Vec<Arc<Replica<'static, Store>>> {
    let log = Arc::new(Log::new(LOG_BYTES));
    (0..count).map(|_| Replica::new(&log)).collect()
}

impl Host for Replicas {
    fn client(&self, rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        let replica = &self.0[rank % self.0.len()];
        let token = replica.register().ok_or_else(|| Failure::Refused("a replica takes no more threads".to_owned()))?;
        Ok(Box::new(NodeClient { replica, token }))
    }
}

impl Client for NodeClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        Ok(self.replica.execute(key, self.token))
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        self.replica.execute_mut(Put(key, value), self.token);
        Ok(())
    }

    fn assist(&mut self) {
        self.replica.sync(self.token);
    }
}

/// Writes through the log while the second replica idles, until all is written or nothing more was for `patience`. Tells the
/// writes that were done. A writer that is stuck spins for ever: only the end of its process ends it.
pub(in crate::replica) fn until_it_stops(writes: u64, patience: Duration) -> u64 {
    let done = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&done);
    std::thread::spawn(move || {
        let replicas = replicas(2);
        let token = replicas[0].register().expect("it is the first thread");
        let _idle = replicas[1].register();
        for number in 0..writes {
            replicas[0].execute_mut(Put(number % 100, [0; 16]), token);
            // ORDERING: Relaxed, the count publishes nothing but itself
            counted.store(number + 1, Ordering::Relaxed);
        }
    });
    let mut before = 0;
    loop {
        std::thread::sleep(patience);
        // ORDERING: Relaxed, the count publishes nothing but itself
        let now = done.load(Ordering::Relaxed);
        if now == before || now == writes {
            return now;
        }
        before = now;
    }
}
