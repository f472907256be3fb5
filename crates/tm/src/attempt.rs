//! One participant's attempts: begin, locks, the commit and the end, as plain words without types.
//!
//! ```text
//! begin:   epoch + 1, RUNNING
//! read:    what the attempt wrote itself; else a read lock, the value, and a look at the status AFTER the value was copied
//! commit:  the write locks; RUNNING -> PERSISTING, or aborted; the values; COMMITTED; all locks given back
//! abort:   all locks given back, allocations undone
//! ```
//!
//! The look after the copy makes it opaque: whoever takes a read lock away aborts its owner first and stores later, so an owner
//! that sees the new value sees its own abort.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{spin_hint, yield_now};
use corecast_base::wait::Spinner;

use crate::access::{Access, Came};
use crate::config::{Values, Writes};
use crate::contention::Contention;
use crate::crash_point;
use crate::error::RunError;
use crate::region::Memory;
use crate::rule::{Reply, Request};
use crate::spare::Spare;
use crate::status::{ClientId, Status, Why};
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
struct Write {
    value: u64,
    lock: u32,
}

/// Values of elastic reads that are still looked at.
const WINDOW: usize = 2;

/// What a participant has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Transactions that committed.
    pub commits: u64,
    /// Attempts that were aborted, by the conflict.
    pub raw: u64,
    /// Aborted as another one read what this one wrote.
    pub war: u64,
    /// Aborted as two wrote.
    pub waw: u64,
    /// Requests that were told to ask again.
    pub retries: u64,
    /// Locks that were asked for, a batch counting as one: the blocking round trips of the form of messages.
    pub requests: u64,
}

