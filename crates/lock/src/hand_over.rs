//! The time from one holder to the next, by how threads wait and how many do: measured for [`Params`].
//!
//! To time a number of waiters, that many threads and one more, each on a CPU of its own, take a lock whose mode is pinned. A
//! section lasts for 500 ns, in which the holder before comes back to wait: so all but one wait when the lock is freed. The last
//! holder comes back only once another one has it. The time passes from just before one frees the lock until another one, which
//! had waited, has it; the cost of looking at the clock is taken off. Of each thread the median counts, and of all threads
//! the mean: where the clocks of two CPUs differ, the surplus of one of two threads is the shortfall of the other. Of more
//! threads that holds only as far as each takes the lock from every other one equally often. Blocks of all modes and numbers
//! take turns, and the median of a mode's blocks is the result.
//!
//! CPUs are taken cluster by cluster, those of different cores first: two threads are near each other, and no siblings of a
//! core unless there is nobody else.
//!
//! [`Params`]: crate::Params

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, AtomicU32, Ordering, spin_for};
use corecast_base::wait::Spinner;
use corecast_base::{CacheLine, Clock, CpuId};
use corecast_machine::measure::{MeasureError, Options, Progress, Step};
use corecast_machine::{Cpu, Curve, Machine, pin};

use crate::auto::{Auto, Mode, Params};
use crate::mutex::Mutex;

/// How long each section lasts.
const HOLD: Duration = Duration::from_nanos(500);
/// Blocks of each mode and number of threads.
const ROUNDS: usize = 8;
const BUDGET: Duration = Duration::from_secs(2);
const QUICK_BUDGET: Duration = Duration::from_millis(300);
/// No block is shorter, whatever the budget is: its threads have to start.
const SHORTEST: Duration = Duration::from_millis(2);
/// So often it is looked whether they have.
const STARTING: Duration = Duration::from_micros(100);
/// A block without any hand-over is given up after this.
const PATIENCE: Duration = Duration::from_secs(1);
/// Looks at the clock of which the cheapest tells what one costs.
const LOOKS: usize = 1000;

/// The curves of `lock_hand_over_ns` in a model of this machine, by the names of the modes. Of `options` all but the seed counts;
/// the budget is 2 s, or 300 ms if quick. With one CPU no lock is handed over, and there are no curves.
///
/// ```no_run
/// use corecast_lock::{Params, measure_hand_overs};
/// use corecast_machine::measure::{Options, Silent};
/// # let mut machine = corecast_machine::Machine::from_topology(&corecast_machine::Topology::default());
/// machine.extended.lock_hand_over_ns = measure_hand_overs(&machine, &Options::default(), &mut Silent)?;
/// Params::of(&machine).set_for_process();
/// # Ok::<(), corecast_machine::measure::MeasureError>(())
/// ```
///
/// # Errors
/// If a CPU asked for is not in the machine, a thread cannot be started or bound to its CPU, or the user cancels.
pub fn measure_hand_overs(
    machine: &Machine,
    options: &Options<'_>,
    progress: &mut dyn Progress,
) -> Result<BTreeMap<String, Curve>, MeasureError> {
    let cpus = chosen(machine, options)?;
    let _told = Told::machine(machine);
    let numbers = numbers(cpus.len());
    let cases: Vec<(Mode, usize)> = numbers.iter().flat_map(|&n| Mode::ALL.map(|mode| (mode, n))).collect();
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); cases.len()];
    let total = ROUNDS * cases.len();
    let budget = options.budget.unwrap_or(if options.quick { QUICK_BUDGET } else { BUDGET });
    let time = (budget / u32::try_from(total.max(1)).unwrap_or(u32::MAX)).max(SHORTEST);
    let look = look_ticks();
    for done in 0..total {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        if options.cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            return Err(MeasureError::Cancelled);
        }
        progress.step(&Step { label: "hand-overs of locks", done, total, left: Some(time * (total - done) as u32) });
        let case = done % cases.len();
        let (mode, waiting) = cases[case];
        found[case].extend(Block::new(mode).run(&cpus[..=waiting], time, look)?);
    }
    let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
    for ((mode, waiting), times) in cases.into_iter().zip(found) {
        // A hand-over that took no time by the clock was not measured.
        if let Some(ns) = median(times).filter(|&ns| ns > 0.0) {
            curves.entry(mode.name().to_owned()).or_default().push((waiting as u32, ns));
        }
    }
    Ok(curves)
}

/// While it lives, locks of this process know the machine, by which their queue hands them over; the costs before come back then.
struct Told {
    before: Params,
}

impl Told {
    fn machine(machine: &Machine) -> Self {
        let before = Params::of_process().clone();
        Params::of(machine).set_for_process();
        Self { before }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.before.clone().set_for_process();
    }
}

