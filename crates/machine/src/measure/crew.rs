//! The threads that measure: one per CPU, started once, pinned, asleep while they have nothing to do.
//!
//! A thread that is not measuring must not run at all: on a core with SMT it would steal cycles from its sibling. So
//! tasks come through a channel on which threads sleep, and the thread that called for the measurement sleeps too while
//! they run, and wakes every few milliseconds to check whether it was cancelled.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread::{Builder, Scope};
use std::time::Duration;

use corecast_base::CpuId;
use corecast_base::sync::{AtomicBool, Ordering};

use super::error::MeasureError;
use super::halt::{Halt, Halted};
use crate::pin::{self, PinError};

/// The time between two checks whether the user cancelled.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The work of one thread in one step.
pub(super) type Task<'env, T> = Box<dyn FnOnce() -> Result<T, Halted> + Send + 'env>;
type Job<'env> = Box<dyn FnOnce() + Send + 'env>;

/// One sleeping thread per CPU. They end when it is dropped, and the scope they were started in joins them.
#[derive(Debug)]
pub(super) struct Crew<'env> {
    cpus: &'env [CpuId],
    inboxes: Vec<mpsc::Sender<Job<'env>>>,
    pub(super) halt: &'env Halt,
    cancelled: Option<&'env AtomicBool>,
}

impl<'env> Crew<'env> {
    /// Starts a thread on each CPU. If one cannot be started or pinned, all end.
    pub(super) fn muster<'scope>(
        scope: &'scope Scope<'scope, 'env>,
        cpus: &'env [CpuId],
        halt: &'env Halt,
        cancelled: Option<&'env AtomicBool>,
    ) -> Result<Self, MeasureError> {
        let (report, reports) = mpsc::channel();
        let mut inboxes = Vec::with_capacity(cpus.len());
        for &cpu in cpus {
            let (inbox, jobs) = mpsc::channel::<Job<'env>>();
            let report = report.clone();
            Builder::new()
                .name(format!("corecast-measure-{cpu}"))
                .spawn_scoped(scope, move || work(cpu, &report, &jobs))
                .map_err(|error| MeasureError::Spawn { cpu, reason: error.to_string() })?;
            inboxes.push(inbox);
        }
        for _ in cpus {
            let pinned: Result<(), PinError> = reports.recv().expect("every thread reports before it does anything");
            pinned.map_err(MeasureError::Pin)?;
        }
        Ok(Self { cpus, inboxes, halt, cancelled })
    }

    /// The number of CPUs.
    pub(super) fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Runs each task on the thread at its position, all at once, and returns what they return, in their order.
    pub(super) fn run<T: Send + 'env>(&self, tasks: Vec<(usize, Task<'env, T>)>) -> Result<Vec<T>, MeasureError> {
        self.look()?;
        let (report, reports) = mpsc::channel();
        let count = tasks.len();
        for (order, (position, task)) in tasks.into_iter().enumerate() {
            let (report, halt, cpu) = (report.clone(), self.halt, self.cpus[position]);
            let job = move || {
                let result = catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| {
                    halt.stop(MeasureError::Panicked { cpu, message: message_of(&*panic) });
                    Err(Halted)
                });
                // Nobody listens any more only if the measurement is over.
                let _ = report.send((order, result));
            };
            self.inboxes[position].send(Box::new(job)).expect("the thread serves its inbox until the crew is dropped");
        }
        let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
        for _ in 0..count {
            let (order, result) = self.next_report(&reports);
            results[order] = result.ok();
        }
        results.into_iter().map(|result| result.ok_or_else(|| self.halt.cause())).collect()
    }

    fn next_report<T>(&self, reports: &mpsc::Receiver<T>) -> T {
        loop {
            match reports.recv_timeout(LOOK_INTERVAL) {
                Ok(report) => return report,
                // The threads see it in their waits, give up and report that.
                Err(mpsc::RecvTimeoutError::Timeout) => drop(self.look()),
                Err(mpsc::RecvTimeoutError::Disconnected) => unreachable!("every task reports, even one that panics"),
            }
        }
    }

    /// Ends the measurement if the user cancelled it.
    fn look(&self) -> Result<(), MeasureError> {
        // ORDERING: Relaxed, the thread that set it publishes nothing else with it
        if self.cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            self.halt.stop(MeasureError::Cancelled);
        }
        self.halt.check().map_err(|Halted| self.halt.cause())
    }
}

