//! The memory of this object: its own, and never the program's.
//!
//! A program's allocator may lock mutexes, which come here; so nothing here may ask it for memory. Blocks of powers of two
//! come from slabs that stay mapped, larger ones from the system. What is asked for is a line or two for a mutex at its first
//! use, so a short lock for each size is enough.
//!
//! The C library's mutexes need no memory. So that a program which sees to its own failed allocations goes on, blocks come from a
//! [`Reserve`] where the system has none left; not those above 32 KiB. When that is used up, too, the process ends with the
//! words of Rust's standard library, "memory allocation of 128 bytes failed": a lock that cannot wait in turn would be none.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr;

use corecast_base::sync::{AtomicUsize, Ordering, UnsafeCell};

use crate::fork::ForkLock;

/// The smallest block, in bytes, as a power of two.
const SMALLEST: u32 = 4;
/// Sizes of blocks: 16 bytes to 32 KiB.
const SIZES: usize = 12;
/// Bytes of a slab, aligned to as many.
const SLAB: usize = 1 << 18;
/// The smallest page, in bytes. Nothing here asks for a larger alignment.
const PAGE: usize = 4096;
/// Bytes of the reserve: some 1,000 mutexes of `auto`, or acquisitions.
const RESERVE: usize = 1 << 18;

/// The blocks of a size.
struct Blocks {
    lock: ForkLock,
    /// The address of the first free block, which has that of the next one; 0 if there is none. Written under the lock.
    free: AtomicUsize,
    /// The address of the rest of the last slab, which is used up at a multiple of its size. Written under the lock.
    rest: AtomicUsize,
}

static BLOCKS: [Blocks; SIZES] =
    [const { Blocks { lock: ForkLock::new(), free: AtomicUsize::new(0), rest: AtomicUsize::new(0) } }; SIZES];

/// Blocks for when the system has no memory left: a part of the object, of which no page takes memory before it is used. Aligned
/// to a page, as the C library before 2.35 aligns no object to more.
#[repr(C, align(4096))]
struct Reserve {
    bytes: UnsafeCell<[u8; RESERVE]>,
    /// The bytes that were handed out. Written by the threads that take some.
    used: AtomicUsize,
}

const _: () = assert!(align_of::<Reserve>() == PAGE);

// SAFETY: each thread writes the bytes that it has taken.
unsafe impl Sync for Reserve {}

static LEFT: Reserve = Reserve { bytes: UnsafeCell::new([0; RESERVE]), used: AtomicUsize::new(0) };

impl Reserve {
    /// A block, aligned to its size, a power of two, at most to a page; null if there is no room.
    #[cold]
    fn take(&self, bytes: usize) -> *mut u8 {
        let end = |used: usize| used.checked_next_multiple_of(bytes)?.checked_add(bytes).filter(|&end| end <= RESERVE);
        // ORDERING: Relaxed, the number is all there is: nobody has used the bytes before
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end) {
            Ok(used) => {
                let first = self.bytes.with_mut(|bytes| bytes.cast::<u8>());
                // SAFETY: within the bytes, as `end` has looked.
                unsafe { first.add(used.next_multiple_of(bytes)) }
            }
            Err(_) => ptr::null_mut(),
        }
    }
}

/// The allocator.
struct Own;

#[cfg_attr(not(test), global_allocator)]
static OWN: Own = Own;

/// The number of the size of a block for this; `None` if that is too large.
fn size_of_block(layout: Layout) -> Option<usize> {
    let bytes = layout.size().max(layout.align()).next_power_of_two();
    let size = bytes.ilog2().saturating_sub(SMALLEST) as usize;
    (size < SIZES).then_some(size)
}

// SAFETY: a block is as large and as aligned as its size, which is not less than what was asked for; it is in the list, in a
// slab's rest or with a caller. Larger ones are mapped for the caller. Those and blocks of the reserve are aligned to a page at
// most, and nothing here asks for more.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match size_of_block(layout) {
            Some(size) => {
                let bytes = 1 << (size as u32 + SMALLEST);
                let block = BLOCKS[size].lock.with(|| BLOCKS[size].take(bytes));
                if block.is_null() { LEFT.take(bytes) } else { block }
            }
            // Pages are aligned enough.
            None => map(layout.size()),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match size_of_block(layout) {
            Some(size) => BLOCKS[size].lock.with(|| BLOCKS[size].give(block)),
            None => unmap(block, layout.size()),
        }
    }
}

