//! A simulator: nodes, clients and a world that delays, reorders, stops, kills and puts clocks forward and back, all from one seed. When the world has calmed
//! down, each request of a living client has to end.
//!
//! `CORECAST_SIMULATION_SEED=7` runs one seed again; `CORECAST_SIMULATION_SEEDS=100000` runs this many (`ci/replica-long.sh`).

#![allow(clippy::print_stderr, reason = "states, times and seeds")]

#[allow(dead_code, reason = "the model and the simulator each use a part")]
#[path = "../world/mod.rs"]
mod world;

mod calm;
mod group;
mod storm;

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corecast_replica::one_paxos::{Rules, Transport};
use group::Group;

/// The seeds of each transport in a usual run.
const SEEDS: u64 = 300;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn run(transport: Transport, seed: u64, rules: Rules) {
    let mut group = Group::new(transport, seed, rules);
    storm::run(&mut group);
    calm::run(&mut group);
}

fn run_all(transport: Transport) {
    if let Some(seed) = number("CORECAST_SIMULATION_SEED") {
        return run(transport, seed, Rules::ALL);
    }
    for seed in 0..number("CORECAST_SIMULATION_SEEDS").unwrap_or(SEEDS) {
        if let Err(error) = catch_unwind(AssertUnwindSafe(|| run(transport, seed, Rules::ALL))) {
            eprintln!("{transport:?}: CORECAST_SIMULATION_SEED={seed}");
            std::panic::resume_unwind(error);
        }
    }
}

#[test]
fn shared_separate() {
    run_all(Transport::Shared { is_fused: false });
}

#[test]
fn shared_fused() {
    run_all(Transport::Shared { is_fused: true });
}

#[test]
fn messages() {
    run_all(Transport::Messages);
}

/// A joiner that does not bound the trimmed count is left with a hole in its log, and that is noticed.
#[test]
fn a_joiner_that_bounds_nothing_is_found() {
    let rules = Rules { joiners_bound_stable: false, ..Rules::ALL };
    let transport = Transport::Shared { is_fused: false };
    let is_found = |seed| {
        let error = catch_unwind(AssertUnwindSafe(|| run(transport, seed, rules))).err()?;
        error.downcast::<String>().ok().filter(|text| text.contains("I8"))
    };
    let found = (0..SEEDS).find_map(|seed| Some((seed, is_found(seed)?)));
    eprintln!("{found:?}");
    assert!(found.is_some(), "nothing found with {SEEDS} seeds");
}
