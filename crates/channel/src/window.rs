//! Slices that a thread exposes to other threads, which read them in place while it waits: no copy in between.
//!
//! **When to take it:** values of tens of kilobytes among threads that wait for each other anyway, as in a reduction. **When
//! not:** the owner has to go on before all others have read; values of other processes; or short ones, for which two atomic
//! additions for each look cost more than a copy.
//!
//! All windows of some threads make [`Windows`]; each thread [claims](Windows::claim) its own. [`Window::expose`] exposes a slice
//! for as long as a closure runs, and returns after the last reader has left. The slice has two parts. At first the owner *keeps*
//! one, which it alone reads and writes, and exposes the rest. Then it exposes the kept part as well, and then it takes back the
//! rest: so values that were read by others may be replaced by their results. Others [read](Window::read) what is exposed; who
//! comes too early, or too late, finds nothing. How they learn that something is exposed, and the owner that all have read it, is
//! up to them.
//!
//! [`Window::expose_owned`] exposes values for as long as their owner likes, and takes them over for that: a borrowed slice
//! has to be back when a call returns, whatever happens.
//!
//! A reader that panics has left. A reader that is stopped holds up the owner, as the memory is the owner's to free.
//!
//! **Progress:** exposing and reading never wait; taking back waits for the readers that are inside. **Memory ordering:**
//! what the owner wrote before it exposed a part is visible to its readers, and their reads come before what it does after
//! taking it back.
//!
//! ```
//! use corecast_channel::window::{Part, Windows};
//! let windows = Windows::new(2);
//! let (mut mine, theirs) = (windows.claim(0).expect("not claimed"), windows.claim(1).expect("not claimed"));
//! let mut values = [1u64, 2, 3, 4];
//! let sum = mine.expose(7, &mut values, 0..1, |exposure| {
//!     exposure.kept()[0] = 10; // its owner alone has this part
//!     theirs.read(0, Part::Rest, 7, 4, 1..4, |rest: &[u64]| rest.iter().sum::<u64>())
//! });
//! assert_eq!(sum, Ok(Some(9)));
//! assert_eq!(theirs.read(0, Part::Rest, 7, 4, 1..4, |rest: &[u64]| rest.len()), Ok(None), "nothing is exposed any more");
//! ```
//!
//! Source: the windows of one-sided communication in MPI, and the single-copy collectives of G. Katevenis et al., ICPP 2023.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::{fmt, ptr, slice};

use corecast_base::CacheLine;
use corecast_base::sync::{
    Arc, AtomicBool, AtomicU64, Ordering, UnsafeCell, before_read, before_write, spin_hint, yield_now,
};

use crate::Plain;

/// The bit of a gate that says that its part is exposed; the bits above count readers.
const EXPOSED: u64 = 1;
const READER: u64 = 2;
/// The looks for the last reader before the owner gives up its CPU at each.
const LOOKS: u32 = 100;

/// A part of an exposed slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The values that the owner does not keep.
    Rest = 0,
    /// The values that the owner keeps at first.
    Kept = 1,
}

/// The parts of a slice that others may read; the owner has the others for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The rest.
    #[default]
    RestExposed,
    /// Everything.
    AllExposed,
    /// The kept part.
    KeptExposed,
}

impl Stage {
    fn exposes(self, part: Part) -> bool {
        match part {
            Part::Rest => self != Self::KeptExposed,
            Part::Kept => self != Self::RestExposed,
        }
    }
}

/// The difference between an exposed slice and what a reader expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// It has another length.
    Length,
    /// Its values are of another type.
    Type,
}

/// The windows of all threads. Clones are the same windows.
#[derive(Clone)]
pub struct Windows(Arc<Vec<CacheLine<Place>>>);

/// The place where one thread exposes slices.
struct Place {
    is_claimed: AtomicBool,
    /// For each part.
    gates: [AtomicU64; 2],
    /// Written by the owner while no gate is open, and read by readers behind one.
    exposed: UnsafeCell<Exposed>,
}

#[derive(Clone, Copy)]
struct Exposed {
    tag: u64,
    address: *mut (),
    len: usize,
    kept: (usize, usize),
    of: TypeId,
}

