//! The number of this thread, kept where a lock of C reaches it with two instructions.
//!
//! A variable of Rust's `thread_local!` is reached by a call of `__tls_get_addr` from a shared library, as the compiler cannot
//! know that the library is not loaded late: 3 ns at each of a lock and an unlock, which take 5 together without (Zen 4; `auto`
//! 9.3 ns, the C library's mutex 6.4; by a TLS descriptor it was 7.8). On Linux with glibc the number lies in the block that
//! the system gives each thread at its start instead. A library that is loaded late by `dlopen` gets a part of what glibc keeps
//! free for that: 264 bytes of some 1,600.

#[cfg_attr(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)), path = "static_block.rs")]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri))), path = "anywhere.rs")]
mod place;

use corecast::lock::this_thread;

/// The number of this thread if it has kept it, or 0.
#[inline]
pub(crate) fn kept() -> u32 {
    place::get()
}

/// Keeps the number of this thread.
pub(crate) fn keep() {
    place::set(this_thread::number());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_kept_its_own_number_or_none() {
        let kept_by = || {
            let before = kept();
            keep();
            (before, kept() == this_thread::number(), kept())
        };
        let (_, is_mine, mine) = kept_by();
        let (before, is_theirs, theirs) = std::thread::spawn(kept_by).join().expect("no panic");
        assert!(is_mine && is_theirs && before == 0 && mine != theirs && kept() == mine);
    }
}
