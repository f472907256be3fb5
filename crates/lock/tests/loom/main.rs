//! Models of the locks. Run by `ci/loom.sh`.
//!
//! Two threads add to a value that is no atomic: the model fails if both are inside, or if one misses what the other wrote.
#![cfg(loom)]

use corecast_base::sync::Arc;
use corecast_lock::{Mutex, RawLock, for_each_lock};
use loom::thread;

/// Two threads lock it `times` each; the first by trying where `tries`, as often as it takes.
fn both_add<L: RawLock + 'static>(times: u32, tries: bool) {
    loom::model(move || {
        let mutex: Arc<Mutex<u32, L>> = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&mutex);
        let other = thread::spawn(move || (0..times).for_each(|_| theirs.with(|value| *value += 1)));
        let added = match tries {
            true => u32::from(mutex.try_with(|value| *value += 1).is_some()),
            false => {
                mutex.with(|value| *value += 1);
                1
            }
        };
        other.join().expect("it adds");
        assert_eq!(mutex.with(|value| *value), times + added);
    });
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[allow(non_snake_case, reason = "the registry's names")]
            mod $variant {
                #[test]
                fn two_threads_never_meet_inside() {
                    super::both_add::<$lock>(1, false);
                }

                #[test]
                fn a_try_between_two_sections_of_another_thread() {
                    super::both_add::<$lock>(2, true);
                }
            }
        )*
    };
}

for_each_lock!(every);