/// The life of one thread.
fn work(cpu: CpuId, report: &mpsc::Sender<Result<(), PinError>>, jobs: &mpsc::Receiver<Job<'_>>) {
    let pinned = pin::pin(cpu);
    let result = pinned.as_ref().map(|_| ()).map_err(Clone::clone);
    let is_pinned = result.is_ok();
    // Nobody listens any more if another thread could not be pinned.
    if report.send(result).is_ok() && is_pinned {
        jobs.iter().for_each(|job| job());
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("with something that is no text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Vec<CpuId> {
        pin::affinity().expect("own mask").as_slice().to_vec()
    }

    fn patient() -> Halt {
        Halt::new(Duration::from_secs(3600))
    }

    fn with_crew<'e>(
        cpus: &'e [CpuId],
        halt: &'e Halt,
        cancelled: Option<&'e AtomicBool>,
        test: impl FnOnce(&Crew<'e>),
    ) {
        std::thread::scope(|scope| test(&Crew::muster(scope, cpus, halt, cancelled).expect("allowed CPUs")));
    }

    #[test]
    fn each_task_runs_on_its_cpu_and_results_keep_the_order() {
        let (cpus, halt) = (here(), patient());
        with_crew(&cpus, &halt, None, |crew| {
            let task = || -> Task<'_, CpuId> { Box::new(|| Ok(pin::affinity().expect("own mask").as_slice()[0])) };
            let backwards: Vec<usize> = (0..crew.len()).rev().collect();
            let ran_on = crew.run(backwards.iter().map(|&position| (position, task())).collect());
            assert_eq!(ran_on, Ok(backwards.iter().map(|&position| cpus[position]).collect()));
        });
    }

    #[test]
    fn a_panic_ends_those_who_wait_for_it_and_is_told() {
        let (cpus, halt) = ([here()[0]; 2], patient());
        with_crew(&cpus, &halt, None, |crew| {
            let halt = crew.halt;
            let tasks: Vec<(usize, Task<'_, ()>)> =
                vec![(0, Box::new(|| halt.until(|| None))), (1, Box::new(|| panic!("a probe of {} ends", 2)))];
            let error = crew.run(tasks).expect_err("a panic").to_string();
            assert_eq!(error, format!("the measuring thread on CPU {} panicked: a probe of 2 ends", cpus[1]));
        });
    }

    #[test]
    fn cancelling_ends_a_wait_that_would_last_for_ever() {
        let (cpus, halt, cancelled) = ([here()[0]], patient(), AtomicBool::new(false));
        with_crew(&cpus, &halt, Some(&cancelled), |crew| {
            let (halt, cancelled) = (&halt, &cancelled);
            let task: Task<'_, ()> = Box::new(move || {
                cancelled.store(true, Ordering::Relaxed);
                halt.until(|| None)
            });
            assert_eq!(crew.run(vec![(0, task)]), Err(MeasureError::Cancelled));
            assert_eq!(crew.run::<()>(vec![]), Err(MeasureError::Cancelled), "and nothing begins after it");
        });
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_named_and_all_threads_end() {
        let absent = CpuId::new(1023);
        if here().contains(&absent) {
            return;
        }
        let halt = patient();
        let cpus = [here()[0], absent];
        let error = std::thread::scope(|scope| Crew::muster(scope, &cpus, &halt, None).expect_err("absent"));
        assert!(error.to_string().contains("CPU 1023"), "{error}");
    }
}