fn chosen(machine: &Machine, options: &Options<'_>) -> Result<Vec<CpuId>, MeasureError> {
    let usable = machine.cpu_set();
    let wanted = options.cpus.as_ref().unwrap_or(&usable);
    match wanted.difference(&usable).as_slice().first() {
        Some(&cpu) => Err(MeasureError::NotUsable { cpu, usable }),
        None if wanted.is_empty() => Err(MeasureError::NoCpus),
        None => Ok(by_cluster(machine).into_iter().filter(|&cpu| wanted.contains(cpu)).collect()),
    }
}

/// All CPUs, those that share a third-level cache in a row, of which each core has its first CPU before any has its second one.
fn by_cluster(machine: &Machine) -> Vec<CpuId> {
    let sibling = |cpu: &Cpu| {
        let same = |other: &&Cpu| cpu.core.is_some() && other.core == cpu.core && other.package == cpu.package;
        machine.cpus.iter().filter(same).filter(|other| other.id < cpu.id).count()
    };
    let mut cpus: Vec<&Cpu> = machine.cpus.iter().collect();
    cpus.sort_by_cached_key(|cpu| (cpu.package, cpu.numa, cpu.l3, sibling(cpu), cpu.id));
    cpus.into_iter().map(|cpu| cpu.id).collect()
}

/// The numbers of waiters: powers of two, and the number of CPUs less one.
fn numbers(cpus: usize) -> Vec<usize> {
    let most = cpus - 1;
    let mut numbers: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&n| n < most).collect();
    numbers.extend((most > 0).then_some(most));
    numbers
}

/// The cost of a look at the clock, in ticks.
fn look_ticks() -> i64 {
    let clock = Clock::get();
    let one = || clock.ticks_in_order().wrapping_neg().wrapping_add(clock.ticks_in_order()) as i64;
    (0..LOOKS).map(|_| one()).min().unwrap_or(0)
}

/// Some threads at one lock, for a while.
struct Block {
    handed: Mutex<Handed, Auto>,
    /// The present or last holder. Written by holders, polled by the one before.
    taken: CacheLine<AtomicU32>,
    /// How many threads have started. Written by them.
    started: AtomicU32,
    /// Whether anybody has taken the lock from another one. Written by the threads, read by their starter.
    is_handed: AtomicBool,
    /// Whether all should end. Written by the starter, and by a thread that fails.
    stop: AtomicBool,
}

/// Behind the lock.
struct Handed {
    /// The last holder.
    holder: u32,
    /// When that one was about to free it, in ticks.
    freed: u64,
}

impl Block {
    fn new(mode: Mode) -> Self {
        let handed: Mutex<_, Auto> = Mutex::new(Handed { holder: u32::MAX, freed: 0 });
        handed.raw().pin_mode(Some(mode));
        let taken = CacheLine::new(AtomicU32::new(u32::MAX));
        let (is_handed, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { handed, taken, started: AtomicU32::new(0), is_handed, stop }
    }

    /// Nanoseconds of a hand-over among threads on these CPUs; `None` if there was none.
    fn run(&self, cpus: &[CpuId], time: Duration, look: i64) -> Result<Option<f64>, MeasureError> {
        let medians = thread::scope(|scope| {
            let spawn = |(rank, &cpu): (usize, &CpuId)| {
                let take = move || self.start(rank as u32, cpu, cpus.len() as u32);
                let spawned = thread::Builder::new().spawn_scoped(scope, take);
                spawned.map_err(|error| MeasureError::Spawn { cpu, reason: error.to_string() })
            };
            let threads: Result<Vec<_>, MeasureError> = cpus.iter().enumerate().map(spawn).collect();
            if threads.is_ok() {
                self.last(time, cpus.len() as u32);
            }
            self.end();
            let joined = threads?.into_iter().map(|thread| thread.join().expect("no thread of a block panics"));
            joined.collect::<Result<Vec<Option<f64>>, MeasureError>>()
        })?;
        let medians: Vec<f64> = medians.into_iter().flatten().collect();
        let mean = medians.iter().sum::<f64>() / medians.len().max(1) as f64;
        Ok((!medians.is_empty()).then(|| (mean - look as f64) * Clock::get().ns(1)))
    }

    /// Lets the threads run for so long once all have started, and for longer if some have no CPU yet.
    fn last(&self, time: Duration, threads: u32) {
        let start = Instant::now();
        // ORDERING: Relaxed, the count publishes nothing but itself
        while self.started.load(Ordering::Relaxed) < threads && !self.is_over() && start.elapsed() < PATIENCE {
            thread::sleep(STARTING);
        }
        thread::sleep(time);
        // ORDERING: Relaxed, the flag publishes nothing but itself
        while !self.is_handed.load(Ordering::Relaxed) && !self.is_over() && start.elapsed() < PATIENCE {
            thread::sleep(time);
        }
    }

    fn end(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.stop.load(Ordering::Relaxed)
    }

    /// One thread: the median of its hand-overs, in ticks.
    fn start(&self, rank: u32, cpu: CpuId, threads: u32) -> Result<Option<f64>, MeasureError> {
        let _pinned = pin::pin(cpu).map_err(MeasureError::Pin).inspect_err(|_| self.end())?;
        // ORDERING: Relaxed, the count publishes nothing but itself
        self.started.fetch_add(1, Ordering::Relaxed);
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, the count publishes nothing but itself
        while self.started.load(Ordering::Relaxed) < threads && !self.is_over() {
            spinner.pause();
        }
        let mut times = Vec::new();
        while !self.is_over() {
            if let Some(time) = self.take(rank) {
                times.push(time);
                // ORDERING: Relaxed, the flag publishes nothing but itself
                self.is_handed.store(true, Ordering::Relaxed);
            }
            self.wait_for_another(rank);
        }
        Ok(median(times))
    }

    /// Takes the lock for a moment; ticks since it was freed, if another one did that while this one waited.
    fn take(&self, rank: u32) -> Option<f64> {
        let clock = Clock::get();
        let asked = clock.ticks();
        self.handed.with(|handed| {
            let now = clock.ticks_in_order();
            let has_waited = handed.holder != rank && handed.freed > asked;
            let ticks = now.wrapping_sub(handed.freed) as i64;
            handed.holder = rank;
            // ORDERING: Relaxed, it publishes nothing but itself
            self.taken.store(rank, Ordering::Relaxed);
            spin_for(HOLD);
            handed.freed = clock.ticks_in_order();
            has_waited.then_some(ticks as f64)
        })
    }

    fn wait_for_another(&self, rank: u32) {
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, it publishes nothing but itself
        while self.taken.load(Ordering::Relaxed) == rank && !self.is_over() {
            spinner.pause();
        }
    }
}

fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use corecast_machine::measure::Silent;
    use corecast_machine::{Cpu, Topology};

