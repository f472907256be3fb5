//! The time of operations of parking_lot, or of what stands in its place: a line for each, with nanoseconds.
//!
//! `docs/measurements` says how the same file is built with parking_lot itself.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use parking_lot::{Condvar, FairMutex, Mutex, RwLock};

/// Prints the time of an operation that each of these threads does `rounds` times; all of them begin together. If there are several,
/// each does some work of its own in between. An argument of the program picks the lines that have it in their names.
fn laps(name: &str, threads: u64, rounds: u64, operation: impl Fn() + Sync) {
    let line = format!("{name}, {threads} threads");
    if std::env::args().nth(1).is_some_and(|only| !line.contains(&only)) {
        return;
    }
    let start = Barrier::new(threads as usize);
    let began = thread::scope(|scope| {
        let run = || {
            start.wait();
            let began = Instant::now();
            for _ in 0..rounds {
                operation();
                if threads > 1 {
                    (0..20).for_each(|at| _ = std::hint::black_box(at));
                }
            }
            began
        };
        let others: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        others.into_iter().map(|other| other.join().expect("no operation panics")).min().expect("a thread")
    });
    println!("{line}: {:.1} ns", began.elapsed().as_nanos() as f64 / (rounds * threads) as f64);
}

fn main() {
    let (mutex, fair, lock) = (Mutex::new(0_u64), FairMutex::new(0_u64), RwLock::new(0_u64));
    laps("mutex", 1, 20_000_000, || *mutex.lock() += 1);
    laps("rwlock, reads", 1, 20_000_000, || assert_eq!(*lock.read(), 0));
    laps("rwlock, writes", 1, 20_000_000, || *lock.write() = 0);
    for threads in [2, 8] {
        laps("mutex", threads, 4_000_000 / threads, || *mutex.lock() += 1);
        laps("rwlock, reads", threads, 4_000_000 / threads, || assert_eq!(*lock.read(), 0));
        laps("rwlock, writes", threads, 2_000_000 / threads, || *lock.write() = 0);
        laps("fair mutex", threads, 200_000 / threads, || *fair.lock() += 1);
    }
    let (turn, changed) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let play = |mine: bool| {
            for _ in 0..50_000 {
                let mut turn = turn.lock();
                while *turn != mine {
                    changed.wait(&mut turn);
                }
                *turn = !mine;
                changed.notify_one();
            }
        };
        let began = Instant::now();
        let other = scope.spawn(move || play(true));
        play(false);
        other.join().expect("it plays");
        println!("condvar, a turn between 2 threads: {:.0} ns", began.elapsed().as_nanos() as f64 / 100_000.0);
    });
}
