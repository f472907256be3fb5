//! The reads and writes of a closure.

use corecast_base::wait::Spinner;

use super::state::{Attempt, Failed, Failure, Mode, Touched, WINDOW};
use crate::access::{Access, Change};
use crate::config::Values;
use crate::crash_point;
use crate::error::RunError;
use crate::rule::Reply;
use crate::status::{ClientId, State, Why};

impl Attempt {
    /// The locks that the attempt has of a variable.
    #[inline]
    pub(super) fn mode(&self, lock: u32) -> Mode {
        self.touched.get(lock).map_or(Mode::None, |touched| touched.mode)
    }

    /// Whether the attempt has a lock of a variable.
    #[inline]
    pub(crate) fn has_lock(&self, lock: u32) -> bool {
        self.mode(lock).is_held()
    }

    /// The value of one word of a variable that was checked.
    #[inline]
    pub(crate) fn read(&mut self, lock: u32, word: u32, words: usize) -> Result<u64, Failed> {
        let mut there = self.touched.get(word).copied();
        if let Some(Touched { value, is_written: true, .. }) = there {
            self.check()?;
            return Ok(value);
        }
        if word != lock {
            there = self.touched.get(lock).copied();
        }
        match there.map(|there| there.mode.is_held()) {
            None => self.lock_first(lock, words, false)?,
            Some(true) => self.check()?,
            Some(false) => {
                self.take(lock, words, false)?;
                self.note(lock, false);
            }
        }
        self.copy(word)
    }

    /// The value of a variable of one word, whose write lock the attempt takes if it does not have it.
    #[inline]
    pub(crate) fn read_for_update(&mut self, word: u32) -> Result<u64, Failed> {
        if !self.claim(word, 1)? {
            return self.copy(word);
        }
        match self.touched.get(word) {
            Some(there) if there.is_written => Ok(there.value),
            _ => self.copy(word),
        }
    }

    /// A value whose lock the attempt has.
    #[inline]
    fn copy(&mut self, word: u32) -> Result<u64, Failed> {
        let value = if self.are_values_here {
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

    /// Buffers a value.
    #[inline]
    pub(crate) fn write(&mut self, lock: u32, word: u32, value: u64, words: usize) -> Result<(), Failed> {
        if self.is_eager {
            self.claim(lock, words)?;
        } else {
            self.check()?;
        }
        match self.touched.get_mut(word) {
            Some(there) => {
                self.written += usize::from(!there.is_written);
                self.is_unclaimed |= word != lock || !there.mode.is_write();
                there.is_written = true;
                there.value = value;
            }
            None => {
                self.written += 1;
                self.is_unclaimed = true;
                self.touched.push(word, Touched { value, lock, mode: Mode::None, is_written: true });
            }
        }
        Ok(())
    }

    /// A value without a lock; the last ones that were read so must not have changed since, and no commit is half stored amid
    /// them.
    pub(crate) fn read_unlocked(&mut self, word: u32) -> Result<u64, Failed> {
        if let Some(there) = self.touched.get(word).filter(|there| there.is_written) {
            return Ok(there.value);
        }
        let value = self.peek(word)?;
        self.await_commits()?;
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

    /// Waits for the commits that are under way. Of one that has stored a value which was seen before, all values are there
    /// afterwards. An elastic read costs a look at the status of each participant for that; they change with transactions only.
    #[inline]
    fn await_commits(&mut self) -> Result<(), Failed> {
        for client in (0..self.memory.config.participants).map(|id| ClientId(id as u16)) {
            let (epoch, state) = self.memory.status(client).read();
            if state == State::Persisting {
                self.await_commit(client, epoch)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn await_commit(&mut self, client: ClientId, epoch: u64) -> Result<(), Failed> {
        let mut spinner = Spinner::new();
        while self.memory.status(client).read() == (epoch, State::Persisting) {
            self.await_persisting(&mut spinner)?;
        }
        Ok(())
    }

    fn peek(&mut self, word: u32) -> Result<u64, Failed> {
        self.look(word).map_err(|error| self.fail(Failure::Fatal(error)))
    }

    /// Changes one variable for a participant whose attempt has begun, and asks for nothing else; by messages only.
    pub(crate) fn change(&mut self, var: u32, change: Change) -> Result<u64, Failed> {
        let by = self.request();
        self.counts.requests += 1;
        let Access::Messages(client) = &mut self.access else { unreachable!("the shared form runs a transaction") };
        match client.change(by, var, change) {
            Ok((Reply::Granted, old)) => {
                crash_point::here("change-answered");
                self.status().commit(self.epoch);
                Ok(old)
            }
            Ok((Reply::Retry, _)) => {
                self.counts.retries += 1;
                Err(self.fail(Failure::Conflict(Why::Waw)))
            }
            Ok((Reply::Refused(why), _)) => Err(self.fail(Failure::Conflict(why))),
            Err(error) => Err(self.fail(Failure::Fatal(error))),
        }
    }

    /// A value without a lock, as the last commit left it.
    pub(crate) fn look(&mut self, word: u32) -> Result<u64, RunError> {
        match &mut self.access {
            Access::Messages(client) if self.memory.config.values == Values::AtServers => client.peek(self.epoch, word),
            _ => Ok(self.memory.load(word)),
        }
    }
}
