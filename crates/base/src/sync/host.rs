//! The door's part that natively and in models is the same: which thread this is and where it runs, as a thread of a model is
//! one of the host; and the accesses of which only a simulated machine has to hear.
#![cfg_attr(simulated, allow(dead_code, unreachable_pub, reason = "threads of the host ask there only which they are"))]

/// The number that the system gives to this thread; never 0.
#[must_use]
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// The number of the CPU that this thread runs on.
#[must_use]
pub fn cpu() -> u32 {
    u32::try_from(rustix::thread::sched_getcpu()).expect("the kernel numbers CPUs with 32 bits")
}

/// Does nothing; a simulated machine counts the lines of bytes that are about to be read other than by atomics and cells.
#[inline(always)]
pub fn before_read(_first: *const u8, _bytes: usize) {}

/// Does nothing; a simulated machine counts the lines of bytes that are about to be written other than by atomics and cells.
#[inline(always)]
pub fn before_write(_first: *const u8, _bytes: usize) {}

/// Does nothing; a simulated machine lets all stores to bytes that are about to be freed take effect.
#[inline(always)]
pub fn before_free(_first: *const u8, _bytes: usize) {}
