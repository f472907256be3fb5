//! Rates of the published hash table, and how a simulated machine agrees with them.

use corecast_sim::machine::Machine;
use corecast_sim::{Algorithm, Disturbance, TableLoad, own_work_ns, table};

use crate::agreement::Agreement;

/// The locks with published rates.
pub(crate) const LOCKS: [&str; 7] = ["array", "clh", "hticket", "mcs", "tas", "ticket", "ttas"];
const TICKET: usize = 5;
/// A lock without a published figure.
pub(crate) const NONE: f64 = 0.0;

/// Rates of a machine with a number of buckets.
pub(crate) struct Published {
    pub(crate) buckets: usize,
    /// The entries in a bucket.
    pub(crate) mean: usize,
    /// Threads, and millions of operations in a second by lock; first those of one thread.
    pub(crate) rows: &'static [(usize, [f64; 7])],
}

/// How the machine agrees with these figures. The own work of an operation is fitted on the ticket lock with one thread.
pub(crate) fn agreement(machine: &Machine, figures: &[Published]) -> Agreement {
    let mut agreement = Agreement::default();
    for &Published { buckets, mean, rows } in figures {
        let load = TableLoad {
            threads: 1,
            buckets,
            mean,
            warm_up_us: 150,
            duration_us: 100,
            own_ns: 0,
            seed: 5,
            disturbance: Disturbance::NONE,
        };
        let [(_, alone), rows @ ..] = rows else { panic!("the first row is that of one thread") };
        let own_ns = own_work_ns(machine, lock(LOCKS[TICKET]), load, alone[TICKET]).expect("one thread works alone");
        for &(threads, measured) in rows {
            let known: Vec<usize> = (0..LOCKS.len()).filter(|&at| measured[at] != NONE).collect();
            let load = TableLoad { threads, own_ns, ..load };
            let rate = |&at: &usize| {
                let outcome = table(machine, lock(LOCKS[at]), load);
                outcome.unwrap_or_else(|error| panic!("{}, {threads} threads: {error}", LOCKS[at])).mops()
            };
            let simulated: Vec<f64> = known.iter().map(rate).collect();
            let measured: Vec<f64> = known.iter().map(|&at| measured[at]).collect();
            agreement.compare(&simulated, &measured, 1.5);
        }
    }
    agreement
}

fn lock(name: &str) -> Algorithm {
    name.parse().expect("all locks are built for tests")
}

/// Checks the part of the pairs in order and that of the figures within 1.5, at least, and the mean and the worst loss by choice,
/// at most.
#[track_caller]
pub(crate) fn agrees(agreement: &Agreement, [ordered, within, mean, worst]: [f64; 4]) {
    assert!(agreement.ordered() >= ordered && agreement.within(1.5) >= within, "{agreement:?}");
    let losses = agreement.losses();
    assert!(losses.0 <= mean && losses.1 <= worst, "{losses:?}");
}
