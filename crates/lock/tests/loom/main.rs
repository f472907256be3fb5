//! Models of the locks. Run by `ci/loom.sh`.
//!
//! Two threads add to a value that is no atomic: the model fails if both are inside, or if one misses what the other wrote.
#![cfg(loom)]

mod auto;
mod byte;
mod byte_condvar;
mod combine;
mod condvar;
mod delegate;
mod destroyed;
mod domains;
mod free_nodes;
mod node_table;
mod once;
mod owned_word;
mod qword;
mod rw;
mod seq;

use corecast_base::sync::Arc;
use corecast_lock::{Mutex, RawLock, for_each_lock};
use loom::thread;

/// Two threads add, one each time it is asked to, and nobody else is inside.
fn both_add<L: RawLock + 'static>(mine: fn(&Mutex<u32, L>) -> u32, theirs: fn(&Mutex<u32, L>) -> u32) {
    loom::model(move || {
        let mutex: Arc<Mutex<u32, L>> = Arc::new(Mutex::from(0));
        let shared = Arc::clone(&mutex);
        let other = thread::spawn(move || theirs(&shared));
        let added = mine(&mutex) + other.join().expect("it adds");
        assert_eq!(mutex.with(|value| *value), added);
    });
}

/// Three threads, so that two may wait in a queue. Where all of them write to the word they wait for, the model has no end.
fn all_add<L: RawLock + 'static>() {
    loom::model(|| {
        let mutex: Arc<Mutex<u32, L>> = Arc::new(Mutex::from(0));
        let others = [0; 2].map(|_| {
            let shared = Arc::clone(&mutex);
            thread::spawn(move || once(&shared))
        });
        let added = once(&mutex) + others.map(|other| other.join().expect("it adds")).iter().sum::<u32>();
        assert_eq!(mutex.with(|value| *value), added);
    });
}

/// Waits for it.
fn once<L: RawLock>(mutex: &Mutex<u32, L>) -> u32 {
    mutex.with(|value| *value += 1);
    1
}

fn twice<L: RawLock>(mutex: &Mutex<u32, L>) -> u32 {
    once(mutex) + once(mutex)
}

/// Takes it if it is free.
fn tries<L: RawLock>(mutex: &Mutex<u32, L>) -> u32 {
    u32::from(mutex.try_with(|value| *value += 1).is_some())
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[allow(non_snake_case, reason = "the registry's names")]
            mod $variant {
                use super::{both_add, once, tries, twice};

                #[test]
                fn two_threads_never_meet_inside() {
                    both_add::<$lock>(once, once);
                }

                #[test]
                fn a_try_between_two_sections_of_another_thread() {
                    both_add::<$lock>(tries, twice);
                    // The model explores other orders where the other one is there first.
                    both_add::<$lock>(twice, tries);
                }
            }
        )*
    };
}

for_each_lock!(every);

macro_rules! three {
    ($($lock:ident)*) => {
        mod three_threads_never_meet_inside {
            $(
                #[test]
                #[allow(non_snake_case, reason = "the registry's names")]
                fn $lock() {
                    super::all_add::<corecast_lock::$lock>();
                }
            )*
        }
    };
}

three!(Ticket Array Mcs Clh Byte Qword);
