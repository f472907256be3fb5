//! The promises of a sequence lock, with every lock among its writers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_lock::{RawLock, Seq, Setup, for_each_lock};

const WRITERS: usize = 3;
const ROUNDS: u64 = 300;

/// Writers add, readers see whole values that only grow.
fn readers_see_whole_values<L: RawLock>() {
    let seq: Seq<[u64; 9], L> = Seq::for_setup([0; 9], &Setup::of_threads(WRITERS));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                // ORDERING: Relaxed, it ends the test some time
                while !is_over.load(Ordering::Relaxed) {
                    let value = seq.try_read().unwrap_or_else(|| seq.read());
                    assert!(value.iter().all(|&word| word == value[0]), "torn: {value:?}");
                    assert!(value[0] >= last, "{} after {last}", value[0]);
                    last = value[0];
                }
            });
        }
        let seq = &seq;
        let add = move || (0..ROUNDS).for_each(|_| assert!(seq.update(|value| value.map(|word| word + 1))[0] > 0));
        let writers = [(); WRITERS].map(|()| scope.spawn(add));
        writers.into_iter().for_each(|writer| writer.join().expect("nobody panics"));
        // ORDERING: Relaxed, as above
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(seq.into_inner(), [WRITERS as u64 * ROUNDS; 9]);
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $variant() {
                readers_see_whole_values::<$lock>();
            }
        )*
    };
}

for_each_lock!(every);

#[test]
fn a_panic_in_an_update_leaves_the_value_and_lets_others_write() {
    let seq: Seq<u32> = Seq::new(7);
    assert!(catch_unwind(AssertUnwindSafe(|| seq.update(|_| panic!("inside")))).is_err());
    assert_eq!(seq.try_read(), Some(7));
    seq.write(8);
    assert_eq!((seq.read(), seq.update(|value| 2 * value)), (8, 16));
}

#[test]
fn readers_read_the_old_value_during_an_update() {
    let seq: Seq<u32> = Seq::new(7);
    seq.update(|value| {
        thread::scope(|scope| assert_eq!(scope.spawn(|| seq.read()).join().expect("it reads"), 7));
        assert_eq!(seq.try_read(), Some(7));
        value + 1
    });
    assert_eq!(format!("{seq:?}"), "Seq { value: 8, .. }");
}

#[cfg(debug_assertions)]
#[test]
fn an_update_inside_an_update_is_told() {
    let seq: Seq<u32> = Seq::new(7);
    let panic =
        catch_unwind(AssertUnwindSafe(|| seq.update(|value| seq.update(|_| value)))).expect_err("it would wait");
    assert_eq!(panic.downcast_ref(), Some(&"a thread must not lock a mutex that it holds"));
}
