//! Increments of contended lines on a simulated machine, as `corecast measure coherence` makes them on a real one.
//!
//! All CPUs of some clusters increment lines of one home, each time one at random. The figure is the time from one move of a
//! line between two CPUs to the next, of all lines together: on a real machine a CPU increments a line several times before
//! it is taken away, so times of increments alone do not tell what lines and homes can serve.

use corecast_sim_core::Machine;
use measured_machine::Contended;

use crate::atomics::{AtomicLoad, AtomicOperation, AtomicOutcome, atomics};
use crate::disturbance::Disturbance;
use crate::error::SimError;
use crate::fill::numbered_anew;

/// Lines move so often in the time that counts, if they do it as often as on the real machine.
const MOVES: f64 = 2000.0;
/// The time that counts, at least and at most, in microseconds.
const LEAST_US: f64 = 20.0;
const MOST_US: f64 = 10_000.0;
/// The time before it, as its share.
const WARM_UP: u64 = 2;
/// The pause between two increments of a line that all want, as a share of the least time until all have had it.
const PAUSE: f64 = 0.25;

/// Nanoseconds from one move of a line to the next, for the CPUs and lines of a measured row; `None` if no line moved in the
/// time that counts, which is two thousand times the measured figure, but from 20 us to 10 ms.
///
/// # Errors
/// As of [`atomics`]; [`SimError::Threads`] if the machine has not these CPUs.
pub fn between_moves_ns(
    machine: &Machine,
    row: &Contended,
    measured_ns: f64,
    seed: u64,
) -> Result<Option<f64>, SimError> {
    let (threads, cpus) = (row.cpus.len(), machine.cpus());
    if row.cpus.iter().any(|&cpu| cpu >= cpus) {
        return Err(SimError::Threads { threads, cpus, most: cpus });
    }
    let others = (0..cpus).filter(|cpu| !row.cpus.contains(cpu));
    let order: Vec<usize> = row.cpus.iter().copied().chain(others).collect();
    let machine = numbered_anew(machine, &order).expect("the CPUs of a machine make one");
    let duration_us = (MOVES * measured_ns / 1000.0).clamp(LEAST_US, MOST_US).ceil() as u64;
    let load = AtomicLoad {
        threads,
        words: row.lines as usize,
        warm_up_us: duration_us.div_ceil(WARM_UP),
        duration_us,
        pause_ns: if row.lines == 1 { pause_ns(&machine, threads) } else { 0 },
        is_steady: false,
        seed,
        disturbance: Disturbance::NONE,
    };
    Ok(of_outcome(&atomics(&machine, AtomicOperation::Fai, load)?))
}

/// A line that serves the oldest request would go round in the order of the first requests, which come package by package, so
/// that it hardly ever left one. Pauses that differ mix the CPUs, and are short enough that some always wait.
fn pause_ns(machine: &Machine, threads: usize) -> u64 {
    let nearest = machine.costs().read_modify_write.modified.first().copied().unwrap_or(0);
    (PAUSE * threads as f64 * machine.ns(nearest)) as u64
}

fn of_outcome(outcome: &AtomicOutcome) -> Option<f64> {
    let calls: u64 = outcome.calls.iter().sum();
    let moves = calls as f64 * outcome.transfers().iter().sum::<f64>();
    (moves > 0.0).then(|| outcome.ns / moves)
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::published;

    use super::*;

    fn between(cpus: &[usize], lines: u32, measured_ns: f64) -> Option<f64> {
        let row = Contended { clusters: 1, cpus: cpus.to_vec(), lines, time: 1.0, handed: 1.0 };
        between_moves_ns(&published::xeon_8x10(), &row, measured_ns, 1).expect("it ends")
    }

    #[test]
    fn a_line_of_one_package_moves_in_the_time_of_an_atomic_operation_and_several_move_together() {
        let ns = |cpus: &[usize], lines| between(cpus, lines, 50.0).expect("lines move");
        let one = ns(&[0, 1, 2, 3], 1);
        assert!((one - 120.0 / 2.13).abs() < 1.0, "{one} ns, the table has 120 cycles of 2.13 GHz");
        assert!(ns(&[0, 1, 2, 3], 8) < 0.6 * one, "four CPUs, two lines of eight at a time and more");
        assert_eq!(ns(&[0, 1, 2, 3], 1), ns(&[40, 41, 42, 43], 1), "the CPUs are those of the row");
        assert!(ns(&[0, 10, 20, 30], 1) > 2.0 * one, "in four packages");
    }

    #[test]
    fn nothing_moves_to_a_cpu_alone_and_cpus_are_those_of_the_machine() {
        assert_eq!(between(&[3], 8, 1.0), None);
        let row = Contended { clusters: 1, cpus: vec![0, 80], lines: 1, time: 1.0, handed: 1.0 };
        let error = between_moves_ns(&published::xeon_8x10(), &row, 1.0, 1).expect_err("there are 80");
        assert!(matches!(error, SimError::Threads { cpus: 80, .. }), "{error}");
    }
}
