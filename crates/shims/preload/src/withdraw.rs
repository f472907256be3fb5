//! [`withdraw`]: exported functions that the loader finds no more.
//!
//! An object that passes a family of functions on is still in the way: each call takes a load and a jump. The loader finds
//! functions by the table of symbols of the objects, one after the other. An entry without an address does not count, so a
//! function whose address is cleared there is looked for in the next object, and calls that are bound from then on go straight to
//! the C library. Those that were bound before still come here.
//!
//! The loader relocates objects in the order of their dependencies, the program last, and lazily bound calls at their first use.
//! An object that withdraws functions while it is relocated itself is out of the way of the program, and of libraries that are
//! bound lazily or opened later; in the way of libraries that were bound at once, before it.
//!
//! *Dropped:* functions that the loader resolves by a call (`STT_GNU_IFUNC`). They would be out of the way of all libraries, but
//! glibc's loader prints a warning where it resolves one in an object that it has not relocated yet.

use std::arch::asm;
use std::ffi::c_char;
use std::ptr;

use corecast_base::sync::{AtomicU64, Ordering};

use crate::start::Text;

/// An entry of the table of symbols: the System V ABI's `Elf64_Sym`.
#[repr(C)]
struct Symbol {
    /// Where its name is in the table of names.
    name: u32,
    kind: u8,
    visibility: u8,
    /// The section that it is in; 0 if it is of another object.
    section: u16,
    /// Its address in the object. Cleared here.
    address: AtomicU64,
    size: u64,
}

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: u64,
}

/// A program header.
#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    start: u64,
    physical: u64,
    size_in_file: u64,
    size: u64,
    alignment: u64,
}

const TABLE_OF_NAMES: u64 = 5;
const TABLE_OF_SYMBOLS: u64 = 6;
const TABLE_OF_HASHES: u64 = 0x6fff_fef5;
const LOADED: u32 = 1;
const EXECUTABLE: u32 = 1;
const WRITABLE: u32 = 2;
/// `Elf64_Ehdr`: where the program headers are, and how many.
const AT_SEGMENTS: usize = 32;
const AT_SEGMENT_COUNT: usize = 56;
const PAGE: usize = 4096;

/// Tables of this object, as the loader uses them.
struct Tables {
    base: *const u8,
    names: *const c_char,
    symbols: *const Symbol,
    hashes: *const u32,
}

/// Hides the functions of this object that `is_withdrawn` picks by their names, and returns how many; none if the table cannot be
/// written. It may run while the loader relocates the object: nothing here calls another library, nor may `is_withdrawn`.
///
/// Only for functions that do nothing but call the ones behind them, from then on until the process ends: other callers have
/// been bound to these, and both kinds may use the same objects.
pub fn withdraw(is_withdrawn: impl Fn(Text) -> bool) -> usize {
    let tables = Tables::of_this_object();
    let count = tables.count();
    if count == 0 || !tables.set_writable(count, true) {
        return 0;
    }
    let mut withdrawn = 0;
    for number in 0..count {
        // SAFETY: below the number of symbols.
        let symbol = unsafe { &*tables.symbols.wrapping_add(number) };
        // SAFETY: a place in the table of names.
        let name = unsafe { Text::at(tables.names.wrapping_add(symbol.name as usize)) };
        if symbol.section != 0 && is_withdrawn(name) {
            // ORDERING: Relaxed, a look-up at this moment sees the function or none, and either will do
            symbol.address.store(0, Ordering::Relaxed);
            withdrawn += 1;
        }
    }
    tables.set_writable(count, false);
    withdrawn
}