// SAFETY: the slice behind the address is plain, so threads may share it; who may touch the description and the values is
// settled by the gates.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Windows {
    /// A window for each of this number of threads, which are numbered from 0.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let nothing = Exposed { tag: 0, address: ptr::null_mut(), len: 0, kept: (0, 0), of: TypeId::of::<()>() };
        let place = || Place {
            is_claimed: AtomicBool::new(false),
            gates: [AtomicU64::new(0), AtomicU64::new(0)],
            exposed: UnsafeCell::new(nothing),
        };
        Self(Arc::new((0..threads).map(|_| CacheLine::new(place())).collect()))
    }

    /// The window of this thread; `None` if there is none, or it was claimed before.
    #[must_use]
    pub fn claim(&self, thread: usize) -> Option<Window> {
        // ORDERING: Relaxed, the claim alone counts: nothing is read behind it, and what its owner did is ordered by the gates
        let is_free = !self.0.get(thread)?.is_claimed.swap(true, Ordering::Relaxed);
        is_free.then(|| Window { windows: self.clone(), thread })
    }
}

impl fmt::Debug for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Windows({})", self.0.len())
    }
}

/// The window of one thread, through which it also reads those of the others.
#[derive(Debug)]
pub struct Window {
    windows: Windows,
    thread: usize,
}

impl Window {
    /// Exposes `values`, but for those that the owner keeps, while `f` runs. `tag` tells readers that they see the slice which
    /// they look for.
    ///
    /// # Panics
    /// If `kept` is no range within the slice.
    pub fn expose<T: Plain, R>(
        &mut self,
        tag: u64,
        values: &mut [T],
        kept: Range<usize>,
        f: impl FnOnce(&mut Exposure<'_, T>) -> R,
    ) -> R {
        let mut closing = Closing { gates: &self.place().gates, stage: Stage::RestExposed };
        let (address, len) = (values.as_mut_ptr(), values.len());
        self.describe(tag, address, len, &kept);
        f(&mut Exposure { window: self, address, len, kept, stage: &mut closing.stage, values: PhantomData })
    }

    /// The same until the end of what is returned.
    ///
    /// # Panics
    /// As for [`expose`](Self::expose).
    #[must_use]
    pub fn expose_owned<T: Plain>(self, tag: u64, mut values: Vec<T>, kept: Range<usize>) -> OwnedExposure<T> {
        let (address, len) = (values.as_mut_ptr(), values.len());
        self.describe(tag, address, len, &kept);
        OwnedExposure { window: self, values: ManuallyDrop::new(values), address, kept, stage: Stage::RestExposed }
    }

    /// Describes a slice and exposes the rest of it. No gate is open and nobody is inside, as the last exposure has ended and
    /// this is the only window here.
    fn describe<T: Plain>(&self, tag: u64, address: *mut T, len: usize, kept: &Range<usize>) {
        assert!(kept.start <= kept.end && kept.end <= len, "{kept:?} is kept of {len} values");
        before_write(address.cast::<u8>(), len * size_of::<T>());
        let exposed =
            Exposed { tag, address: address.cast(), len, kept: (kept.start, kept.end), of: TypeId::of::<T>() };
        // SAFETY: nobody else touches the description, see above.
        self.place().exposed.with_mut(|place| unsafe { *place = exposed });
        open(&self.place().gates[Part::Rest as usize]);
    }

    /// Calls `f` with the values at `places` of the slice of `len` values that this thread exposes. `None` if the part is not
    /// exposed, or the slice has another tag.
    ///
    /// # Errors
    /// [`Differs`] if the slice has this tag and is another one than expected.
    ///
    /// # Panics
    /// If there is no such thread, or `places` are not all within that part.
    #[inline]
    pub fn read<T: Plain, R>(
        &self,
        thread: usize,
        part: Part,
        tag: u64,
        len: usize,
        places: Range<usize>,
        f: impl FnOnce(&[T]) -> R,
    ) -> Result<Option<R>, Differs> {
        let place = &self.windows.0[thread];
        let Some(_inside) = Inside::enter(&place.gates[part as usize]) else {
            return Ok(None);
        };
        place.exposed.with(|exposed| {
            // SAFETY: the owner does not write the description while a part is exposed and somebody is inside.
            let Exposed { tag: found, address, len: found_len, kept, of } = unsafe { *exposed };
            if found != tag {
                return Ok(None);
            }
            if of != TypeId::of::<T>() {
                return Err(Differs::Type);
            }
            if found_len != len {
                return Err(Differs::Length);
            }
            let (start, end) = (places.start, places.end);
            let is_within = match part {
                Part::Kept => start >= kept.0 && end <= kept.1,
                Part::Rest => end <= kept.0 || start >= kept.1 && end <= len,
            };
            assert!(
                start <= end && is_within,
                "{places:?} lie in the {part:?} of {len} values, {kept:?} of which are kept"
            );
            let first = address.cast::<T>().wrapping_add(start);
            before_read(first.cast::<u8>(), (end - start) * size_of::<T>());
            // SAFETY: the places lie within a slice of this type, which outlives the exposure; the owner does not write this part
            // before this reader has left. Plain values may be shared among threads.
            Ok(Some(f(unsafe { slice::from_raw_parts(first, end - start) })))
        })
    }

    fn place(&self) -> &Place {
        &self.windows.0[self.thread]
    }
}

/// A reader behind a gate.
struct Inside<'a>(&'a AtomicU64);

