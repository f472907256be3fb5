//! A transaction as its closure sees it.

use std::fmt;

use crate::attempt::{Attempt, Failed, Failure};
use crate::region::class_of;
use crate::tvar::{TBlock, TVar};
use crate::value::Value;

/// The attempt is over: another transaction was in the way, or none can succeed. Only accesses make it; `?` carries it out of the
/// closure, and [`Participant::run`](crate::Participant::run) tries again or returns the error.
///
/// ```compile_fail
/// let mine = corecast_tm::Abort(()); // it cannot be made
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the attempt is over: return it from the closure"]
pub struct Abort(());

impl From<Failed> for Abort {
    fn from(Failed: Failed) -> Self {
        Self(())
    }
}

/// The accesses of one attempt. All of them see one state of the memory in which no other transaction is half done, also in an
/// attempt that will be aborted.
pub struct Tx<'a> {
    attempt: &'a mut Attempt,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(attempt: &'a mut Attempt) -> Self {
        Self { attempt }
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn read<T: Value>(&mut self, var: TVar<T>) -> Result<T, Abort> {
        self.check(var, 1)?;
        Ok(T::from_word(self.attempt.read(var.index(), var.index(), 1)?))
    }

    /// Writes a variable when the transaction commits; later reads of this transaction see it at once.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn write<T: Value>(&mut self, var: TVar<T>, value: T) -> Result<(), Abort> {
        self.check(var, 1)?;
        Ok(self.attempt.write(var.index(), var.index(), value.to_word(), 1)?)
    }

    /// The value of a variable that this transaction is going to write: claims it and reads it in one round trip, so that no
    /// other transaction can come in between.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn read_for_update<T: Value>(&mut self, var: TVar<T>) -> Result<T, Abort> {
        self.check(var, 1)?;
        Ok(T::from_word(self.attempt.read_for_update(var.index())?))
    }

    /// Gives the read lock of a variable back before the end, for searches that need only the last few (early release): from now
    /// on others may write it, and this transaction is not aborted for that. Of a variable that it writes nothing happens.
    ///
    /// The lock is the transaction's: an earlier read of the same variable is no longer protected either.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn release<T>(&mut self, var: TVar<T>) -> Result<(), Abort> {
        self.check(var, 1)?;
        Ok(self.attempt.release(var.index())?)
    }

    /// The value of a variable without a lock (elastic read): the two values read so before must not have changed, else the
    /// attempt is aborted. Only these two and this one are seen together: no other transaction is half done amid them, as the
    /// read waits while any participant stores a commit. A variable that was changed and changed back in between counts as
    /// unchanged. Read what the result rests on once more with [`read`](Self::read), and call [`validate`](Self::validate).
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn read_unlocked<T: Value>(&mut self, var: TVar<T>) -> Result<T, Abort> {
        self.check(var, 1)?;
        Ok(T::from_word(self.attempt.read_unlocked(var.index())?))
    }

    /// Looks whether the last two values of [`read_unlocked`](Self::read_unlocked) are still there. Of those that were locked
    /// before this call, that stays so until the end.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn validate(&mut self) -> Result<(), Abort> {
        Ok(self.attempt.validate()?)
    }

    /// The variable with this index, of which another process has told. It must have been made as one of this type.
    ///
    /// # Errors
    /// [`Abort`]: return it. Beyond the memory the run ends with [`RunError::Beyond`](crate::RunError::Beyond), also if the
    /// closure goes on.
    pub fn var<T: Value>(&mut self, index: u32) -> Result<TVar<T>, Abort> {
        let var = TVar::new(index, self.attempt.memory.instance());
        self.check(var, 1)?;
        Ok(var)
    }

    /// A variable that nobody else knows, with this value. It goes if the transaction is aborted.
    ///
    /// # Errors
    /// [`Abort`]: return it. With all variables in use the run ends with [`RunError::Full`](crate::RunError::Full).
    pub fn new_var<T: Value>(&mut self, value: T) -> Result<TVar<T>, Abort> {
        self.allocate(&[value.to_word()])
    }

    /// Gives a variable back if the transaction commits; nobody may use it any more.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn free<T>(&mut self, var: TVar<T>) -> Result<(), Abort> {
        self.free_words(var, 1)
    }

    /// The words of a block, with one lock.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn read_block<T: Value, const N: usize>(&mut self, block: TBlock<T, N>) -> Result<[T; N], Abort> {
        self.check(block.first(), N)?;
        let mut values = [0; N];
        for (value, word) in values.iter_mut().zip(block.index()..) {
            *value = self.attempt.read(block.index(), word, N)?;
        }
        Ok(values.map(T::from_word))
    }

    /// As [`read_block`](Self::read_block), of a block that this transaction is going to write.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn read_block_for_update<T: Value, const N: usize>(&mut self, block: TBlock<T, N>) -> Result<[T; N], Abort> {
        self.check(block.first(), N)?;
        self.attempt.claim(block.index(), N)?;
        self.read_block(block)
    }

    /// Writes all words of a block when the transaction commits.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    #[inline]
    pub fn write_block<T: Value, const N: usize>(&mut self, block: TBlock<T, N>, values: [T; N]) -> Result<(), Abort> {
        self.check(block.first(), N)?;
        for (value, word) in values.into_iter().zip(block.index()..) {
            self.attempt.write(block.index(), word, value.to_word(), N)?;
        }
        Ok(())
    }

    /// Gives the read lock of a block back before the end; else as [`release`](Self::release).
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn release_block<T, const N: usize>(&mut self, block: TBlock<T, N>) -> Result<(), Abort> {
        self.release(block.first())
    }

    /// Whether this attempt has a lock of a block.
    #[inline]
    pub(crate) fn has_lock<T, const N: usize>(&self, block: TBlock<T, N>) -> bool {
        self.attempt.has_lock(block.index())
    }

    /// One word of a block without a lock; else as [`read_unlocked`](Self::read_unlocked).
    ///
    /// # Errors
    /// [`Abort`]: return it.
    ///
    /// # Panics
    /// If the block has no such word.
    #[track_caller]
    pub fn read_word_unlocked<T: Value, const N: usize>(&mut self, block: TBlock<T, N>, at: usize) -> Result<T, Abort> {
        assert!(at < N, "word {at} of a block of {N}");
        self.check(block.first(), N)?;
        Ok(T::from_word(self.attempt.read_unlocked(block.index() + at as u32)?))
    }

    /// A block that nobody else knows, with these values. It goes if the transaction is aborted.
    ///
    /// # Errors
    /// [`Abort`]: return it. With all variables in use the run ends with [`RunError::Full`](crate::RunError::Full).
    pub fn new_block<T: Value, const N: usize>(&mut self, values: [T; N]) -> Result<TBlock<T, N>, Abort> {
        Ok(TBlock::new(self.allocate(&values.map(Value::to_word))?))
    }

    /// Gives a block back if the transaction commits; nobody may use it any more.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn free_block<T, const N: usize>(&mut self, block: TBlock<T, N>) -> Result<(), Abort> {
        self.free_words(block.first(), N)
    }

    fn allocate<T>(&mut self, words: &[u64]) -> Result<TVar<T>, Abort> {
        self.attempt.check()?;
        match self.attempt.spare.take(class_of(words.len())) {
            Ok(index) => {
                // Nobody has a link to it but attempts that are doomed, so it needs no lock. A server looks here, too.
                (index..).zip(words).for_each(|(word, &value)| self.attempt.memory.store(word, value));
                Ok(TVar::new(index, self.attempt.memory.instance()))
            }
            Err(error) => Err(self.attempt.fail(Failure::Fatal(error)).into()),
        }
    }

    fn free_words<T>(&mut self, var: TVar<T>, words: usize) -> Result<(), Abort> {
        self.check(var, words)?;
        self.attempt.claim(var.index(), words)?;
        self.attempt.spare.give(var.index(), class_of(words));
        Ok(())
    }

    #[inline]
    fn check<T>(&mut self, var: TVar<T>, words: usize) -> Result<(), Abort> {
        match self.attempt.memory.check(var.index(), var.instance(), words) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.attempt.fail(Failure::Fatal(error)).into()),
        }
    }
}

impl fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tx(participant {})", self.attempt.me)
    }
}
