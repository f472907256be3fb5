//! Getting out of the way: functions of families that are not served are withdrawn from the loader.
//!
//! That happens twice. While the loader relocates this object, which is before it binds the program, the environment is looked
//! at without the C library; only plain cases are recognised there. The constructor knows the rest, and can only free the way of
//! calls that are bound later. A family that was withdrawn once is passed on for good.
//!
//! The loader calls a function while it relocates an object if a word of the object is to have the address of a symbol of the
//! kind `STT_GNU_IFUNC`, as what that function returns.

use corecast_preload::Family;

use crate::{chosen, withdrawn};

/// Withdraws what is not served. Called by the constructor.
pub(crate) fn leave() {
    loader::keep();
    let (is_lock, is_barrier) = (chosen::algorithm().is_none(), !withdrawn::serves(Family::Barrier));
    if is_lock || is_barrier {
        loader::withdraw_families(is_lock, is_barrier);
    }
}

/// The object is in the way of nobody in its own tests, and elsewhere the loader is another one.
#[cfg(any(test, not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))))]
mod loader {
    pub(super) fn keep() {}

    pub(super) fn withdraw_families(_is_lock: bool, _is_barrier: bool) {}
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(test)))]
mod loader {
    use corecast_preload::{Family, Text, first_variable, withdraw};

    use crate::withdrawn;

    pub(super) fn withdraw_families(is_lock: bool, is_barrier: bool) {
        withdraw(|name| {
            let name = name.behind(b"__").unwrap_or(name);
            (is_lock && is_of_locks(name)) || (is_barrier && name.behind(b"pthread_barrier_").is_some())
        });
    }

    fn is_of_locks(name: Text) -> bool {
        let begins = |with: &[u8]| name.behind(with).is_some();
        begins(b"pthread_mutex_") || begins(b"pthread_cond_") || begins(b"pthread_rwlock_") || begins(b"pthread_spin_")
    }

    /// Withdraws what is surely not served. Other objects may not be relocated yet: it calls nothing of theirs.
    extern "C" fn leave_early() -> usize {
        let is_off = first_variable(b"CORECAST_SHIM_OFF").is_some_and(|value| !value.is_empty() && !value.is(b"0"));
        let (named, lock) = (first_variable(b"CORECAST_SHIM"), first_variable(b"CORECAST_LOCK"));
        let is_unnamed = |family: &[u8]| named.is_some_and(|names| !names.contains(family));
        let is_passed = lock.is_some_and(|lock| lock.is(b"pthread")) || (named.is_none() && lock.is_none());
        let (is_lock, is_barrier) = (is_off || is_passed || is_unnamed(b"lock"), is_off || is_unnamed(b"barrier"));
        if is_lock || is_barrier {
            let bit = |is_withdrawn: bool, family: Family| if is_withdrawn { family as u32 } else { 0 };
            withdrawn::remember(bit(is_lock, Family::Lock) | bit(is_barrier, Family::Barrier));
            withdraw_families(is_lock, is_barrier);
        }
        0
    }

    // The word, and the symbol whose address it is to have: that of the function above.
    std::arch::global_asm!(
        ".globl corecast_pthread_leave_early",
        ".hidden corecast_pthread_leave_early",
        ".type corecast_pthread_leave_early, @gnu_indirect_function",
        ".set corecast_pthread_leave_early, {leave_early}",
        ".pushsection .data.rel.ro.corecast_pthread_left,\"aw\"",
        ".balign 8",
        ".globl corecast_pthread_left",
        ".hidden corecast_pthread_left",
        "corecast_pthread_left: .quad corecast_pthread_leave_early",
        ".popsection",
        leave_early = sym leave_early,
    );

    unsafe extern "C" {
        #[link_name = "corecast_pthread_left"]
        static LEFT: usize;
    }

    /// Keeps the word in the object, which a linker leaves out if nobody uses it.
    pub(super) fn keep() {
        // SAFETY: the loader has written it.
        let _ = unsafe { std::ptr::from_ref(&LEFT).read_volatile() };
    }
}