impl<'a> Inside<'a> {
    #[inline]
    fn enter(gate: &'a AtomicU64) -> Option<Self> {
        // ORDERING: Relaxed, only to leave the line alone while nothing is exposed
        if gate.load(Ordering::Relaxed) & EXPOSED == 0 {
            return None;
        }
        // ORDERING: Acquire, pairs with the Release in open: the values are there [window-open]
        let before = gate.fetch_add(READER, Ordering::Acquire);
        let inside = Self(gate);
        (before & EXPOSED != 0).then_some(inside)
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Release, pairs with the Acquire in close: this reader has read [window-left]
        self.0.fetch_sub(READER, Ordering::Release);
    }
}

/// A slice that is exposed, as its owner sees it.
pub struct Exposure<'a, T: Plain> {
    window: &'a Window,
    address: *mut T,
    len: usize,
    kept: Range<usize>,
    stage: &'a mut Stage,
    values: PhantomData<&'a mut [T]>,
}

impl<'a, T: Plain> Exposure<'a, T> {
    /// The stage at hand.
    #[must_use]
    pub fn stage(&self) -> Stage {
        *self.stage
    }

    /// The window, to read others.
    #[must_use]
    pub fn window(&self) -> &'a Window {
        self.window
    }

    /// Goes on to the next stage, from the last one to none: exposes the kept part, or takes back the rest once its last reader
    /// has left.
    pub fn advance(&mut self) {
        let [rest, kept] = &self.window.place().gates;
        match *self.stage {
            Stage::RestExposed => {
                *self.stage = Stage::AllExposed;
                open(kept);
            }
            Stage::AllExposed => {
                close(rest);
                *self.stage = Stage::KeptExposed;
            }
            Stage::KeptExposed => {}
        }
    }

    /// The kept part, before it is exposed.
    ///
    /// # Panics
    /// Afterwards.
    pub fn kept(&mut self) -> &mut [T] {
        assert_eq!(*self.stage, Stage::RestExposed, "the kept part is the owner's until it is exposed");
        let Range { start, end } = self.kept;
        // SAFETY: within the slice that was lent to `expose`; its gate is closed, so nobody else reads it.
        unsafe { slice::from_raw_parts_mut(self.address.wrapping_add(start), end - start) }
    }

    /// The values before and behind the kept part, after they were taken back.
    ///
    /// # Panics
    /// Before that.
    pub fn rest(&mut self) -> [&mut [T]; 2] {
        assert_eq!(*self.stage, Stage::KeptExposed, "the rest is the owner's once it was taken back");
        let Range { start, end } = self.kept;
        // SAFETY: within the slice that was lent to `expose`; the gate of the rest was closed behind its last reader.
        let before = unsafe { slice::from_raw_parts_mut(self.address, start) };
        let first = self.address.wrapping_add(end);
        // SAFETY: as above; these values and those before the kept part do not overlap.
        let behind = unsafe { slice::from_raw_parts_mut(first, self.len - end) };
        [before, behind]
    }
}