impl Blocks {
    /// Each store leaves the list and the rest whole, for a child that finds this half done.
    fn take(&self, bytes: usize) -> *mut u8 {
        // ORDERING: Relaxed, under the lock
        let first = self.free.load(Ordering::Relaxed);
        if first != 0 {
            let block = ptr::with_exposed_provenance_mut::<usize>(first);
            // SAFETY: a free block, which has the address of the next one.
            let next = unsafe { block.read() };
            // ORDERING: Relaxed, under the lock
            self.free.store(next, Ordering::Relaxed);
            return block.cast();
        }
        // ORDERING: Relaxed, under the lock
        let mut rest = self.rest.load(Ordering::Relaxed);
        if rest % SLAB == 0 {
            rest = map_slab();
        }
        if rest == 0 {
            return ptr::null_mut();
        }
        // ORDERING: Relaxed, under the lock
        self.rest.store(rest + bytes, Ordering::Relaxed);
        ptr::with_exposed_provenance_mut(rest)
    }

    fn give(&self, block: *mut u8) {
        let place = block.cast::<usize>();
        // ORDERING: Relaxed, under the lock
        let first = self.free.load(Ordering::Relaxed);
        // SAFETY: the caller's block, which is large enough and used no more.
        unsafe { place.write(first) };
        // ORDERING: Relaxed, under the lock
        self.free.store(place.expose_provenance(), Ordering::Relaxed);
    }
}

/// The address of a new slab; 0 if there is no memory. Twice as much is mapped, and only what is used takes memory.
fn map_slab() -> usize {
    let mapped = map(2 * SLAB);
    if mapped.is_null() { 0 } else { mapped.expose_provenance().next_multiple_of(SLAB) }
}

fn map(bytes: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory.
    let mapped = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if mapped == libc::MAP_FAILED { ptr::null_mut() } else { mapped.cast() }
}

fn unmap(mapped: *mut u8, bytes: usize) {
    // SAFETY: the caller's mapping, used no more.
    unsafe { libc::munmap(mapped.cast(), bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest block, in bytes.
    const LARGEST: usize = 1 << (SMALLEST as usize + SIZES - 1);

    #[test]
    fn blocks_are_aligned_apart_and_used_again() {
        for (size, align) in [(1, 1), (16, 8), (100, 64), (128, 128), (5000, 8), (40_000, 8), (24, 4096)] {
            let layout = Layout::from_size_align(size, align).expect("a layout");
            // SAFETY: the layout has a size.
            let blocks = [(); 100].map(|()| unsafe { OWN.alloc(layout) });
            for (at, &block) in blocks.iter().enumerate() {
                assert!(!block.is_null() && block.addr() % align == 0);
                let is_apart = |other: &*mut u8| *other == block || other.addr().abs_diff(block.addr()) >= size;
                assert!(blocks[at..].iter().all(is_apart));
                // SAFETY: the block is as large.
                unsafe { block.write_bytes(7, size) };
            }
            // SAFETY: allocated above.
            blocks.iter().for_each(|&block| unsafe { OWN.dealloc(block, layout) });
        }
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size.
        let first = unsafe { OWN.alloc(layout) };
        // SAFETY: allocated above.
        unsafe { OWN.dealloc(first, layout) };
        // SAFETY: the layout has a size.
        assert_eq!(unsafe { OWN.alloc(layout) }, first);
    }

    #[test]
    fn the_reserve_has_blocks_apart_until_it_is_used_up() {
        static RESERVE_OF_TEST: Reserve = Reserve { bytes: UnsafeCell::new([0; RESERVE]), used: AtomicUsize::new(0) };
        let (small, large) = (RESERVE_OF_TEST.take(16), RESERVE_OF_TEST.take(LARGEST));
        assert!(!small.is_null() && !large.is_null() && large.addr() % PAGE == 0);
        assert!(large.addr() - small.addr() >= 16);
        let rest: Vec<_> =
            std::iter::repeat_with(|| RESERVE_OF_TEST.take(128)).take_while(|at| !at.is_null()).collect();
        assert_eq!(rest.len(), (RESERVE - 2 * LARGEST) / 128);
        assert!(rest.iter().all(|at| at.addr() >= large.addr() + LARGEST && at.addr() % 128 == 0));
    }

    #[test]
    fn a_slab_that_is_used_up_is_followed_by_another() {
        let layout = Layout::from_size_align(1 << 15, 8).expect("a layout");
        // SAFETY: the layout has a size.
        let blocks = [(); (2 * SLAB) >> 15].map(|()| unsafe { OWN.alloc(layout) });
        let mut addresses = blocks.map(|block| block.addr());
        addresses.sort_unstable();
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] >= 1 << 15));
    }
}
