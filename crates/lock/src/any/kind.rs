//! The operations on a line, for each algorithm but [`Auto`](crate::Auto), which is the whole line.
//!
//! A lock lies in the line where it fits, and in a box of its own where it does not. An acquisition's node has no frame
//! to lie in, as its unlock is another call: it is boxed, the holder keeps its address in the line, and threads
//! keep boxes for the next time.

use crate::for_each_lock;
use crate::patience::Patience;
use crate::raw::{RawTimed, Setup};
use crate::registry::Algorithm;

use super::{AnyLock, LABEL_AT, spare};

/// Where a line has the address of the node with which it is held; its lock, or the address of that, is before. Written and
/// read by the holder.
const NODE_AT: usize = LABEL_AT - size_of::<*mut ()>();

/// The operations of one algorithm.
pub(super) struct Kind {
    create: fn(&AnyLock, &Setup),
    destroy: unsafe fn(&AnyLock),
    acquire: fn(&AnyLock, Patience) -> bool,
    release: unsafe fn(&AnyLock),
}

macro_rules! define {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        impl Kind {
            /// That of the algorithm with this number; none of [`Auto`](crate::Auto).
            #[inline]
            pub(super) fn of(number: u32) -> Option<&'static Self> {
                match number {
                    auto if auto == Algorithm::Auto as u32 => None,
                    $($number => Some(const { &Self::with::<$lock>() }),)*
                    _ => None,
                }
            }
        }
    };
}

for_each_lock!(define);

impl Kind {
    const fn with<L: RawTimed>() -> Self
    where
        L::Node: 'static,
    {
        Self { create: create::<L>, destroy: destroy::<L>, acquire: acquire::<L>, release: release::<L> }
    }

    /// Makes a free lock in a line that has none.
    pub(super) fn create(&self, line: &AnyLock, setup: &Setup) {
        (self.create)(line, setup);
    }

    /// # Safety
    /// - The line has a lock of this kind, which nobody uses from now on.
    pub(super) unsafe fn destroy(&self, line: &AnyLock) {
        // SAFETY: the caller's promise.
        unsafe { (self.destroy)(line) };
    }

    /// Takes the lock of this kind, if patience suffices.
    #[inline]
    pub(super) fn acquire(&self, line: &AnyLock, patience: Patience) -> bool {
        (self.acquire)(line, patience)
    }

    /// # Safety
    /// - This thread holds the lock, which is of this kind.
    #[inline]
    pub(super) unsafe fn release(&self, line: &AnyLock) {
        // SAFETY: the caller's promise.
        unsafe { (self.release)(line) };
    }
}

/// Whether the lock itself lies in the line.
const fn fits<L>() -> bool {
    size_of::<L>() <= NODE_AT && align_of::<L>() <= align_of::<AnyLock>()
}

/// Where the lock of a line is that has one of this type.
#[inline]
fn place<L>(line: &AnyLock) -> *mut L {
    let room = line.at(0);
    // SAFETY: aligned, as lines are; `create` has put an address there.
    if fits::<L>() { room.cast() } else { unsafe { room.cast::<*mut L>().read() } }
}

fn create<L: RawTimed>(line: &AnyLock, setup: &Setup) {
    let (lock, room) = (L::new(setup), line.at(0));
    if fits::<L>() {
        // SAFETY: the lock fits there, and the line is not shared yet.
        unsafe { room.cast::<L>().write(lock) };
    } else {
        let address = Box::into_raw(Box::new(lock));
        // SAFETY: an address fits there, and the line is not shared yet.
        unsafe { room.cast::<*mut L>().write(address) };
    }
}

/// # Safety
/// - As of [`Kind::destroy`].
unsafe fn destroy<L: RawTimed>(line: &AnyLock) {
    let lock = place::<L>(line);
    if fits::<L>() {
        // SAFETY: made there, and used no more.
        unsafe { lock.drop_in_place() };
    } else {
        // SAFETY: from a box, and used no more.
        drop(unsafe { Box::from_raw(lock) });
    }
}

fn acquire<L: RawTimed>(line: &AnyLock, patience: Patience) -> bool
where
    L::Node: 'static,
{
    // SAFETY: the line's label says that it has a lock of this type.
    let lock = unsafe { &*place::<L>(line) };
    let node = Box::into_raw(spare::take::<L::Node>());
    // SAFETY: from a box, which nobody else knows.
    let brought = unsafe { &*node };
    // SAFETY: the node stays where it is until it is unlocked, and is in no other call.
    if unsafe { patience.acquire(lock, brought) } {
        // SAFETY: aligned and inside the line; only the holder, now this thread, reads and writes there.
        unsafe { line.at(NODE_AT).cast::<*mut L::Node>().write(node) };
        return true;
    }
    // SAFETY: from a box above, and in no queue.
    spare::give(unsafe { Box::from_raw(node) });
    false
}

/// # Safety
/// - As of [`Kind::release`].
unsafe fn release<L: RawTimed>(line: &AnyLock)
where
    L::Node: 'static,
{
    // SAFETY: written when this thread took the lock.
    let node = unsafe { line.at(NODE_AT).cast::<*mut L::Node>().read() };
    // SAFETY: the line's label says that it has a lock of this type.
    let lock = unsafe { &*place::<L>(line) };
    // SAFETY: from a box, and this thread's until it is given back.
    let brought = unsafe { &*node };
    // SAFETY: the lock is held with this node.
    unsafe { lock.unlock(brought) };
    // SAFETY: from a box, and in no queue any more.
    spare::give(unsafe { Box::from_raw(node) });
}
