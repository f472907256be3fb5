//! An attempt, its begin and its end.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{spin_hint, yield_now};

use super::counts::Counts;
use crate::access::Access;
use crate::config::Values;
use crate::contention::Contention;
use crate::crash_point;
use crate::error::RunError;
use crate::region::Memory;
use crate::rule::Request;
use crate::spare::Spare;
use crate::status::{ClientId, State, Status, Why};
use crate::var_map::VarMap;

/// Why an attempt has no future.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is to be tried again.
    Conflict(Why),
    /// No attempt can succeed.
    Fatal(RunError),
}

/// The locks that an attempt has of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It gave its read lock back.
    Released,
    /// A read lock.
    Read,
    /// A write lock.
    Write,
    /// Both.
    ReadWrite,
}

/// A value to be stored, and the lock of its variable: that of a block is the one of its first word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    pub(super) value: u64,
    pub(super) lock: u32,
}

/// Values of elastic reads that are still looked at.
pub(super) const WINDOW: usize = 2;

/// Attempts in vain between two looks around.
const YIELD_EVERY: u32 = 8;
/// The shortest time between two looks for dead participants, each of which costs a system call for every participant.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) memory: Arc<Memory>,
    pub(crate) me: ClientId,
    pub(crate) access: Access,
    pub(crate) contention: Contention,
    pub(crate) counts: Counts,
    pub(crate) spare: Spare,
    pub(crate) failure: Option<Failure>,
    pub(super) needs_clock: bool,
    pub(super) epoch: u64,
    /// When dead participants may be looked for again, in ticks.
    pub(super) next_look: u64,
    pub(super) locks: VarMap<Mode>,
    pub(super) writes: VarMap<Write>,
    /// Values that came with locks, where they are with the servers.
    pub(super) came: VarMap<u64>,
    pub(super) window: [Option<(u32, u64)>; WINDOW],
    /// Locks to be asked for, and writes to be sent, kept for their memory.
    pub(super) wanted: Vec<u32>,
    pub(super) outgoing: Vec<(u32, u64, u32)>,
}

/// The attempt has failed, and says why.
#[derive(Debug)]
pub(crate) struct Failed;

impl Attempt {
    pub(crate) fn new(memory: Arc<Memory>, me: ClientId, access: Access) -> Self {
        let contention = Contention::new(memory.config.manager, me);
        let (epoch, _) = memory.status(me).read();
        Self {
            needs_clock: contention.needs_clock(),
            spare: Spare::new(Arc::clone(&memory)),
            memory,
            me,
            access,
            contention,
            counts: Counts::default(),
            failure: None,
            epoch,
            next_look: 0,
            locks: VarMap::new(),
            writes: VarMap::new(),
            came: VarMap::new(),
            window: [None; WINDOW],
            wanted: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// The time for managers that need it.
    #[inline]
    fn now_ns(&self) -> u64 {
        if !self.needs_clock {
            return 0;
        }
        let clock = Clock::get();
        clock.ns(clock.ticks()) as u64
    }

    #[inline]
    pub(super) fn status(&self) -> Status<'_> {
        self.memory.status(self.me)
    }

    #[inline]
    pub(super) fn are_values_here(&self) -> bool {
        self.memory.config.values == Values::InMemory
    }

    /// Begins the first attempt of a transaction, or a later one.
    #[inline]
    pub(crate) fn begin(&mut self, is_first: bool) -> Result<(), RunError> {
        self.memory.check_usable()?;
        self.epoch += 1;
        self.failure = None;
        self.contention.start(is_first, self.now_ns());
        if let Access::Shared(client) = &self.access {
            client.publish_key(self.contention.shared_key());
        }
        self.status().begin(self.epoch);
        crash_point::here("begun");
        Ok(())
    }

    #[inline]
    pub(super) fn request(&self) -> Request {
        let key = match self.access {
            // Only servers count back from their own clock.
            Access::Messages(_) if self.memory.config.manager.needs_clock_at_server() => {
                self.contention.key(self.now_ns())
            }
            Access::Messages(_) => self.contention.key(0),
            Access::Shared(_) => self.contention.shared_key(),
        };
        Request { client: self.me, epoch: self.epoch, key }
    }

    /// Notes the first failure.
    #[cold]
    pub(crate) fn fail(&mut self, failure: Failure) -> Failed {
        self.failure.get_or_insert(failure);
        Failed
    }

    /// Fails if the attempt has failed, also where the closure did not mind.
    #[inline]
    pub(crate) fn check(&mut self) -> Result<(), Failed> {
        if self.failure.is_some() { Err(Failed) } else { self.check_status() }
    }

    /// Fails if another one has aborted the attempt. To be called after a value was copied.
    #[inline]
    pub(super) fn check_status(&mut self) -> Result<(), Failed> {
        if self.status().is_running(self.epoch) { Ok(()) } else { Err(self.aborted()) }
    }

    #[cold]
    pub(super) fn aborted(&mut self) -> Failed {
        let why = match self.status().read().1 {
            State::Aborted(why) => why,
            _ => Why::Raw,
        };
        self.fail(Failure::Conflict(why))
    }

    /// Takes note of a commit, and gives all locks back.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.release_all();
        self.spare.keep();
        self.counts.commits += 1;
        let now = self.now_ns();
        self.contention.committed(now);
    }

    /// Ends an attempt that failed, or whose closure panicked.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        match &self.failure {
            Some(Failure::Conflict(Why::Raw)) => self.counts.raw += 1,
            Some(Failure::Conflict(Why::War)) => self.counts.war += 1,
            Some(Failure::Conflict(Why::Waw)) => self.counts.waw += 1,
            _ => {}
        }
        self.status().give_up(self.epoch);
        self.release_all();
        self.spare.undo();
    }

    #[inline]
    fn release_all(&mut self) {
        match &mut self.access {
            Access::Messages(client) => client.end(self.epoch, self.locks.entries().len()),
            Access::Shared(client) => {
                for &(lock, mode) in self.locks.entries() {
                    if mode != Mode::Released {
                        client.release(lock, mode != Mode::Read);
                    }
                }
                // A refused request has lost the locks of its variable only.
            }
        }
        self.locks.clear();
        self.writes.clear();
        self.came.clear();
        self.window = [None; WINDOW];
    }

    /// Waits between two attempts, as the manager says.
    #[cold]
    pub(crate) fn wait(&mut self, retries: u32) {
        let clock = Clock::get();
        let end = clock.ticks() + clock.ticks_in(Duration::from_nanos(self.contention.wait_ns(retries)));
        while clock.ticks() < end {
            spin_hint();
        }
        if retries % YIELD_EVERY == 0 {
            // The one that is in the way may wait for this CPU, or be dead.
            self.look_for_dead();
            yield_now();
        }
    }

    /// Looks whether one that may be in the way is dead, if that was not done of late.
    pub(super) fn look_for_dead(&mut self) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now >= self.next_look {
            self.next_look = now + clock.ticks_in(LOOK_EVERY);
            self.memory.settle_dead();
        }
    }
}
