//! Locks on simulated machines: they exclude, and queues beat a single word where many CPUs compete.

use std::cmp::Ordering;

use corecast_lock::{Mutex, RawLock, Setup, Tas};
use corecast_sim::machine::{Run, published, units};
use corecast_sim::{
    Algorithm, Contest, ContestOutcome, Disturbance, SimError, TableLoad, contest, corners, order_at_all, table,
};

const CONTEST: Contest = Contest {
    threads: 1,
    locks: 1,
    warm_up_us: 20,
    duration_us: 60,
    inside_ns: 0,
    outside_ns: 100,
    is_steady: false,
    seed: 7,
    disturbance: Disturbance::NONE,
};

fn outcome(algorithm: Algorithm, threads: usize) -> ContestOutcome {
    let machine = published::opteron_4x12();
    contest(&machine, algorithm, Contest { threads, ..CONTEST }).unwrap_or_else(|error| panic!("{algorithm}: {error}"))
}

/// Each contest adds up what its threads did under the lock.
#[test]
fn every_lock_excludes_from_one_thread_to_all_cpus() {
    for &algorithm in Algorithm::ALL {
        for threads in [1, 2, 7, 48] {
            let outcome = outcome(algorithm, threads);
            assert!(outcome.all > 0 && outcome.acquisitions.len() == threads, "{algorithm}, {threads} threads");
        }
    }
}

#[test]
fn a_lock_that_nobody_wants_moves_no_lines() {
    for &algorithm in Algorithm::ALL {
        let outcome = outcome(algorithm, 1);
        assert!(outcome.transfers().is_empty(), "{algorithm}: {:?}", outcome.transfers());
        assert_eq!(outcome.jain(), Some(1.0), "{algorithm}");
        assert!(
            (4.0..10.0).contains(&outcome.mops()),
            "{algorithm}: {} Mops/s with 100 to 150 ns outside",
            outcome.mops()
        );
    }
}

/// Natively a mutex of a build with debug assertions has a word for its holder. On a simulated machine the same options have the
/// same times in every build.
#[test]
fn a_mutex_accesses_what_its_lock_does_in_every_build() {
    let accesses = |acquire: fn()| {
        let mut run = Run::new(&published::opteron_4x12());
        run.spawn(0, 0, move |_| acquire()).expect("there is memory for its stack");
        run.finish(units(1_000_000)).expect("it ends").counts.accesses
    };
    let raw = accesses(|| {
        let lock = Tas::new(&Setup::default());
        // SAFETY: the lock has no nodes, and this thread alone uses it.
        unsafe { lock.lock(&()) };
        // SAFETY: just locked.
        unsafe { lock.unlock(&()) };
    });
    assert!(raw >= 2, "{raw} accesses to take a lock and to free it");
    assert_eq!(accesses(|| Mutex::<(), Tas>::from(()).with(|()| ())), raw);
    assert_eq!(size_of::<Mutex<u64, Tas>>(), size_of::<(Tas, u64)>());
}

/// As on the machine itself (David et al. 2013, figure 5): one word that all poll collapses, and queues hold up.
#[test]
fn queues_hold_up_where_a_word_collapses() {
    let queue = outcome(Algorithm::Mcs, 48);
    for word in [Algorithm::Tas, Algorithm::Ttas, Algorithm::Ticket] {
        let word = outcome(word, 48);
        assert!(queue.mops() > 3.0 * word.mops(), "{} and {} Mops/s", queue.mops(), word.mops());
    }
    assert!(queue.jain() > Some(0.9), "{:?}", queue.jain());
}

#[test]
fn more_threads_than_cpus_are_refused() {
    let machine = published::opteron_4x12();
    for threads in [0, 49] {
        let error = contest(&machine, Algorithm::Mcs, Contest { threads, ..CONTEST }).expect_err("it cannot be");
        assert!(matches!(error, SimError::Threads { cpus: 48, .. }), "{error}");
    }
}

/// Threads that take locks at random run out of nodes again and again at first. The pool, to which threads have left theirs that
/// have ended, is no hot spot.
#[test]
fn clh_is_as_fast_at_the_start_of_many_threads_as_later() {
    let machine = published::opteron_4x12();
    let rate = |warm_up_us| {
        let load = TableLoad {
            threads: 36,
            buckets: 64,
            mean: 12,
            warm_up_us,
            duration_us: 100,
            own_ns: 100,
            seed: 7,
            disturbance: Disturbance::NONE,
        };
        table(&machine, Algorithm::Clh, load).expect("it ends").mops()
    };
    let later = rate(1000);
    let start = rate(10);
    assert!(start > 0.7 * later, "{start} and {later} Mops/s");
}

/// Each thread of 24 has a CPU, and waits for longer than a wake-up is assumed to take: the lock first lets them sleep, and finds
/// out that they are served sooner in a queue. Asleep they had it a tenth as often.
#[test]
fn auto_does_not_let_threads_sleep_that_have_a_cpu_each() {
    for machine in [published::opteron_4x12(), published::xeon_8x10()] {
        let rate = |algorithm, warm_up_us| {
            let contended = Contest { threads: 24, warm_up_us, duration_us: 200, ..CONTEST };
            contest(&machine, algorithm, contended).expect("it ends").mops()
        };
        let (auto, queue) = (rate(Algorithm::Auto, 4000), rate(Algorithm::Mcs, 100));
        assert!(auto > 0.8 * queue, "{}: {auto} and {queue} Mops/s", machine.name());
    }
}

/// The order of two locks is told only where it does not depend on what is assumed of a machine.
#[test]
fn a_queue_beats_a_word_at_all_corners_of_what_is_assumed() {
    let corners = corners(&published::xeon_8x10());
    let rates = |algorithm| -> Vec<f64> {
        let of = |(_, machine): &(String, _)| contest(machine, algorithm, Contest { threads: 40, ..CONTEST });
        corners.iter().map(|corner| of(corner).expect("it ends").mops()).collect()
    };
    let [tas, mcs, clh] = [Algorithm::Tas, Algorithm::Mcs, Algorithm::Clh].map(rates);
    assert_eq!(order_at_all(&mcs, &tas), Some(Ordering::Greater), "{mcs:?} {tas:?}");
    assert_eq!(order_at_all(&mcs, &clh), None, "{mcs:?} {clh:?}");
}
