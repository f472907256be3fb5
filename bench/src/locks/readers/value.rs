//! A value that many read and some write, as every contender of the experiment with readers offers it.

use corecast::base::CacheLine;
use corecast::lock::{RawRwLock, RwLock, Seq, Setup};

/// Words that are equal to each other whenever nobody is writing.
pub(super) type Words = [u64; 4];

/// Words that many threads read, or one adds to.
pub(super) trait Value: Sync + Sized {
    /// A thread makes one before it reads.
    type Reader;

    /// Zeroes, made for this.
    fn new(setup: &Setup) -> Self;

    /// For a thread that will read.
    fn reader(&self) -> Self::Reader;

    /// A copy.
    fn read(&self, reader: &Self::Reader) -> Words;

    /// Adds one to each word.
    fn add_one(&self);
}

/// These, each one more.
pub(super) fn one_more(words: Words) -> Words {
    words.map(|word| word + 1)
}

/// As of a lock, behind which the words have a line of their own.
type Line = CacheLine<Words>;

impl<L: RawRwLock> Value for RwLock<Line, L> {
    type Reader = ();

    fn reader(&self) {}

    fn new(setup: &Setup) -> Self {
        Self::for_setup(Line::default(), setup)
    }

    #[inline(always)]
    fn read(&self, (): &()) -> Words {
        self.with_read(|line| line.0)
    }

    #[inline(always)]
    fn add_one(&self) {
        self.with_write(|line| line.0 = one_more(line.0));
    }
}

/// Its number lies beside the words: that is what it is.
impl Value for CacheLine<Seq<Words>> {
    type Reader = ();

    fn reader(&self) {}

    fn new(setup: &Setup) -> Self {
        Self(Seq::for_setup(Words::default(), setup))
    }

    #[inline(always)]
    fn read(&self, (): &()) -> Words {
        self.0.read()
    }

    #[inline(always)]
    fn add_one(&self) {
        self.0.update(one_more);
    }
}

impl Value for std::sync::RwLock<Line> {
    type Reader = ();

    fn reader(&self) {}

    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn read(&self, (): &()) -> Words {
        std::sync::RwLock::read(self).expect("no thread panics").0
    }

    #[inline(always)]
    fn add_one(&self) {
        let mut line = self.write().expect("no thread panics");
        line.0 = one_more(line.0);
    }
}

impl Value for parking_lot::RwLock<Line> {
    type Reader = ();

    fn reader(&self) {}

    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn read(&self, (): &()) -> Words {
        parking_lot::RwLock::read(self).0
    }

    #[inline(always)]
    fn add_one(&self) {
        let mut line = self.write();
        line.0 = one_more(line.0);
    }
}
