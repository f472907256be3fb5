//! The simulated machine's side: atomics whose accesses take virtual time, and the calls of an operating system that has none of
//! the host's. Outside of a run all of it acts on the host, as at set-up and in statics.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use corecast_sim_core::{Thread, Word, with_current};

use super::Scope;
use super::{host, native};
use crate::LINE_BYTES;

pub use corecast_sim_core::{PerRun, PerThread};
pub use std::sync::Arc;
pub use std::sync::atomic::Ordering;

/// The full fence of a core whose stores are done, in nanoseconds.
const FENCE_NS: u64 = 10;

macro_rules! atomic {
    ($(#[$meta:meta])* $name:ident of $value:ty $(, with $type:ident)?) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name$(<$type>)?(std::sync::atomic::$name$(<$type>)?);

        impl$(<$type>)? $name$(<$type>)? {
            /// An atomic of this value.
            pub const fn new(value: $value) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            /// The value, for a caller that has the atomic alone.
            pub fn get_mut(&mut self) -> &mut $value {
                self.settle();
                self.0.get_mut()
            }

            /// The value.
            pub fn into_inner(self) -> $value {
                self.settle();
                // SAFETY: it is not dropped afterwards, and the value is read once.
                let inner = unsafe { std::ptr::read(&ManuallyDrop::new(self).0) };
                inner.into_inner()
            }

            /// The address of the value.
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }

            fn word(&self) -> Word {
                // SAFETY: an integer, a bool or an address, of which simulated threads write what they have read or were given;
                // dropping the atomic lets all stores to it take effect.
                unsafe { Word::of(self.0.as_ptr()) }
            }

            /// Lets all stores to it take effect.
            fn settle(&self) {
                before_free(self.0.as_ptr().cast(), size_of::<$value>());
            }

            /// Reads, after earlier loads of this thread.
            pub fn load(&self, order: Ordering) -> $value {
                with_current(|thread| match thread {
                    Some(thread) => Self::value(thread.load(self.word())),
                    None => self.0.load(order),
                })
            }

            /// Writes; a store in total order waits for all stores before it.
            pub fn store(&self, value: $value, order: Ordering) {
                with_current(|thread| match thread {
                    // ORDERING: SeqCst, as an exchange, which is a full fence on x86 [simulated-total]
                    Some(thread) if order == Ordering::SeqCst => {
                        thread.update(self.word(), |_| Some(Self::bits(value)));
                    }
                    Some(thread) => thread.store(self.word(), Self::bits(value)),
                    None => self.0.store(value, order),
                });
            }

            /// Changes the value in one step, and returns the one before.
            fn change(&self, change: impl Fn($value) -> Option<$value>) -> Option<$value> {
                with_current(|thread| {
                    let thread = thread?;
                    let before = thread.update(self.word(), |bits| change(Self::value(bits)).map(Self::bits));
                    Some(Self::value(before))
                })
            }

            /// Writes, and returns the value before.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.change(|_| Some(value)).unwrap_or_else(|| self.0.swap(value, order))
            }

            /// Writes `new` if the value is `current`.
            ///
            /// # Errors
            /// The value, if it is another one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                match self.change(|value| (value == current).then_some(new)) {
                    Some(value) if value == current => Ok(value),
                    Some(value) => Err(value),
                    None => self.0.compare_exchange(current, new, success, failure),
                }
            }

            /// As [`compare_exchange`](Self::compare_exchange): it fails for no other reason.
            ///
            /// # Errors
            /// The value, if it is another one.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Writes the value that `next` gives, as often as another thread comes between.
            ///
            /// # Errors
            /// The value, if `next` gives none.
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(fetch);
                while let Some(value) = next(seen) {
                    match self.compare_exchange(seen, value, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(now) => seen = now,
                    }
                }
                Err(seen)
            }
        }

        impl$(<$type>)? Drop for $name$(<$type>)? {
            fn drop(&mut self) {
                self.settle();
            }
        }
    };
}

