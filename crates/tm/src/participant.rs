//! A participant that runs transactions.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use crate::access::{Access, Change};
use crate::attempt::{Attempt, Counts, Failed, Failure};
use crate::error::RunError;
use crate::messages::ServerCounts;
use crate::region::Memory;
use crate::status::ClientId;
use crate::tvar::TVar;
use crate::tx::{Abort, Tx};
use crate::value::Value;

/// A participant that runs transactions, for one thread. Dropped, it leaves the instance.
pub struct Participant {
    attempt: Attempt,
}

impl Participant {
    pub(crate) fn new(memory: Arc<Memory>, me: ClientId, access: Access) -> Self {
        Self { attempt: Attempt::new(memory, me, access) }
    }

    /// The number of this participant.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.attempt.me
    }

    /// Runs a transaction: calls `body` until an attempt commits, and returns what it returned then.
    ///
    /// Attempts that meet others are aborted and tried again, so all that `body` does besides its accesses may happen several
    /// times; do nothing there that cannot be repeated, such as sending on a channel. While it runs it may keep others from
    /// what it has read and written, and they may abort it: one that never returns, and makes no access, keeps what it has locked
    /// unless the manager lets others win. A panic of `body` ends the attempt and goes on to the caller; the participant can be
    /// used again.
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    ///
    /// # Panics
    /// Inside the closure of another run on the same thread: transactions do not nest. On the same participant it does not
    /// compile:
    ///
    /// ```compile_fail
    /// # fn nested(mut participant: corecast_tm::Participant, var: corecast_tm::TVar<u64>) {
    /// participant.run(|tx| {
    ///     participant.run(|tx| tx.read(var)); // it is borrowed already
    ///     tx.read(var)
    /// });
    /// # }
    /// ```
    #[inline]
    #[track_caller]
    pub fn run<R>(&mut self, mut body: impl FnMut(&mut Tx<'_>) -> Result<R, Abort>) -> Result<R, RunError> {
        self.repeat(|running| {
            let result = body(&mut Tx::new(running.attempt));
            running.end(result)
        })
    }

    /// Runs attempts until one of them commits.
    #[inline]
    #[track_caller]
    fn repeat<R>(&mut self, mut attempt: impl FnMut(Running<'_>) -> Result<R, Failure>) -> Result<R, RunError> {
        let _inside = Inside::enter();
        let mut retries = 0;
        loop {
            self.attempt.begin(retries == 0)?;
            match attempt(Running { attempt: &mut self.attempt }) {
                Ok(result) => return Ok(result),
                Err(Failure::Fatal(error)) => return Err(error),
                Err(Failure::Conflict(_)) => {
                    retries += 1;
                    self.attempt.wait(retries);
                }
            }
        }
    }

    /// Its commits and aborts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.attempt.counts
    }

    /// The summed time of its attempts that committed, in nanoseconds, as the manager weighs it: 0 under managers that need no
    /// clock. While nobody is in the way FairCM times one of 16 attempts, and takes the others to last as long for each lock.
    #[must_use]
    pub fn effective_ns(&self) -> u64 {
        self.attempt.effective_ns()
    }

    /// Times every attempt from now on, under any manager: two looks at a clock for each, which the manager does not learn of.
    pub fn time_all_attempts(&mut self) {
        self.attempt.time_all();
    }

    /// The summed time of its attempts that committed since [`time_all_attempts`](Self::time_all_attempts), in nanoseconds.
    #[must_use]
    pub fn timed_ns(&self) -> u64 {
        self.attempt.timed_ns()
    }

    /// The value of one variable as the last commit left it, outside transactions: a round trip where values are with the
    /// servers. Else as [`Tm::load`](crate::Tm::load).
    ///
    /// # Errors
    /// [`RunError`].
    pub fn load<T: Value>(&mut self, var: TVar<T>) -> Result<T, RunError> {
        self.attempt.memory.check_readable()?;
        self.attempt.memory.check(var.index(), var.instance(), 1)?;
        Ok(T::from_word(self.attempt.look(var.index())?))
    }

    /// Adds to one variable, modulo 2^64, and returns its old value: a transaction of its own, which takes one round trip by
    /// messages.
    ///
    /// # Errors
    /// [`RunError`]. Of [`RunError::Stopped`] and [`RunError::Poisoned`] by messages it is not known whether the variable was
    /// changed: the server stores before it replies. Of the others nothing was written.
    ///
    /// # Panics
    /// Inside a transaction, as [`run`](Self::run).
    #[track_caller]
    pub fn fetch_add(&mut self, var: TVar<u64>, delta: u64) -> Result<u64, RunError> {
        match self.attempt.access {
            Access::Messages(_) => self.change(var, Change::Add(delta)),
            Access::Shared(_) => self.run(|tx| {
                let old = tx.read_for_update(var)?;
                tx.write(var, old.wrapping_add(delta))?;
                Ok(old)
            }),
        }
    }

    /// Stores one variable, and returns its old value; else as [`fetch_add`](Self::fetch_add).
    ///
    /// # Errors
    /// [`RunError`], as [`fetch_add`](Self::fetch_add).
    ///
    /// # Panics
    /// Inside a transaction, as [`run`](Self::run).
    #[track_caller]
    pub fn swap<T: Value>(&mut self, var: TVar<T>, value: T) -> Result<T, RunError> {
        match self.attempt.access {
            Access::Messages(_) => self.change(var, Change::Swap(value.to_word())).map(T::from_word),
            Access::Shared(_) => self.run(|tx| {
                let old = tx.read_for_update(var)?;
                tx.write(var, value)?;
                Ok(old)
            }),
        }
    }

    #[track_caller]
    fn change<T>(&mut self, var: TVar<T>, change: Change) -> Result<u64, RunError> {
        self.attempt.memory.check(var.index(), var.instance(), 1)?;
        self.repeat(|running| {
            let old = running.attempt.change(var.index(), change);
            running.committed(old)
        })
    }

    /// The counts of a server so far; servers are numbered from 0. A round trip to it; in the shared form all counts are 0.
    ///
    /// # Errors
    /// [`RunError::Stopped`], [`RunError::Poisoned`].
    pub fn server_counts(&mut self, server: usize) -> Result<ServerCounts, RunError> {
        match &mut self.attempt.access {
            Access::Messages(client) => client.stats(server),
            Access::Shared(_) => Ok(ServerCounts::default()),
        }
    }

    /// A round trip to a server that does nothing; servers are numbered from 0. In the shared form it does nothing at all.
    ///
    /// # Errors
    /// [`RunError::Stopped`], [`RunError::Poisoned`].
    pub fn ping(&mut self, server: usize) -> Result<(), RunError> {
        match &mut self.attempt.access {
            Access::Messages(client) => client.ping(server),
            Access::Shared(_) => Ok(()),
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        let memory = &self.attempt.memory;
        // In a forked child it is the parent's.
        if memory.region.check_fork().is_ok() {
            memory.leave(self.attempt.me.index());
        }
    }
}

impl fmt::Debug for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Participant({})", self.attempt.me)
    }
}

