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

/// The time at which a polling loop does something else: looks at a clock, say, or sleeps. Of that only a simulated machine has
/// to hear, whose threads sleep through rounds of a loop in which nothing changes; natively it is nothing.
#[derive(Debug, Clone, Copy)]
pub struct SpinEnd;

impl SpinEnd {
    /// At a time of the clock, in ticks. Natively it is not asked for.
    #[inline(always)]
    pub fn at(_ticks: impl FnOnce() -> u64) -> Self {
        Self
    }

    /// After this time from now on.
    #[inline(always)]
    pub fn after(_time: std::time::Duration) -> Self {
        Self
    }

    /// True on a simulated machine once the time has come: rounds that were slept through are not counted by the loop.
    #[inline(always)]
    pub fn has_come(self) -> bool {
        false
    }
}

/// Does nothing; tells a simulated machine when the loop whose round ends with the next pause does something else.
#[inline(always)]
pub fn spin_until(_end: SpinEnd) {}

/// Does nothing; tells a simulated machine that the address of the next access follows from values that were read before, as that
/// of a place in an array does: the access begins when they have come. Those of pointers are known without it.
#[inline(always)]
pub fn address_follows() {}