/// Values that are exposed until this ends. If it is forgotten, so are they, and they stay exposed.
pub struct OwnedExposure<T: Plain> {
    window: Window,
    /// Not touched while they are exposed, but by this address.
    values: ManuallyDrop<Vec<T>>,
    address: *mut T,
    kept: Range<usize>,
    stage: Stage,
}

// SAFETY: the address is that of the values, which threads may share and hand over, as they are plain.
unsafe impl<T: Plain> Send for OwnedExposure<T> {}

impl<T: Plain> OwnedExposure<T> {
    /// Calls `f` with the exposed values.
    pub fn with<R>(&mut self, f: impl FnOnce(&mut Exposure<'_, T>) -> R) -> R {
        let Self { window, values, address, kept, stage } = self;
        let (address, len, kept) = (*address, values.len(), kept.clone());
        f(&mut Exposure { window, address, len, kept, stage, values: PhantomData })
    }

    /// Takes everything back, once the last reader has left.
    #[must_use]
    pub fn end(self) -> (Window, Vec<T>) {
        let mut this = ManuallyDrop::new(self);
        close_all(&this.window.place().gates, this.stage);
        // SAFETY: moved out once, as what it is moved from is not dropped. The range that stays there has nothing to drop.
        let window = unsafe { ptr::read(&raw const this.window) };
        // SAFETY: nobody reads the values any more, and they are moved out once, as the window.
        let values = unsafe { ManuallyDrop::take(&mut this.values) };
        (window, values)
    }
}

impl<T: Plain> Drop for OwnedExposure<T> {
    fn drop(&mut self) {
        close_all(&self.window.place().gates, self.stage);
        // SAFETY: nobody reads the values any more, and they are dropped once.
        unsafe { ManuallyDrop::drop(&mut self.values) };
    }
}

impl<T: Plain> fmt::Debug for OwnedExposure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnedExposure({} values, {:?} kept, {:?})", self.values.len(), self.kept, self.stage)
    }
}

/// Closes what is open at the end of an exposure.
struct Closing<'a> {
    gates: &'a [AtomicU64; 2],
    stage: Stage,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        close_all(self.gates, self.stage);
    }
}

fn open(gate: &AtomicU64) {
    // ORDERING: Release, pairs with the Acquire in enter: the values, and the description, were written [window-open]
    gate.fetch_or(EXPOSED, Ordering::Release);
}

/// Closes a gate, and waits until the last reader has left.
fn close(gate: &AtomicU64) {
    // ORDERING: Relaxed, readers find the bit in the order of the changes of this word; what they did is ordered below
    gate.fetch_and(!EXPOSED, Ordering::Relaxed);
    let mut looks = 0;
    // ORDERING: Acquire, pairs with the Release of the readers that have left [window-left]
    while gate.load(Ordering::Acquire) != 0 {
        looks += 1;
        if looks < LOOKS { spin_hint() } else { yield_now() }
    }
}

fn close_all([rest, kept]: &[AtomicU64; 2], stage: Stage) {
    if stage.exposes(Part::Rest) {
        close(rest);
    }
    if stage.exposes(Part::Kept) {
        close(kept);
    }
}

