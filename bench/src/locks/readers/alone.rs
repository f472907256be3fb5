//! The cost of reading and writing while no other thread does.

use std::hint::black_box;

use corecast::base::Clock;
use corecast::lock::{Domains, Setup};

use super::value::Value;

/// Nanoseconds for a read, and for a write, over `count` of each.
pub(super) fn alone<V: Value>(count: u32, domains: &Domains) -> [f64; 2] {
    let mut setup = Setup::of_threads(1);
    setup.domains = domains.clone();
    let value = V::new(&setup);
    let reader = value.reader();
    let clock = Clock::get();
    let time = |work: &dyn Fn()| {
        let start = clock.ticks_in_order();
        work();
        clock.ns(clock.ticks_in_order().saturating_sub(start)) / f64::from(count)
    };
    let write_ns = time(&|| (0..count).for_each(|_| black_box(&value).add_one()));
    let read_ns = time(&|| {
        (0..count).for_each(|_| {
            black_box(black_box(&value).read(&reader));
        });
    });
    assert_eq!(value.read(&reader), [u64::from(count); 4], "every write has counted");
    [read_ns, write_ns]
}
