//! Disturbances of a program's threads: CPUs that they share among themselves or with other programs, moves between CPUs, stops
//! at any access, and the death of one of them.
//!
//! A program takes them as an option, and its outcome says how often threads were stopped and killed.

use corecast_sim_core::{LastStores, Machine, Preemption, Report, Run};
use serde::{Deserialize, Serialize};

use crate::error::SimError;

/// The disturbances of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The threads on each CPU, on which they are put by turns; 0 is 1.
    pub threads_per_cpu: usize,
    /// Threads may move among the CPUs that they were put on.
    pub unpinned: bool,
    /// On the first ones of these CPUs, up to this number, another program computes.
    pub foreign_cpus: usize,
    /// Stops of all threads.
    pub stops: Option<Stops>,
    /// The number of the access before which the last thread is killed, from 0; the stores that wait then take effect. If the
    /// thread ends before it, nothing happens.
    pub kill_at: Option<u64>,
}

/// Stops of threads at random accesses, from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stops {
    /// One access in this number has a stop.
    pub one_in: u64,
    /// The longest stop, in microseconds. Short ones are frequent: half of all are shorter than a 300th of it.
    pub longest_us: u64,
}

/// How the threads of a run were disturbed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbed {
    /// Stops of threads.
    pub stops: u64,
    /// The time of all stops together, in microseconds.
    pub stopped_us: f64,
    /// The number of times that a CPU went from one thread to another.
    pub switches: u64,
    /// The number of times that a thread came to another CPU.
    pub moves: u64,
    /// Threads that were killed.
    pub killed: u64,
}

impl Disturbance {
    /// None: each thread has a CPU, and keeps it until its end.
    pub const NONE: Self = Self { threads_per_cpu: 1, unpinned: false, foreign_cpus: 0, stops: None, kill_at: None };

    /// The CPUs that this number of threads needs: thread `i` is on CPU `i % cpus`.
    #[must_use]
    pub fn cpus(&self, threads: usize) -> usize {
        threads.div_ceil(self.threads_per_cpu.max(1))
    }

    /// The CPUs for this number of threads.
    ///
    /// # Errors
    /// [`SimError::Threads`] if the machine has no room for them, or there are none.
    pub fn cpus_of(&self, machine: &Machine, threads: usize) -> Result<usize, SimError> {
        let cpus = machine.cpus();
        let most = cpus * self.threads_per_cpu.max(1);
        match (1..=most).contains(&threads) {
            true => Ok(self.cpus(threads)),
            false => Err(SimError::Threads { threads, cpus, most }),
        }
    }

    /// Asks for all but the kill, once the threads have been put on their CPUs; for the stops by this seed.
    pub fn apply(&self, run: &mut Run, machine: &Machine, seed: u64) {
        let cpus = run.cpus_in_use();
        if self.unpinned {
            run.let_move(&cpus);
        }
        cpus.iter().take(self.foreign_cpus).for_each(|&cpu| run.foreign(cpu, 0));
        if let Some(Stops { one_in, longest_us }) = self.stops {
            run.preempt(Preemption::Randomly { seed, one_in, longest: machine.ticks(longest_us * 1000) });
        }
    }

    /// Asks for the kill of the last of this number of threads.
    ///
    /// # Safety
    /// - As of [`Run::kill_at`]: once the run is over, nothing accesses what that thread had on its stack.
    pub unsafe fn kill(&self, run: &mut Run, threads: usize) {
        if let Some(access) = self.kill_at {
            // SAFETY: the caller keeps it.
            unsafe { run.kill_at(threads - 1, access, LastStores::Land) };
        }
    }
}

impl Default for Disturbance {
    fn default() -> Self {
        Self::NONE
    }
}

impl Disturbed {
    /// By the report of a run.
    #[must_use]
    pub fn of(machine: &Machine, report: &Report) -> Self {
        Self {
            stops: report.stops,
            stopped_us: machine.ns(report.stopped) / 1000.0,
            switches: report.switches,
            moves: report.moves,
            killed: report.killed.len() as u64,
        }
    }
}

impl std::ops::AddAssign for Disturbed {
    fn add_assign(&mut self, other: Self) {
        self.stops += other.stops;
        self.stopped_us += other.stopped_us;
        self.switches += other.switches;
        self.moves += other.moves;
        self.killed += other.killed;
    }
}