impl Counts {
    /// Attempts that were aborted.
    #[must_use]
    pub fn aborts(&self) -> u64 {
        self.raw + self.war + self.waw
    }
}

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
    needs_clock: bool,
    epoch: u64,
    /// When dead participants may be looked for again, in ticks.
    next_look: u64,
    locks: VarMap<Mode>,
    writes: VarMap<Write>,
    /// Values that came with locks, where they are with the servers.
    came: VarMap<u64>,
    window: [Option<(u32, u64)>; WINDOW],
    /// Locks to be asked for, and writes to be sent, kept for their memory.
    wanted: Vec<u32>,
    outgoing: Vec<(u32, u64, u32)>,
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
    fn status(&self) -> Status<'_> {
        self.memory.status(self.me)
    }

    #[inline]
    fn are_values_here(&self) -> bool {
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
    fn request(&self) -> Request {
        let key = match self.access {
            Access::Messages(_) if self.needs_clock => self.contention.key(self.now_ns()),
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
    fn check_status(&mut self) -> Result<(), Failed> {
        if self.status().is_running(self.epoch) { Ok(()) } else { Err(self.aborted()) }
    }

    #[cold]
    fn aborted(&mut self) -> Failed {
        let why = match self.status().read().1 {
            crate::status::State::Aborted(why) => why,
            _ => Why::Raw,
        };
        self.fail(Failure::Conflict(why))
    }

    /// The value of one word of a variable that was checked.
    #[inline]
    pub(crate) fn read(&mut self, lock: u32, word: u32, words: usize) -> Result<u64, Failed> {
        if let Some(write) = self.writes.get(word) {
            let value = write.value;
            self.check()?;
            return Ok(value);
        }
        match self.locks.get(lock) {
            Some(Mode::Read | Mode::ReadWrite | Mode::Write) => self.check()?,
            _ => self.lock(lock, words, false)?,
        }
        self.copy(word)
    }

    /// A value whose lock the attempt has.
    #[inline]
    fn copy(&mut self, word: u32) -> Result<u64, Failed> {
        let value = if self.are_values_here() {
            self.memory.load(word)
        } else {
            match self.came.get(word) {
                Some(value) => *value,
                // The lock was taken by way of another handle.
                None => self.peek(word)?,
            }
        };
        self.check_status()?;
        Ok(value)
    }

    /// Makes sure that the attempt has the write lock of a variable.
    #[inline]
    pub(crate) fn claim(&mut self, lock: u32, words: usize) -> Result<(), Failed> {
        match self.locks.get(lock) {
            Some(Mode::Write | Mode::ReadWrite) => self.check(),
            _ => self.lock(lock, words, true),
        }
    }

    /// Asks for a lock until the answer is final.
    fn lock(&mut self, lock: u32, words: usize, is_write: bool) -> Result<(), Failed> {
        let mut came = Came::default();
        let mut spinner = Spinner::new();
        loop {
            self.check()?;
            let by = self.request();
            self.counts.requests += 1;
            let reply = if is_write {
                self.access.store(by, lock, words, &mut came)
            } else {
                self.access.load(by, lock, words, &mut came)
            };
            if self.is_granted(reply, &mut spinner)? {
                break;
            }
        }
        crash_point::here("locked");
        self.note(lock, is_write);
        if !self.are_values_here() {
            (lock..).zip(came).take(words).for_each(|(word, value)| self.came.insert(word, value));
        }
        Ok(())
    }

    /// True if a request was granted, false if it has to be repeated.
    #[inline]
    fn is_granted(&mut self, reply: Result<Reply, RunError>, spinner: &mut Spinner) -> Result<bool, Failed> {
        match reply {
            Ok(Reply::Granted) => Ok(true),
            Ok(Reply::Retry) => self.pause(spinner).map(|()| false),
            Ok(Reply::Refused(why)) => Err(self.fail(Failure::Conflict(why))),
            Err(error) => Err(self.fail(Failure::Fatal(error))),
        }
    }

    /// Waits a moment for one that persists, which may have been killed.
    #[cold]
    fn pause(&mut self, spinner: &mut Spinner) -> Result<(), Failed> {
        self.counts.retries += 1;
        if spinner.is_spent() {
            self.look_for_dead();
        }
        spinner.pause();
        self.memory.check_usable().map_err(|error| self.fail(Failure::Fatal(error)))
    }

    #[inline]
    fn note(&mut self, lock: u32, is_write: bool) {
        let mode = match (self.locks.get(lock), is_write) {
            (Some(Mode::Read | Mode::ReadWrite), true) | (Some(Mode::Write | Mode::ReadWrite), false) => {
                Mode::ReadWrite
            }
            (_, true) => Mode::Write,
            (_, false) => Mode::Read,
        };
        self.locks.insert(lock, mode);
    }

    /// Buffers a value.
    #[inline]
    pub(crate) fn write(&mut self, lock: u32, word: u32, value: u64, words: usize) -> Result<(), Failed> {
        if self.memory.config.writes == Writes::Eager {
            self.claim(lock, words)?;
        } else {
            self.check()?;
        }
        self.writes.insert(word, Write { value, lock });
        Ok(())
    }

    /// Gives a read lock back before the end, unless the variable is written.
    pub(crate) fn release(&mut self, lock: u32) -> Result<(), Failed> {
        self.check()?;
        // A block that is written has its first word among the writes.
        if self.locks.get(lock) != Some(&Mode::Read) || self.writes.get(lock).is_some() {
            return Ok(());
        }
        self.locks.insert(lock, Mode::Released);
        let released = match &mut self.access {
            Access::Messages(client) => client.release(self.epoch, lock),
            Access::Shared(client) => {
                client.release(lock, false);
                Ok(())
            }
        };
        released.map_err(|error| self.fail(Failure::Fatal(error)))
    }

    /// A value without a lock; the last ones that were read so must not have changed since.
    pub(crate) fn read_unlocked(&mut self, word: u32) -> Result<u64, Failed> {
        if let Some(write) = self.writes.get(word) {
            return Ok(write.value);
        }
        let value = self.peek(word)?;
        self.validate()?;
        self.window.rotate_left(1);
        self.window[WINDOW - 1] = Some((word, value));
        Ok(value)
    }

    /// Fails if a value of the window has changed.
    pub(crate) fn validate(&mut self) -> Result<(), Failed> {
        for (word, value) in self.window.into_iter().flatten() {
            if self.peek(word)? != value {
                return Err(self.fail(Failure::Conflict(Why::Raw)));
            }
        }
        self.check()
    }

    fn peek(&mut self, word: u32) -> Result<u64, Failed> {
        match &mut self.access {
            Access::Messages(client) if self.memory.config.values == Values::AtServers => {
                client.peek(self.epoch, word).map_err(|error| self.fail(Failure::Fatal(error)))
            }
            _ => Ok(self.memory.load(word)),
        }
    }

    /// Ends an attempt whose closure is content. True if it committed.
    pub(crate) fn commit(&mut self) -> Result<(), Failed> {
        self.check()?;
        if self.writes.is_empty() {
            return if self.status().try_commit_reads(self.epoch) { Ok(()) } else { Err(self.aborted()) };
        }
        self.claim_all()?;
        self.log();
        if !self.status().try_persist(self.epoch) {
            return Err(self.aborted());
        }
        crash_point::here("persisting");
        self.store_all()?;
        crash_point::here("stored");
        self.status().commit(self.epoch);
        crash_point::here("committed");
        Ok(())
    }

    /// The write locks of all variables that were only buffered.
    #[inline]
    fn claim_all(&mut self) -> Result<(), Failed> {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        for (_, Write { lock, .. }) in self.writes.entries() {
            if !matches!(self.locks.get(*lock), Some(Mode::Write | Mode::ReadWrite)) && wanted.last() != Some(lock) {
                wanted.push(*lock);
            }
        }
        let claimed = if wanted.is_empty() { Ok(()) } else { self.claim_groups(&mut wanted) };
        self.wanted = wanted;
        claimed
    }

    fn claim_groups(&mut self, wanted: &mut [u32]) -> Result<(), Failed> {
        self.access.group(wanted);
        let mut rest = &*wanted;
        while !rest.is_empty() {
            let (group, later) = rest.split_at(self.access.group_len(rest, self.memory.config.is_batched));
            let mut spinner = Spinner::new();
            loop {
                self.check()?;
                let by = self.request();
                self.counts.requests += 1;
                let reply = self.access.store_group(by, group);
                if self.is_granted(reply, &mut spinner)? {
                    break;
                }
            }
            crash_point::here("claimed");
            group.iter().for_each(|&lock| self.note(lock, true));
            rest = later;
        }
        Ok(())
    }

    /// Writes down what is about to be stored, where this process may be killed in between.
    #[inline]
    fn log(&mut self) {
        if self.memory.is_among_processes() {
            let writes = self.writes.entries().iter().map(|&(word, Write { value, .. })| (word, value));
            self.memory.write_log(self.me, self.epoch, writes);
            crash_point::here("logged");
        }
    }

    #[inline]
    fn store_all(&mut self) -> Result<(), Failed> {
        if !self.are_values_here() {
            return self.send_all();
        }
        for &(word, Write { value, .. }) in self.writes.entries() {
            self.memory.store(word, value);
            crash_point::here("storing");
        }
        Ok(())
    }

    /// Sends the values to their servers. If one of those has died, the instance is poisoned.
    fn send_all(&mut self) -> Result<(), Failed> {
        self.outgoing.clear();
        let writes = self.writes.entries().iter().map(|&(word, Write { value, lock })| (word, value, lock));
        self.outgoing.extend(writes);
        let Access::Messages(client) = &mut self.access else { unreachable!("values at servers need messages") };
        let sent = client.put_all(self.epoch, &mut self.outgoing);
        sent.map_err(|error| self.fail(Failure::Fatal(error)))
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
            Access::Messages(client) => client.release_all(self.epoch),
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
    fn look_for_dead(&mut self) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now >= self.next_look {
            self.next_look = now + clock.ticks_in(LOOK_EVERY);
            self.memory.settle_dead();
        }
    }
}

/// The shortest time between two looks for dead participants, each of which costs a system call for every participant.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Attempts in vain between two looks around.
const YIELD_EVERY: u32 = 8;
