//! What a closure reads and writes.

use super::state::{Attempt, Failed, Failure, Mode, WINDOW, Write};
use crate::access::Access;
use crate::config::{Values, Writes};
use crate::status::Why;

impl Attempt {
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
}
