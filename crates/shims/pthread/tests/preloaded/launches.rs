//! Many launches: none hangs, and each ends as without the object.

use std::path::PathBuf;
use std::{env, thread};

use corecast_testing::launched::{cannot_launch, numbers};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::object::{LOCKS, output, plain, preloaded, program};

const PROGRAMS: [&str; 7] = ["barrier.c", "mutex.c", "cond.c", "rwlock.c", "fork.c", "heap.c", "standard.cpp"];

/// Every lock meets every program, and every third launch has one CPU for all its threads.
#[test]
fn many_launches_end_and_give_the_same() {
    let built: Vec<PathBuf> = PROGRAMS.iter().filter_map(|source| program(source)).collect();
    if built.len() < PROGRAMS.len() {
        return cannot_launch("a program");
    }
    let mut alone: [Option<Vec<u8>>; PROGRAMS.len()] = Default::default();
    for launch in numbers(14) {
        let program = &built[launch % PROGRAMS.len()];
        let alone = alone[launch % PROGRAMS.len()].get_or_insert_with(|| output(&mut plain(program)).stdout);
        let lock = LOCKS[launch / PROGRAMS.len() % LOCKS.len()];
        let run = || output(&mut preloaded(program, lock));
        let run = || if launch % 3 == 0 { with_one_cpu(run) } else { run() };
        let end = thread::scope(|scope| scope.spawn(run).join());
        assert!(end.is_ok_and(|end| end.stdout == *alone), "launch {launch}: {} with {lock}", program.display());
    }
}

/// Half a thread to four for each CPU, which wait for each other 10,000 times, or `CORECAST_ROUNDS` times. Ten million take
/// minutes on two CPUs that do nothing else:
///
/// ```sh
/// CORECAST_ROUNDS=10000000 cargo test --release -p corecast-shim-pthread many_rounds
/// ```
#[test]
fn many_rounds_of_a_barrier_end() {
    const OF_A_LAUNCH: usize = 100_000;
    let Some(program) = program("barrier.c") else { return cannot_launch("a program") };
    let asked = env::var("CORECAST_ROUNDS").ok().map(|rounds| rounds.parse().expect("CORECAST_ROUNDS is a number"));
    let rounds: usize = asked.unwrap_or(10_000);
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    for halves in [1, 2, 4, 8] {
        let threads = (cpus * halves / 2).clamp(1, 1024).to_string();
        for done in (0..rounds).step_by(OF_A_LAUNCH) {
            let next = OF_A_LAUNCH.min(rounds - done).to_string();
            output(preloaded(&program, "pthread").args(["rounds", &threads, &next]));
        }
    }
}

/// Runs it on one of the CPUs of this thread, which its children inherit.
fn with_one_cpu<R>(run: impl FnOnce() -> R) -> R {
    let all = sched_getaffinity(None).expect("a thread has CPUs");
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).expect("a thread has a CPU");
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).expect("a CPU that it has already");
    run()
}