impl<T: Plain> fmt::Debug for Exposure<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exposure({} values, {:?} kept, {:?})", self.len, self.kept, self.stage)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;

    fn two() -> (Window, Window) {
        let windows = Windows::new(2);
        assert!(windows.claim(2).is_none(), "there is none");
        let both = (windows.claim(0).expect("free"), windows.claim(1).expect("free"));
        assert!(windows.claim(0).is_none(), "claimed");
        both
    }

    fn first(window: &Window, part: Part, places: Range<usize>) -> Result<Option<u64>, Differs> {
        window.read(0, part, 7, 4, places, |values: &[u64]| values[0])
    }

    #[test]
    fn each_stage_exposes_its_parts_and_gives_the_owner_the_others() {
        let (mut mine, theirs) = two();
        let mut values = [1u64, 2, 3, 4];
        mine.expose(7, &mut values, 1..3, |exposure| {
            assert_eq!((first(&theirs, Part::Rest, 3..4), first(&theirs, Part::Kept, 1..3)), (Ok(Some(4)), Ok(None)));
            exposure.kept()[0] = 20;
            exposure.advance();
            assert_eq!(
                (first(&theirs, Part::Rest, 0..1), first(&theirs, Part::Kept, 1..3)),
                (Ok(Some(1)), Ok(Some(20)))
            );
            exposure.advance();
            assert_eq!((first(&theirs, Part::Rest, 0..1), first(&theirs, Part::Kept, 1..3)), (Ok(None), Ok(Some(20))));
            exposure.rest()[1][0] = 40;
        });
        assert_eq!((first(&theirs, Part::Kept, 1..3), values), (Ok(None), [1, 20, 3, 40]));
    }

    #[test]
    fn owned_values_stay_exposed_until_they_are_taken_back() {
        let (mine, theirs) = two();
        let mut owned = mine.expose_owned(7, vec![1u64, 2, 3, 4], 1..3);
        assert_eq!((first(&theirs, Part::Rest, 3..4), first(&theirs, Part::Kept, 1..3)), (Ok(Some(4)), Ok(None)));
        owned.with(|exposure| {
            exposure.kept()[0] = 20;
            exposure.advance();
        });
        assert_eq!(first(&theirs, Part::Kept, 1..3), Ok(Some(20)));
        let (mine, values) = owned.end();
        assert_eq!((first(&theirs, Part::Kept, 1..3), values), (Ok(None), vec![1, 20, 3, 4]));
        drop(mine.expose_owned(7, vec![5u64; 4], 0..0));
        assert_eq!(first(&theirs, Part::Rest, 0..1), Ok(None));
    }

    #[test]
    fn a_slice_other_than_expected_is_told() {
        let (mut mine, theirs) = two();
        mine.expose(7, &mut [1u64; 4], 0..0, |_| {
            assert_eq!(theirs.read(0, Part::Rest, 8, 4, 0..1, |_: &[u64]| ()), Ok(None));
            assert_eq!(theirs.read(0, Part::Rest, 7, 3, 0..1, |_: &[u64]| ()), Err(Differs::Length));
            assert_eq!(theirs.read(0, Part::Rest, 7, 4, 0..1, |_: &[i64]| ()), Err(Differs::Type));
            assert_eq!(first(&theirs, Part::Rest, 0..1), Ok(Some(1)), "and the window is as it was");
        });
    }

    #[test]
    fn what_is_not_in_the_part_cannot_be_read() {
        let (mut mine, theirs) = two();
        mine.expose(7, &mut [1u64; 4], 1..3, |exposure| {
            exposure.advance();
            for (part, places) in [(Part::Rest, 0..2), (Part::Rest, 2..4), (Part::Rest, 3..5), (Part::Kept, 0..2)] {
                let read = || first(&theirs, part, places.clone());
                assert!(catch_unwind(AssertUnwindSafe(read)).is_err(), "{part:?} {places:?}");
            }
        });
    }

    /// Both the owner and the reader panic; the window stays usable, and the owner waits for the reader.
    #[test]
    fn panics_leave_and_close() {
        let (mut mine, theirs) = two();
        let exposing = || {
            mine.expose(7, &mut [1u64; 4], 0..0, |_| {
                thread::scope(|scope| {
                    let reading = || theirs.read(0, Part::Rest, 7, 4, 0..4, |_: &[u64]| panic!("in a test"));
                    assert!(scope.spawn(reading).join().is_err());
                });
                panic!("in a test")
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(exposing)).is_err());
        assert_eq!(first(&theirs, Part::Rest, 0..1), Ok(None));
        mine.expose(7, &mut [3u64; 4], 0..0, |_| {
            assert_eq!(first(&theirs, Part::Rest, 0..1), Ok(Some(3)));
        });
    }

    /// A reader that finds the slice must not see it change before it has left.
    #[test]
    fn values_stand_still_while_they_are_read() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 20_000 };
        let (mut mine, theirs) = two();
        let reader = thread::spawn(move || {
            for tag in 1..=ROUNDS {
                let whole = |values: &[u64]| values.iter().all(|&value| value == tag);
                assert!(
                    theirs.read(0, Part::Rest, tag, 64, 0..64, whole).expect("they agree").unwrap_or(true),
                    "{tag}"
                );
            }
        });
        let mut values = [0; 64];
        for tag in 1..=ROUNDS {
            values.fill(tag);
            mine.expose(tag, &mut values, 0..0, |_| spin_hint());
        }
        reader.join().expect("all were whole");
    }
}
