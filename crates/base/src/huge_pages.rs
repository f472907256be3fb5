//! Asks the kernel for huge pages where memory of the heap is large.

use rustix::mm::{Advice, madvise};

/// The size of a huge page on most processors. Less memory has none.
const HUGE_BYTES: usize = 2 << 20;

/// Asks for huge pages in memory that was not written yet, so that 2 MiB need one page fault and not 512. A kernel that has none to
/// give, or is told to give none, goes on with small ones.
///
/// ```
/// let mut bytes = vec![0; 4 << 20];
/// corecast_base::prefer_huge_pages(&mut bytes);
/// assert!(bytes.iter().all(|&byte| byte == 0));
/// ```
pub fn prefer_huge_pages<T>(memory: &mut [T]) {
    let page = rustix::param::page_size();
    let start: *mut u8 = memory.as_mut_ptr().cast();
    let before = start.align_offset(page);
    let whole = size_of_val(memory).saturating_sub(before) / page * page;
    if whole >= HUGE_BYTES {
        let first = start.wrapping_add(before);
        // SAFETY: whole pages inside a slice that the caller has to itself, and advice that leaves their contents alone.
        let _ = unsafe { madvise(first.cast(), whole, Advice::LinuxHugepage) };
    }
}