macro_rules! integer {
    ($name:ident of $value:ident) => {
        atomic! {
            /// An atomic integer.
            $name of $value
        }

        impl $name {
            /// The atomic at this address.
            ///
            /// # Safety
            /// As std's: it is aligned, stays for `'a`, and is accessed by atomics only.
            pub unsafe fn from_ptr<'a>(pointer: *mut $value) -> &'a Self {
                // SAFETY: the caller keeps it; the layout is that of the integer.
                unsafe { &*pointer.cast::<Self>() }
            }

            fn bits(value: $value) -> u64 {
                value as u64
            }

            fn value(bits: u64) -> $value {
                bits as $value
            }

            /// Adds, and returns the value before; wraps around.
            pub fn fetch_add(&self, count: $value, order: Ordering) -> $value {
                self.change(|value| Some(value.wrapping_add(count))).unwrap_or_else(|| self.0.fetch_add(count, order))
            }

            /// Subtracts, and returns the value before; wraps around.
            pub fn fetch_sub(&self, count: $value, order: Ordering) -> $value {
                self.change(|value| Some(value.wrapping_sub(count))).unwrap_or_else(|| self.0.fetch_sub(count, order))
            }

            /// The bits of both; the value before.
            pub fn fetch_and(&self, mask: $value, order: Ordering) -> $value {
                self.change(|value| Some(value & mask)).unwrap_or_else(|| self.0.fetch_and(mask, order))
            }

            /// The bits of either; the value before.
            pub fn fetch_or(&self, mask: $value, order: Ordering) -> $value {
                self.change(|value| Some(value | mask)).unwrap_or_else(|| self.0.fetch_or(mask, order))
            }

            /// The bits of one of them; the value before.
            pub fn fetch_xor(&self, mask: $value, order: Ordering) -> $value {
                self.change(|value| Some(value ^ mask)).unwrap_or_else(|| self.0.fetch_xor(mask, order))
            }

            /// The greater one; the value before.
            pub fn fetch_max(&self, other: $value, order: Ordering) -> $value {
                self.change(|value| Some(value.max(other))).unwrap_or_else(|| self.0.fetch_max(other, order))
            }

            /// The smaller one; the value before.
            pub fn fetch_min(&self, other: $value, order: Ordering) -> $value {
                self.change(|value| Some(value.min(other))).unwrap_or_else(|| self.0.fetch_min(other, order))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

integer!(AtomicU8 of u8);
integer!(AtomicU32 of u32);
integer!(AtomicU64 of u64);
integer!(AtomicUsize of usize);

atomic! {
    /// An atomic truth.
    AtomicBool of bool
}

impl AtomicBool {
    fn bits(value: bool) -> u64 {
        value.into()
    }

    fn value(bits: u64) -> bool {
        bits != 0
    }

    /// True if both are; the value before.
    pub fn fetch_and(&self, other: bool, order: Ordering) -> bool {
        self.change(|value| Some(value & other)).unwrap_or_else(|| self.0.fetch_and(other, order))
    }

    /// True if either is; the value before.
    pub fn fetch_or(&self, other: bool, order: Ordering) -> bool {
        self.change(|value| Some(value | other)).unwrap_or_else(|| self.0.fetch_or(other, order))
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

atomic! {
    /// An atomic pointer.
    AtomicPtr of *mut T, with T
}

impl<T> AtomicPtr<T> {
    fn bits(value: *mut T) -> u64 {
        value.expose_provenance() as u64
    }

    fn value(bits: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

/// A cell whose contents are reached through closures, of which each access takes its lines.
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell holding `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The contents.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Gives a pointer for reading. A caller that reads through it promises that no thread writes meanwhile.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.count(before_read);
        f(self.0.get())
    }

    /// Gives a pointer for writing. A caller that writes through it promises that no other thread looks meanwhile.
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.count(before_write);
        f(self.0.get())
    }

    fn count(&self, access: fn(*const u8, usize)) {
        access(self.0.get().cast::<u8>(), size_of_val(self));
    }
}

/// Reads the lines of bytes that are about to be read other than by atomics and cells.
pub fn before_read(first: *const u8, bytes: usize) {
    for_lines(first, bytes, Thread::load_line);
}

/// Writes the lines of bytes that are about to be written other than by atomics and cells.
pub fn before_write(first: *const u8, bytes: usize) {
    for_lines(first, bytes, Thread::store_line);
}

/// Lets all stores to bytes that are about to be freed take effect.
pub fn before_free(first: *const u8, bytes: usize) {
    with_current(|thread| thread.into_iter().for_each(|thread| thread.frees(first.addr(), bytes)));
}

/// Names as many lines as the bytes fill, as if they began with a line: so the place that the host's allocator gives them does
/// not change the time.
fn for_lines(first: *const u8, bytes: usize, access: fn(&Thread, usize)) {
    with_current(|thread| {
        let Some(thread) = thread else { return };
        (0..bytes).step_by(LINE_BYTES).for_each(|offset| access(thread, first.addr() + offset));
    });
}

/// A mutex that a simulated thread waits for in virtual time.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized> {
    /// True while a simulated thread holds it. Written by that thread.
    is_taken: AtomicBool,
    value: std::sync::Mutex<T>,
}

/// The right to a mutex's value.
#[derive(Debug)]
pub struct MutexGuard<'a, T: ?Sized> {
    /// Of a simulated thread.
    is_taken: Option<&'a AtomicBool>,
    /// `None` once it is dropped, before `is_taken` lets another thread come: that must not wait for it.
    value: Option<std::sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    /// A free one.
    pub const fn new(value: T) -> Self {
        Self { is_taken: AtomicBool::new(false), value: std::sync::Mutex::new(value) }
    }

    /// The value.
    ///
    /// # Errors
    /// The value, if a thread panicked that held it.
    pub fn into_inner(self) -> LockResult<T> {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until no other thread holds it.
    ///
    /// # Errors
    /// The guard, if a thread panicked that held it.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let is_taken = with_current(|thread| thread.is_some()).then_some(&self.is_taken);
        if is_taken.is_some() {
            // ORDERING: SeqCst, a mutex is a full fence on x86; pairs with the guard's drop [simulated-mutex]
            while self.is_taken.swap(true, Ordering::SeqCst) {
                // ORDERING: Relaxed, the swap looks again
                while self.is_taken.load(Ordering::Relaxed) {
                    spin_hint();
                }
            }
        }
        match self.value.lock() {
            Ok(value) => Ok(MutexGuard { is_taken, value: Some(value) }),
            Err(poisoned) => Err(PoisonError::new(MutexGuard { is_taken, value: Some(poisoned.into_inner()) })),
        }
    }

    /// The value, for a caller that has the mutex alone.
    ///
    /// # Errors
    /// The value, if a thread panicked that held it.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.value.get_mut()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_deref().expect("it is not dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("it is not dropped")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        if let Some(is_taken) = self.is_taken {
            // ORDERING: SeqCst, pairs with the swap in lock [simulated-mutex]
            is_taken.swap(false, Ordering::SeqCst);
        }
    }
}

/// Orders this thread's accesses: a fence in total order waits for its stores.
pub fn fence(order: Ordering) {
    with_current(|thread| match thread {
        // ORDERING: SeqCst, waits for the thread's stores, as on x86 [simulated-total]
        Some(thread) if order == Ordering::SeqCst => {
            thread.wait_for_stores();
            thread.work_ns(FENCE_NS);
        }
        Some(_) => {}
        None => native::fence(order),
    });
}

/// Adds, and lets no later access come before the addition.
pub fn fetch_add_and_fence(word: &AtomicU64, count: u64) -> u64 {
    // ORDERING: SeqCst, the fence is in the addition, as on x86; pairs with a fence behind what others write [add-fence]
    word.fetch_add(count, Ordering::SeqCst)
}

/// Tells the core that this is a polling loop.
pub fn spin_hint() {
    with_current(|thread| thread.map_or_else(native::spin_hint, Thread::pause));
}

/// Spins for about `duration`.
pub fn spin_for(duration: Duration) {
    with_current(|thread| match thread {
        Some(thread) => thread.spin_ns(nanoseconds(duration)),
        None => native::spin_for(duration),
    });
}

/// Says that the address of the next access follows from values that were read before, as that of a place in an array does: the
/// access begins when they have come. Those of pointers are known without it.
pub fn address_follows() {
    with_current(|thread| thread.into_iter().for_each(Thread::address_follows));
}

/// Does nothing: stores of a simulated thread take effect in their order, also those of one that is killed.
pub fn keep_order() {}

/// Gives the CPU to another thread that can run, if there is one.
pub fn yield_now() {
    with_current(|thread| thread.map_or_else(native::yield_now, Thread::give_way));
}

/// Sleeps while the word is `seen`, for at most `longest`.
pub fn futex_wait(word: &AtomicU32, seen: u32, longest: Duration, scope: Scope) {
    with_current(|thread| match thread {
        Some(thread) => thread.sleep_while(word.word(), seen.into(), nanoseconds(longest)),
        None => native::futex_wait(&word.0, seen, longest, scope),
    });
}

/// Wakes at most `at_most` of the threads that sleep on the word.
pub fn futex_wake(word: &AtomicU32, at_most: u32, scope: Scope) {
    with_current(|thread| match thread {
        Some(thread) => thread.wake(word.word(), at_most),
        None => native::futex_wake(&word.0, at_most, scope),
    });
}

/// The number of this thread; never 0. Simulated threads have those of their order, which no thread of the host has beside them.
#[must_use]
pub fn thread_id() -> u32 {
    with_current(|thread| thread.map_or_else(host::thread_id, |thread| thread.number() as u32 + 1))
}

/// The number of the CPU that this thread runs on.
#[must_use]
pub fn cpu() -> u32 {
    with_current(|thread| thread.map_or_else(host::cpu, |thread| thread.cpu() as u32))
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A number that only grows, on which threads can sleep until it changes.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct EventCount(AtomicU32);

impl EventCount {
    /// A count of zero.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The count now.
    pub fn now(&self) -> u32 {
        // ORDERING: Acquire, pairs with the Release in advance [event-count]
        self.0.load(Ordering::Acquire)
    }

    /// Moves the count on and wakes every thread that sleeps on it.
    pub fn advance(&self, scope: Scope) {
        // ORDERING: Release, pairs with the Acquire in now [event-count]
        self.0.fetch_add(1, Ordering::Release);
        futex_wake(&self.0, u32::MAX, scope);
    }

    /// Sleeps until the count differs from `seen`, for at most `longest`. True if it differs.
    pub fn wait(&self, seen: u32, longest: Duration, scope: Scope) -> bool {
        futex_wait(&self.0, seen, longest, scope);
        self.now() != seen
    }

    /// As [`wait`](Self::wait), until one of several counts differs: sleeps on the first one in short slices.
    pub fn wait_any(counts: &[(&Self, u32, Scope)], longest: Duration) -> bool {
        if let Some(&(first, seen, scope)) = counts.first() {
            first.wait(seen, longest.min(native::SLICE), scope);
        }
        counts.iter().any(|(count, seen, _)| count.now() != *seen)
    }
}

/// The pair of fences: as where Linux has `membarrier`, the light side costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Fences {
    /// The heavy side runs a fence on all CPUs.
    Private = 2,
}

impl Fences {
    /// The best pair.
    #[must_use]
    pub fn of(_scope: Scope) -> Self {
        Self::Private
    }

    /// The pair with this number; `None` if there is no such pair here.
    #[must_use]
    pub fn joined(number: u32) -> Option<Self> {
        (number == 2).then_some(Self::Private)
    }

    /// The light side: nothing, as only stores wait, and heavy lets them take effect.
    pub fn light(self) {}

    /// The fence of both sides while they have agreed to do without the heavy side.
    pub fn equal(self) {
        // ORDERING: SeqCst, pairs with itself on the other side; forbids that both sides miss each other's store [asymmetric]
        fence(Ordering::SeqCst);
    }

    /// True if the heavy side is a system call.
    #[must_use]
    pub fn is_asymmetric(self) -> bool {
        true
    }

    /// The heavy side.
    pub fn heavy(self) {
        // ORDERING: SeqCst, pairs with nothing: threads of the host, which set up and drop, are not on both sides [asymmetric]
        with_current(|thread| thread.map_or_else(|| native::fence(Ordering::SeqCst), Thread::fence_all));
    }

    /// Always 0: calls are not counted here.
    #[must_use]
    pub fn heavy_calls() -> u64 {
        0
    }
}
