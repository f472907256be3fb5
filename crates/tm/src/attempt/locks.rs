//! The locks of an attempt: asked for until the answer is final.

use corecast_base::wait::Spinner;

use super::state::{Attempt, Failed, Failure, Mode, Touched};
use crate::access::{Access, Came};
use crate::crash_point;
use crate::error::RunError;
use crate::rule::Reply;

impl Attempt {
    /// Makes sure that the attempt has the write lock of a variable. Tells whether it had touched the variable before.
    #[inline]
    pub(crate) fn claim(&mut self, lock: u32, words: usize) -> Result<bool, Failed> {
        match self.touched.get(lock) {
            None => self.lock_first(lock, words, true).map(|()| false),
            Some(there) if there.mode.is_write() => self.check().map(|()| true),
            Some(_) => {
                self.take(lock, words, true)?;
                self.note(lock, true);
                Ok(true)
            }
        }
    }

    /// Takes a lock of a variable that the attempt has not touched: its list is not searched once more.
    #[inline]
    pub(super) fn lock_first(&mut self, lock: u32, words: usize, is_write: bool) -> Result<(), Failed> {
        self.take(lock, words, is_write)?;
        self.touched.push(lock, Touched::locked(lock, is_write));
        Ok(())
    }

    /// Takes a lock that the attempt does not have, and does not note it.
    #[inline]
    pub(super) fn take(&mut self, lock: u32, words: usize, is_write: bool) -> Result<(), Failed> {
        self.check()?;
        if !self.access.try_take(lock, is_write) {
            return self.ask(lock, words, is_write);
        }
        self.counts.requests += 1;
        crash_point::here("locked");
        Ok(())
    }

    /// Asks for a lock until the answer is final.
    fn ask(&mut self, lock: u32, words: usize, is_write: bool) -> Result<(), Failed> {
        self.has_met |= self.access.asks_for_held_only();
        let mut came = Came::default();
        let mut spinner = Spinner::new();
        loop {
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
            self.check()?;
        }
        crash_point::here("locked");
        if !self.are_values_here {
            (lock..).zip(came).take(words).for_each(|(word, value)| self.came.insert(word, value));
        }
        Ok(())
    }

    /// True if a request was granted, false if it has to be repeated.
    #[inline]
    pub(super) fn is_granted(&mut self, reply: Result<Reply, RunError>, spinner: &mut Spinner) -> Result<bool, Failed> {
        match reply {
            Ok(Reply::Granted) => Ok(true),
            Ok(Reply::Retry) => {
                self.has_met = true;
                self.pause(spinner).map(|()| false)
            }
            Ok(Reply::Refused(why)) => Err(self.fail(Failure::Conflict(why))),
            Err(error) => Err(self.fail(Failure::Fatal(error))),
        }
    }

    #[cold]
    fn pause(&mut self, spinner: &mut Spinner) -> Result<(), Failed> {
        self.counts.retries += 1;
        self.await_persisting(spinner)
    }

    /// Waits a moment for one that persists, which may have been killed.
    pub(super) fn await_persisting(&mut self, spinner: &mut Spinner) -> Result<(), Failed> {
        if spinner.is_spent() {
            self.look_for_dead();
        }
        spinner.pause();
        self.memory.check_usable().map_err(|error| self.fail(Failure::Fatal(error)))
    }

    #[inline]
    pub(super) fn note(&mut self, lock: u32, is_write: bool) {
        let Some(Touched { mode, .. }) = self.touched.get_mut(lock) else {
            return self.touched.push(lock, Touched::locked(lock, is_write));
        };
        *mode = match (*mode, is_write) {
            (Mode::Read | Mode::ReadWrite, true) | (Mode::Write | Mode::ReadWrite, false) => Mode::ReadWrite,
            (_, true) => Mode::Write,
            (_, false) => Mode::Read,
        };
    }

    /// Gives a read lock back before the end, unless the variable is written.
    pub(crate) fn release(&mut self, lock: u32) -> Result<(), Failed> {
        self.check()?;
        // A block that is written has its first word among the writes.
        match self.touched.get_mut(lock) {
            Some(there) if there.mode == Mode::Read && !there.is_written => there.mode = Mode::None,
            _ => return Ok(()),
        }
        let released = match &mut self.access {
            Access::Messages(client) => client.release(self.epoch, lock),
            Access::Shared(client) => {
                client.release(lock, false);
                Ok(())
            }
        };
        released.map_err(|error| self.fail(Failure::Fatal(error)))
    }
}