    use super::*;

    fn machine(cpus: impl IntoIterator<Item = CpuId>) -> Machine {
        let cpus = cpus.into_iter().map(Cpu::flat).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn numbers_are_powers_of_two_and_all_but_one() {
        let all = [1, 2, 3, 8, 9, 10].map(numbers);
        assert_eq!(all, [vec![], vec![1], vec![1, 2], vec![1, 2, 4, 7], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 9]]);
    }

    #[test]
    fn cpus_are_taken_cluster_by_cluster_and_siblings_last() {
        // As Linux numbers them: second siblings last, and of packages in turn.
        let cpu = |id: u32| Cpu {
            package: Some(id % 2),
            core: Some(id % 4 / 2),
            l3: Some(id % 2),
            ..Cpu::flat(CpuId::new(id))
        };
        let machine = Machine::from_topology(&Topology { cpus: (0..8).map(cpu).collect(), ..Topology::default() });
        let order = |cpus: Option<&str>| {
            let cpus = cpus.map(|list| list.parse().expect("a list"));
            let found = chosen(&machine, &Options { cpus, ..Options::default() }).expect("they are there");
            found.into_iter().map(CpuId::get).collect::<Vec<_>>()
        };
        assert_eq!(order(None), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(order(Some("1-4")), [2, 4, 1, 3]);
    }

    #[test]
    fn every_mode_has_a_time_for_each_number_and_the_model_takes_them() {
        let mut machine = machine(pin::affinity().expect("told").iter().take(3));
        let options = Options { budget: Some(Duration::from_millis(1)), ..Options::default() };
        let curves = measure_hand_overs(&machine, &options, &mut Silent).expect("measured");
        let expected = numbers(machine.cpus.len());
        for mode in Mode::ALL {
            let found: Vec<usize> = curves.get(mode.name()).into_iter().flatten().map(|&(n, _)| n as usize).collect();
            assert_eq!(found, expected, "{mode}");
        }
        machine.extended.lock_hand_over_ns = curves;
        machine.check().expect("they are costs");
    }

    #[test]
    fn one_cpu_hands_nothing_over_and_others_are_refused() {
        let here = pin::affinity().expect("told").as_slice()[0];
        let measure = |machine: &Machine, options: &Options<'_>| measure_hand_overs(machine, options, &mut Silent);
        assert_eq!(measure(&machine([here]), &Options::default()), Ok(BTreeMap::new()));
        let absent = [60_000, 60_001].map(CpuId::new);
        let refused = measure(&machine(absent), &Options::default());
        assert!(matches!(refused, Err(MeasureError::Pin(_))), "{refused:?}");
        let other = Options { cpus: Some(absent.into_iter().collect()), ..Options::default() };
        assert!(matches!(measure(&machine([here]), &other), Err(MeasureError::NotUsable { .. })));
        let none = Options { cpus: Some([].into_iter().collect()), ..Options::default() };
        assert_eq!(measure(&machine([here]), &none), Err(MeasureError::NoCpus));
        let cancelled = AtomicBool::new(true);
        let options = Options { cancelled: Some(&cancelled), ..Options::default() };
        assert_eq!(measure(&machine(absent), &options), Err(MeasureError::Cancelled));
    }
}