impl Tables {
    fn of_this_object() -> Self {
        let (base, mut at): (*const u8, *const Dynamic);
        // SAFETY: the addresses of names that the linker defines in every object.
        unsafe {
            asm!(
                ".hidden __ehdr_start",
                ".hidden _DYNAMIC",
                "lea {base}, [rip + __ehdr_start]",
                "lea {at}, [rip + _DYNAMIC]",
                base = out(reg) base,
                at = out(reg) at,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        let mut tables = Self { base, names: ptr::null(), symbols: ptr::null(), hashes: ptr::null() };
        loop {
            // SAFETY: an entry; the one of kind 0 is the last.
            let entry = unsafe { at.read() };
            match entry.tag {
                0 => return tables,
                TABLE_OF_NAMES => tables.names = tables.address(entry.value).cast(),
                TABLE_OF_SYMBOLS => tables.symbols = tables.address(entry.value).cast(),
                TABLE_OF_HASHES => tables.hashes = tables.address(entry.value).cast(),
                _ => {}
            }
            // SAFETY: not the last one yet.
            at = unsafe { at.add(1) };
        }
    }

    /// The address of what stands in the dynamic section: some loaders add the object's address there, and some do not.
    fn address(&self, value: u64) -> *const u8 {
        let value = value as usize;
        let offset = if value < self.base.addr() { value } else { value - self.base.addr() };
        self.base.wrapping_add(offset)
    }

    /// The number of symbols, which only the table of hashes tells: one more than the last one of its chains. 0 without one.
    fn count(&self) -> usize {
        if self.hashes.is_null() || self.names.is_null() || self.symbols.is_null() {
            return 0;
        }
        // SAFETY: the table begins with the number of buckets, of the first symbol in it, and of words of 8 bytes to skip.
        let word = |at: usize| unsafe { self.hashes.wrapping_add(at).read() } as usize;
        let (buckets, first, skipped) = (word(0), word(1), word(2));
        let chains = 4 + 2 * skipped + buckets;
        let mut last = 0;
        for bucket in 0..buckets {
            last = last.max(word(4 + 2 * skipped + bucket));
        }
        if last < first {
            return 0;
        }
        while word(chains + last - first) & 1 == 0 {
            last += 1;
        }
        last + 1
    }

    /// Makes the pages of the symbols writable, or only readable. False if that fails, and if code lies there.
    fn set_writable(&self, count: usize, is_writable: bool) -> bool {
        let (start, end) = (self.symbols.addr(), self.symbols.wrapping_add(count).addr());
        let Some(flags) = self.flags_at(start) else { return false };
        if flags & (EXECUTABLE | WRITABLE) != 0 {
            return flags & EXECUTABLE == 0;
        }
        let from = start / PAGE * PAGE;
        let rights = libc::PROT_READ | if is_writable { libc::PROT_WRITE } else { 0 };
        protect(from, end - from, rights)
    }

    /// The rights of the part of this object that has this address.
    fn flags_at(&self, address: usize) -> Option<u32> {
        // SAFETY: in the header of the object.
        let offset = unsafe { self.base.wrapping_add(AT_SEGMENTS).cast::<u64>().read() } as usize;
        // SAFETY: in the header of the object.
        let many = unsafe { self.base.wrapping_add(AT_SEGMENT_COUNT).cast::<u16>().read() } as usize;
        let segments = self.base.wrapping_add(offset).cast::<Segment>();
        for number in 0..many {
            // SAFETY: below the number of segments.
            let segment = unsafe { &*segments.wrapping_add(number) };
            let place = address.wrapping_sub(self.base.addr()).wrapping_sub(segment.start as usize);
            if segment.kind == LOADED && place < segment.size as usize {
                return Some(segment.flags);
            }
        }
        None
    }
}

/// `mprotect`, without the C library.
fn protect(start: usize, len: usize, rights: i32) -> bool {
    let result: i64;
    // SAFETY: pages of this object's table of symbols, which stay readable.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") libc::SYS_mprotect => result,
            in("rdi") start,
            in("rsi") len,
            in("rdx") i64::from(rights),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}

const _: () = assert!(size_of::<Symbol>() == 24 && size_of::<Segment>() == 56 && size_of::<Dynamic>() == 16);
