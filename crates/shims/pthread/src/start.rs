//! The constructor of the object.
//!
//! The loader calls it late: libraries that it has started before may have locked mutexes. So the first call of any function of a
//! family chooses for that family, and the constructor for those that were not called. Several threads may choose at once, and
//! all find the same.

use crate::counts::STATISTICS;

extern "C" fn construct() {
    // Before the program binds threads to CPUs.
    crate::cpus::allowed();
    crate::barrier::choose();
    crate::spin::choose();
    locks::choose();
    reader_writer_locks::choose();
    crate::way::leave();
    STATISTICS.tell_at_exit();
}

#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
static CONSTRUCT: extern "C" fn() = construct;

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
use crate::mutex as locks;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
use crate::rw_lock as reader_writer_locks;

/// These locks are served where the layout of the C library's is known; elsewhere nothing of them is exported.
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
mod locks {
    pub(super) fn choose() {}
}
#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
use locks as reader_writer_locks;
