//! [`Seq`]: when to take it, how it works, and its code.

#[cfg_attr(loom, path = "words_model.rs")]
#[cfg_attr(not(loom), path = "words_native.rs")]
mod words;

use std::fmt;

use corecast_base::Plain;
use corecast_base::sync::{AtomicU64, Ordering, fence};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::mutex::Mutex;
use crate::raw::{RawLock, Setup};
use crate::word::Word;
use words::Words;

/// A sequence lock: readers copy the value, and copy it again if somebody wrote meanwhile; they write nothing.
///
/// Take it for a small value that many threads read and few write, seldom: a read costs what its copy costs, however many
/// read, and writers never wait for readers. Not where writes follow each other closely, as readers begin again and again; not
/// for large values; and only for [`Plain`] ones, as a reader may see half of a write before it notices.
///
/// **How it works.** A number is odd while somebody writes and even otherwise; it only grows. A reader copies the value word by
/// word, by relaxed atomic accesses, between two looks at the number, and keeps the copy if both found the same even one.
/// Writers exclude each other by a lock of any kind, [`Word`] unless another one is named. The closure of [`Seq::update`]
/// runs while readers still read the old value.
///
/// **Progress:** a reader waits while a write is under way, and gives up its CPU if that takes long; it may begin anew for as
/// long as others write. Writers wait for writers as their lock says. **Memory ordering:** what happened before a write is
/// visible to a thread that has read its value, as with Release and Acquire.
/// Source: C. Lameter, Effective Synchronization on Linux/NUMA Systems, 2005, for the lock; H. Boehm, Can Seqlocks Get Along with
/// Programming Language Memory Models?, 2012, for the orderings.
///
/// ```
/// use corecast_lock::Seq;
///
/// let position: Seq<[f64; 3]> = Seq::new([0.0; 3]);
/// std::thread::scope(|scope| {
///     scope.spawn(|| position.write([1.0, 2.0, 3.0]));
///     let seen = position.read();
///     assert!(seen == [0.0; 3] || seen == [1.0, 2.0, 3.0], "never a part of each");
/// });
/// assert_eq!(position.update(|[x, y, z]| [x + 1.0, y, z]), [2.0, 2.0, 3.0]);
/// ```
/// A reference in the value could be torn, so it is refused:
/// ```compile_fail,E0277
/// let name: corecast_lock::Seq<&'static str> = corecast_lock::Seq::new("a");
/// ```
pub struct Seq<T, L: RawLock = Word> {
    /// Odd while somebody writes the words. Written by the writer whose turn it is.
    number: AtomicU64,
    /// The value. Written by the writer whose turn it is.
    words: Words<T>,
    /// The lock among writers.
    writers: Mutex<(), L>,
}

impl<T: Plain> Seq<T> {
    /// The description for users.
    pub const FACTS: Facts = Facts {
        name: "seq",
        about: "readers copy the value until nobody wrote meanwhile, and write nothing",
        order: AcquisitionOrder::WritersFirst,
        node: NodeKind::Nothing,
        parks: true,
        source: "Lameter 2005; Boehm 2012",
    };

    /// `value`, with a lock of one word among writers.
    pub fn new(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }
}

impl<T: Plain, L: RawLock> Seq<T, L> {
    /// `value`, with a lock among writers that is made for this.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { number: AtomicU64::new(0), words: Words::new(value), writers: Mutex::for_setup((), setup) }
    }

    /// The value, once nobody wrote while it was copied.
    #[inline]
    pub fn read(&self) -> T {
        self.try_read().unwrap_or_else(|| self.read_slow())
    }

    #[cold]
    fn read_slow(&self) -> T {
        let mut spinner = Spinner::new();
        loop {
            spinner.pause();
            if let Some(value) = self.try_read() {
                return value;
            }
        }
    }

    /// The value; `None` if somebody wrote while it was copied, without waiting.
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        // ORDERING: Acquire, pairs with the Release in publish: the words are at least as late as the number [seq-even]
        let before = self.number.load(Ordering::Acquire);
        if before % 2 != 0 {
            return None;
        }
        let value = self.words.load();
        // ORDERING: Acquire, pairs with the Release fence in publish: the number is at least as late as the words [seq-odd]
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, the fence orders it after the words
        (self.number.load(Ordering::Relaxed) == before).then_some(value)
    }

    /// Gives it another value. Waits for other writers.
    ///
    /// # Panics
    /// With debug assertions, inside [`update`](Self::update) of the same one.
    #[track_caller]
    pub fn write(&self, value: T) {
        self.writers.with(|()| self.publish(&value));
    }

    /// Gives it the value that `change` makes of the present one, and returns it. Nobody writes in between. Waits for other
    /// writers.
    ///
    /// # Panics
    /// If `change` does; the value stays then. With debug assertions, inside itself.
    #[track_caller]
    pub fn update(&self, change: impl FnOnce(T) -> T) -> T {
        self.writers.with(|()| {
            let value = change(self.words.load());
            self.publish(&value);
            value
        })
    }

    /// For the writer whose turn it is.
    fn publish(&self, value: &T) {
        // ORDERING: Relaxed, the last writer's came with the turn
        let number = self.number.load(Ordering::Relaxed);
        // ORDERING: Relaxed, the fence orders it before the words
        self.number.store(number + 1, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire fence in try_read: a reader of one of these words sees that it is odd
        // [seq-odd]
        fence(Ordering::Release);
        self.words.store(value);
        // ORDERING: Release, pairs with the Acquire in try_read [seq-even]
        self.number.store(number + 2, Ordering::Release);
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.words.load()
    }
}

impl<T: Plain + Default, L: RawLock> Default for Seq<T, L> {
    fn default() -> Self {
        Self::for_setup(T::default(), &Setup::default())
    }
}

impl<T: Plain + fmt::Debug, L: RawLock> fmt::Debug for Seq<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seq").field("value", &self.read()).finish_non_exhaustive()
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Seq<[u64; 5]>>() <= corecast_base::LINE_BYTES);
