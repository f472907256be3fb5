//! All reader-writer locks: one line each, from which the program's lists and the tests follow.

use super::raw::RawRwLock;
use crate::facts::Facts;
use crate::raw::Setup;

/// Calls `$then!` with every reader-writer lock as `Variant = number: path::to::Type`. A lock keeps its number for ever.
#[macro_export]
macro_rules! for_each_rw_lock {
    ($then:ident) => {
        $then! {
            RwTtas = 1: $crate::RwTtas,
            RwPhase = 2: $crate::RwPhase,
            RwSpread = 3: $crate::RwSpread,
            RwWord = 4: $crate::RwWord,
        }
    };
}

macro_rules! define {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        /// A reader-writer lock by name; [`RwAlgorithm::ALL`] is the registry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum RwAlgorithm {
            $(#[doc = concat!("[`", stringify!($variant), "`](crate::", stringify!($variant), ").")] $variant = $number,)*
        }

        impl RwAlgorithm {
            /// All reader-writer locks.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The description for users.
            #[must_use]
            pub const fn facts(self) -> &'static Facts {
                match self { $(Self::$variant => &<$lock as RawRwLock>::FACTS,)* }
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

for_each_rw_lock!(define);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_names_and_sizes_that_users_were_told() {
        let told = RwAlgorithm::ALL.iter().map(|&lock| (lock as u32, lock.facts().name, lock.len_bytes()));
        let known = [(1, "rw_ttas", 4), (2, "rw_phase", 32), (3, "rw_spread", 128), (4, "rw_word", 4)];
        assert_eq!(told.collect::<Vec<_>>(), known);
    }
}
