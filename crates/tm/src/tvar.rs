//! Variables of a transactional memory: handles that any participant may copy, send and store in other variables.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use crate::value::Value;

/// The most words under one lock.
pub const MAX_BLOCK_WORDS: usize = 7;

/// A variable of one word: its index in the memory of one instance, and the mark of that instance, which every access checks.
///
/// A copy is the same variable. As a [`Value`] it is a link; `Option<TVar>` is one that may lead nowhere.
pub struct TVar<T> {
    index: u32,
    instance: NonZeroU32,
    values: PhantomData<fn(T) -> T>,
}

/// The mark of no instance, as theirs are odd: of a link that was read from the word of another type.
const NO_INSTANCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

impl<T> TVar<T> {
    /// Stops the compiler at values that do not fit into a word.
    const FITS: () = assert!(size_of::<T>() <= 8, "a Value has at most 8 bytes");

    #[inline]
    pub(crate) fn new(index: u32, instance: u32) -> Self {
        let () = Self::FITS;
        Self { index, instance: NonZeroU32::new(instance).unwrap_or(NO_INSTANCE), values: PhantomData }
    }

    /// Its place in the memory, from 0.
    #[inline]
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }

    /// The mark of the instance, never 0.
    #[inline]
    #[cfg_attr(loom, allow(dead_code, reason = "the models have no instance"))]
    pub(crate) fn instance(self) -> u32 {
        self.instance.get()
    }
}

impl<T> Clone for TVar<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TVar<T> {}

impl<T> PartialEq for TVar<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.instance) == (other.index, other.instance)
    }
}

impl<T> Eq for TVar<T> {}

impl<T> fmt::Debug for TVar<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TVar({})", self.index)
    }
}

impl<T: 'static> Value for TVar<T> {
    #[inline]
    fn to_word(self) -> u64 {
        u64::from(self.instance.get()) << 32 | u64::from(self.index)
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Self::new(word as u32, (word >> 32) as u32)
    }
}

impl<T: 'static> Value for Option<TVar<T>> {
    #[inline]
    fn to_word(self) -> u64 {
        // No instance has the mark 0.
        self.map_or(0, Value::to_word)
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        (word >> 32 != 0).then(|| TVar::from_word(word))
    }
}

/// A record of up to [`MAX_BLOCK_WORDS`] words under one lock, read in one round trip.
///
/// More words do not compile:
///
/// ```compile_fail
/// fn eight(tx: &mut corecast_tm::Tx<'_>) -> Result<(), corecast_tm::Abort> {
///     tx.new_block([0u64; 8]).map(|_| ())
/// }
/// let used: fn(&mut corecast_tm::Tx<'_>) -> Result<(), corecast_tm::Abort> = eight;
/// std::hint::black_box(used);
/// ```
pub struct TBlock<T, const N: usize> {
    first: TVar<T>,
}

impl<T, const N: usize> TBlock<T, N> {
    /// Stops the compiler at blocks of no word, or of too many.
    pub(crate) const FITS: () = assert!(N >= 1 && N <= MAX_BLOCK_WORDS, "a TBlock has 1 to 7 words");

    pub(crate) fn new(first: TVar<T>) -> Self {
        let () = Self::FITS;
        Self { first }
    }

    /// Its first word, whose lock is that of the whole block: use it with block accesses only.
    pub(crate) fn first(self) -> TVar<T> {
        self.first
    }

    /// The place of its first word in the memory, from 0.
    #[must_use]
    pub fn index(self) -> u32 {
        self.first.index()
    }
}

impl<T, const N: usize> Clone for TBlock<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for TBlock<T, N> {}

impl<T, const N: usize> PartialEq for TBlock<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.first == other.first
    }
}

impl<T, const N: usize> Eq for TBlock<T, N> {}

impl<T, const N: usize> fmt::Debug for TBlock<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TBlock({}, {N} words)", self.first.index)
    }
}

impl<T: 'static, const N: usize> Value for TBlock<T, N> {
    #[inline]
    fn to_word(self) -> u64 {
        self.first.to_word()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Self::new(TVar::from_word(word))
    }
}

impl<T: 'static, const N: usize> Value for Option<TBlock<T, N>> {
    #[inline]
    fn to_word(self) -> u64 {
        self.map(TBlock::first).to_word()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        Option::<TVar<T>>::from_word(word).map(TBlock::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_back_from_their_words() {
        let var = TVar::<i32>::new(7, 9);
        assert_eq!(TVar::from_word(var.to_word()), var);
        assert_eq!(Option::from_word(Some(var).to_word()), Some(var));
        assert_eq!(Option::<TVar<i32>>::from_word(None::<TVar<i32>>.to_word()), None);
        assert_eq!(TVar::<i32>::from_word(7).instance() % 2, 0, "no instance has the mark");
        let block = TBlock::<u64, 7>::new(TVar::new(8, 9));
        assert_eq!(Option::from_word(Some(block).to_word()), Some(block));
    }
}
