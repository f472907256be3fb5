//! The cost of taking and freeing a lock that no other thread wants.

use std::hint::black_box;

use corecast::base::Clock;
use corecast::lock::{Domains, Setup};

use super::guarded::Guarded;
use corecast_race::failure::Failure;

/// Nanoseconds for one of `pairs` pairs of acquire and release, by a thread in one of these domains.
pub(super) fn pair_ns<G: Guarded>(pairs: u32, domains: &Domains) -> Result<f64, Failure> {
    G::is_there()?;
    let mut setup = Setup::of_threads(1);
    setup.domains = domains.clone();
    let guarded = G::new(&setup);
    let clock = Clock::get();
    let start = clock.ticks_in_order();
    for _ in 0..pairs {
        black_box(&guarded).with(|line| line.0 += 1);
    }
    let ticks = clock.ticks_in_order().saturating_sub(start);
    let counted = guarded.with(|line| line.0);
    assert_eq!(counted, u64::from(pairs), "every pair has counted");
    Ok(clock.ns(ticks) / f64::from(pairs))
}
