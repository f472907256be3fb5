//! The settings of the preload objects, which the environment has.
//!
//! | variable | meaning |
//! |---|---|
//! | `CORECAST_SHIM` | the families that are served, separated by commas; all but `lock` if it is not set |
//! | `CORECAST_LOCK` | the lock to use; if `CORECAST_SHIM` is not set, it also turns the family `lock` on |
//! | `CORECAST_SHIM_ONLY` | a pattern: only executables of which it matches the path or the file name are served |
//! | `CORECAST_SHIM_OFF` | `1`: nothing is served |
//! | `CORECAST_SHIM_STATS` | `1`: what was served is written to the standard error at exit |
//!
//! Children of a program inherit the objects with the environment, hence the pattern. A program that runs with more rights
//! than its caller is not served.

use corecast_base::sync::{AtomicU32, Ordering};

use crate::environment::{is_on, is_privileged, variable, with_executable};
use crate::errno::Errno;
use crate::glob;

/// A group of functions that is served, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Family {
    /// OpenMP's barriers.
    Omp = 1,
    /// `pthread_barrier_*`.
    Barrier = 1 << 1,
    /// `pthread_mutex_*` and what belongs to it.
    Lock = 1 << 2,
    /// MPI's collectives.
    Mpi = 1 << 3,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Omp, Self::Barrier, Self::Lock, Self::Mpi];

    /// The name by which users switch it on.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Omp => "omp",
            Self::Barrier => "barrier",
            Self::Lock => "lock",
            Self::Mpi => "mpi",
        }
    }
}

/// The settings of this process: they do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// A bit for each family that is served, [`COUNTS`], and [`IS_READ`].
    bits: u32,
}

const COUNTS: u32 = 1 << 30;
const IS_READ: u32 = 1 << 31;

impl Settings {
    /// The settings. The first call reads the environment, which makes system calls and nothing else; it may run before the
    /// constructors of the object that it is part of.
    #[inline]
    #[must_use]
    pub fn get() -> Self {
        static BITS: AtomicU32 = AtomicU32::new(0);
        // ORDERING: Relaxed, the bits are all there is to see, and each thread that reads the environment finds the same
        match BITS.load(Ordering::Relaxed) {
            0 => {
                let read = Self::read();
                // ORDERING: Relaxed, as at the access above
                BITS.store(read.bits, Ordering::Relaxed);
                read
            }
            bits => Self { bits },
        }
    }

    /// True if this family is served.
    #[inline]
    #[must_use]
    pub fn serves(self, family: Family) -> bool {
        self.bits & family as u32 != 0
    }

    /// True if what is served is to be counted, and told at exit.
    #[inline]
    #[must_use]
    pub fn counts(self) -> bool {
        self.bits & COUNTS != 0
    }

    #[cold]
    fn read() -> Self {
        let _errno = Errno::keep();
        if is_privileged() || is_on(c"CORECAST_SHIM_OFF") || !is_chosen(variable(c"CORECAST_SHIM_ONLY")) {
            return Self { bits: IS_READ };
        }
        let families = families(variable(c"CORECAST_SHIM"), variable(c"CORECAST_LOCK").is_some());
        let counts = if is_on(c"CORECAST_SHIM_STATS") { COUNTS } else { 0 };
        Self { bits: families | counts | IS_READ }
    }
}

fn is_chosen(pattern: Option<&[u8]>) -> bool {
    let Some(pattern) = pattern else { return true };
    with_executable(|path| {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        glob::matches(pattern, path) || glob::matches(pattern, name)
    })
}

/// The bits of the families that are named. Names that are no family's are for objects that are not here.
fn families(named: Option<&[u8]>, has_lock: bool) -> u32 {
    let is_on = |family: Family| match named {
        Some(names) => names.split(|&byte| byte == b',').any(|name| name.trim_ascii() == family.name().as_bytes()),
        None => has_lock || family != Family::Lock,
    };
    Family::ALL.into_iter().filter(|&family| is_on(family)).map(|family| family as u32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_names_all_are_served_but_locks_only_if_one_is_chosen() {
        let all = Family::ALL.into_iter().map(|family| family as u32).sum::<u32>();
        assert_eq!(families(None, true), all);
        assert_eq!(families(None, false), all & !(Family::Lock as u32));
    }

    #[test]
    fn names_choose_families_and_foreign_ones_nothing() {
        assert_eq!(families(Some(b"omp, lock,later"), false), Family::Omp as u32 | Family::Lock as u32);
        assert_eq!(families(Some(b""), true), 0);
        assert_eq!(families(Some(b"barrier"), true), Family::Barrier as u32);
    }

    #[test]
    fn a_pattern_matches_the_path_or_the_name_of_this_test() {
        assert!(is_chosen(None) && is_chosen(Some(b"corecast_preload-*")) && is_chosen(Some(b"/*/corecast_preload-*")));
        assert!(!is_chosen(Some(b"memcached")));
    }

    #[test]
    fn settings_are_read_once() {
        let settings = Settings::get();
        assert_eq!(settings, Settings::get());
        assert!(settings.bits & IS_READ != 0);
    }
}
