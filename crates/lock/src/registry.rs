//! All locks: one line each, from which the program's lists, the conformance tests and the benchmarks follow.

use std::fmt;
use std::str::FromStr;

use crate::facts::Facts;
use crate::raw::{RawLock, Setup};

/// Calls `$then!` with every lock as `Variant = number: path::to::Type`. The numbers are those of the C interface: a lock
/// keeps its own for ever. Those of the feature `hierarchical` come last, if this crate was built with it.
#[macro_export]
macro_rules! for_each_lock {
    ($then:ident) => {
        $crate::with_hierarchical_locks! {
            $then:
            Tas = 1: $crate::Tas,
            Ttas = 2: $crate::Ttas,
            Ticket = 3: $crate::Ticket,
            Array = 4: $crate::Array,
            Mcs = 5: $crate::Mcs,
            Clh = 6: $crate::Clh,
            Word = 7: $crate::Word,
            Auto = 8: $crate::Auto,
            Byte = 9: $crate::Byte,
            Qword = 10: $crate::Qword,
            Hmcs = 11: $crate::Hmcs,
        }
    };
}

/// Calls `$then!` with these locks, and those of the feature.
#[cfg(feature = "hierarchical")]
#[doc(hidden)]
#[macro_export]
macro_rules! with_hierarchical_locks {
    ($then:ident: $($locks:tt)*) => {
        $then! {
            $($locks)*
            Hticket = 12: $crate::Hticket,
            Hclh = 13: $crate::Hclh,
        }
    };
}

/// Calls `$then!` with these locks: those of the feature are not here.
#[cfg(not(feature = "hierarchical"))]
#[doc(hidden)]
#[macro_export]
macro_rules! with_hierarchical_locks {
    ($then:ident: $($locks:tt)*) => {
        $then! { $($locks)* }
    };
}

macro_rules! define {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        /// A lock by name; [`Algorithm::ALL`] is the registry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum Algorithm {
            $(#[doc = concat!("[`", stringify!($variant), "`](crate::", stringify!($variant), ").")] $variant = $number,)*
        }

        impl Algorithm {
            /// All locks.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The description for users.
            #[must_use]
            pub const fn facts(self) -> &'static Facts {
                match self { $(Self::$variant => &<$lock as RawLock>::FACTS,)* }
            }

            /// The lock with this number of the C interface.
            #[must_use]
            pub const fn of_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Bytes of one lock, without what it allocates.
            #[must_use]
            pub const fn len_bytes(self) -> usize {
                match self { $(Self::$variant => size_of::<$lock>(),)* }
            }
        }

        $(impl Default for $lock {
            /// A free lock for the usual number of threads.
            fn default() -> Self {
                Self::new(&Setup::default())
            }
        })*
    };
}

for_each_lock!(define);

impl Algorithm {
    /// The name by which users choose it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no lock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown lock '{name}': expected one of {}", known.join(", "))]
#[non_exhaustive]
pub struct UnknownLock {
    /// The name that was asked for.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl FromStr for Algorithm {
    type Err = UnknownLock;

    fn from_str(name: &str) -> Result<Self, UnknownLock> {
        let known = || Self::ALL.iter().map(|lock| lock.name()).collect();
        let found = Self::ALL.iter().copied().find(|lock| lock.name() == name);
        found.ok_or_else(|| UnknownLock { name: name.to_owned(), known: known() })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_others_are_named_in_the_error() {
        for &lock in Algorithm::ALL {
            assert_eq!(lock.name().parse(), Ok(lock));
            assert_eq!(Algorithm::of_number(lock as u32), Some(lock));
        }
        assert_eq!([0, u32::MAX].map(Algorithm::of_number), [None; 2]);
        let error = "spin".parse::<Algorithm>().expect_err("there is no such lock");
        assert!(error.to_string().starts_with("unknown lock 'spin': expected one of tas, "), "{error}");
    }

    #[test]
    fn the_sizes_that_users_were_told() {
        let sizes = Algorithm::ALL.iter().map(|lock| (lock.name(), lock.len_bytes())).collect::<Vec<_>>();
        assert_eq!(sizes[..3], [("tas", 4), ("ttas", 4), ("ticket", 8)]);
        let told = [("mcs", 8), ("clh", 4), ("word", 4), ("auto", 56), ("byte", 1), ("qword", 8), ("hmcs", 32)];
        assert_eq!(sizes[4..][..told.len()], told);
    }

    #[test]
    fn a_lock_keeps_its_number() {
        let numbers = Algorithm::ALL.iter().map(|&lock| (lock.name(), lock as u32)).collect::<Vec<_>>();
        let told = [("tas", 1), ("array", 4), ("auto", 8), ("byte", 9), ("qword", 10), ("hmcs", 11)];
        assert!(told.iter().all(|lock| numbers.contains(lock)), "{numbers:?}");
        let others = [("hticket", 12), ("hclh", 13)].map(|lock| numbers.contains(&lock));
        assert_eq!(others, [cfg!(feature = "hierarchical"); 2]);
    }
}