/// An attempt that has begun. It is abandoned if its closure panics.
struct Running<'a> {
    attempt: &'a mut Attempt,
}

impl Running<'_> {
    /// Commits it, or gives it up.
    #[inline]
    fn end<R>(self, result: Result<R, Abort>) -> Result<R, Failure> {
        let value = match result {
            Ok(value) if self.attempt.commit().is_ok() => value,
            Ok(_) => return Err(self.give_up()),
            Err(_) => return Err(self.give_up()),
        };
        self.committed(Ok(value))
    }

    /// Ends it if it has committed, or gives it up.
    #[inline]
    fn committed<R>(self, result: Result<R, Failed>) -> Result<R, Failure> {
        let Ok(value) = result else { return Err(self.give_up()) };
        self.attempt.finish();
        std::mem::forget(self);
        Ok(value)
    }

    #[cold]
    fn give_up(self) -> Failure {
        let stray = || Failure::Fatal(RunError::StrayAbort);
        self.attempt.failure.clone().unwrap_or_else(stray)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.attempt.abandon();
    }
}

corecast_base::per_thread! {
    /// Whether this thread is inside a transaction.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// This thread is inside a transaction.
struct Inside;

impl Inside {
    #[inline]
    #[track_caller]
    fn enter() -> Self {
        assert!(!IS_INSIDE.get(), "transactions do not nest: this thread is inside the closure of another run");
        IS_INSIDE.set(true);
        Self
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}
