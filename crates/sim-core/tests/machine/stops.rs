//! Threads that are taken off their CPUs, and threads that are killed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corecast_sim_core::{LastStores, Preemption, Report, Run, Thread, Ticks, published, units};

use crate::memory::Line;

/// Units in a microsecond.
const US: u64 = 2100;
const LIMIT: Ticks = units(10_000 * 1000 * US);

fn spawn(run: &mut Run, cpu: usize, body: impl FnOnce(&Thread) + 'static) {
    run.spawn(cpu, 0, body).expect("there is memory");
}

/// Two threads, each on its CPU or both on one: the first stores to two words and stops before its access with this number; the
/// second looks at both for a while. The values that it sees.
fn look_at_stop(access: u64, cpus: [usize; 2]) -> Vec<[u64; 2]> {
    let words = [Line::new().word(), Line::new().word()];
    let seen = Rc::new(RefCell::new(Vec::new()));
    let told = Rc::clone(&seen);
    let mut run = Run::new(&published::opteron_4x12());
    spawn(&mut run, cpus[0], move |me| words.iter().for_each(|&word| me.store(word, 1)));
    spawn(&mut run, cpus[1], move |me| {
        for _ in 0..20 {
            let both = words.map(|word| me.load(word));
            told.borrow_mut().push(both);
            me.work(200 * US);
        }
    });
    run.preempt(Preemption::At { thread: 0, access, time: units(2000 * US) });
    run.finish(LIMIT).expect("they end");
    seen.take()
}

#[test]
fn a_thread_is_stopped_at_the_access_that_is_named() {
    for cpus in [[0, 13], [4, 4]] {
        for (access, at_stop) in [(0, [0, 0]), (1, [1, 0]), (2, [1, 1])] {
            let seen = look_at_stop(access, cpus);
            let stopped = seen.iter().filter(|&&both| both == at_stop).count();
            assert!(stopped >= 8, "access {access} on CPUs {cpus:?}: {seen:?}");
            assert_eq!(seen.last(), Some(&[1, 1]), "it goes on");
        }
    }
}

/// Threads add to a number by a load and a store, in all as often as 3 times 50, with stops at random. The sum, and the report.
fn additions_without_a_lock(seed: Option<u64>) -> (u64, Report) {
    let (line, mut run) = (Line::new(), Run::new(&published::opteron_4x12()));
    let word = line.word();
    for thread in 0..3 {
        spawn(&mut run, thread, move |me| {
            // Alone at their times, unless one is stopped.
            me.work(thread as u64 * 700);
            for _ in 0..50 {
                let value = me.load(word);
                me.store(word, value + 1);
                me.wait_for_stores();
                me.work(2000);
            }
        });
    }
    if let Some(seed) = seed {
        run.preempt(Preemption::Randomly { seed, one_in: 40, longest: units(3000) });
    }
    let report = run.finish(LIMIT).expect("they end");
    (line.value(), report)
}

#[test]
fn stops_at_random_find_a_lost_update_and_repeat_by_their_seed() {
    assert_eq!(additions_without_a_lock(None).0, 150, "without stops they miss each other");
    let outcomes: Vec<_> = (0..10).map(|seed| additions_without_a_lock(Some(seed))).collect();
    assert!(outcomes.iter().any(|(sum, _)| *sum < 150));
    for (seed, outcome) in outcomes.iter().enumerate() {
        assert_eq!(*outcome, additions_without_a_lock(Some(seed as u64)));
        assert_eq!(outcome.1.begun, [100, 100, 100]);
    }
    assert_ne!(outcomes[0].1.end, outcomes[1].1.end, "seeds differ");
}

/// A thread stores to six lines of another CPU, and is killed before its access with this number. The words after the run, and
/// whether it was killed.
fn kill(access: u64, stores: LastStores) -> (Vec<u64>, bool) {
    struct Dropped(Rc<Cell<bool>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let lines: Vec<_> = (0..6).map(|_| Line::new()).collect();
    let (dropped, theirs, mine) = (Rc::new(Cell::new(false)), lines.clone(), lines.clone());
    let mut run = Run::new(&published::opteron_4x12());
    spawn(&mut run, 20, move |me| theirs.iter().for_each(|line| me.store(line.word(), 1)));
    let droppable = Dropped(Rc::clone(&dropped));
    run.spawn(2, units(20_000), move |me| {
        let _droppable = &droppable;
        mine.iter().for_each(|line| me.store(line.word(), 2));
    })
    .expect("there is memory");
    // SAFETY: the thread has on its stack only what it alone accesses.
    unsafe { run.kill_at(1, access, stores) };
    let report = run.finish(LIMIT).expect("the others end");
    let is_killed = report.killed == [1];
    assert_eq!(dropped.get(), !is_killed, "a killed thread drops nothing");
    (lines.iter().map(|line| line.value()).collect(), is_killed)
}

#[test]
fn a_killed_thread_leaves_its_stores_or_loses_the_last_ones() {
    for access in 0..6 {
        let written = |number: usize| if (number as u64) < access { 2 } else { 1 };
        let (landed, is_killed) = kill(access, LastStores::Land);
        assert!(is_killed);
        assert_eq!(landed, (0..6).map(written).collect::<Vec<_>>(), "before access {access}");
        let (lost, is_killed) = kill(access, LastStores::Lost);
        assert!(is_killed);
        // The first one asks for its line at once, and takes effect where that is granted; the others come one cycle after the
        // other, and ask a gap later.
        let first = |number: usize| if number == 0 && access > 0 { 2 } else { 1 };
        assert_eq!(lost, (0..6).map(first).collect::<Vec<_>>(), "before access {access}");
    }
    assert_eq!(kill(6, LastStores::Lost), (vec![2; 6], false), "it has no such access");
}

#[test]
fn the_cpu_of_a_killed_thread_serves_the_others() {
    let (line, mut run) = (Line::new(), Run::new(&published::opteron_4x12()));
    let word = line.word();
    for _ in 0..3 {
        spawn(&mut run, 9, move |me| {
            for _ in 0..10 {
                me.update(word, |value| Some(value + 1));
                me.work(500 * US);
            }
        });
    }
    // SAFETY: the thread has on its stack only what it alone accesses.
    unsafe { run.kill_at(1, 4, LastStores::Lost) };
    let report = run.finish(LIMIT).expect("the others end");
    assert_eq!((line.value(), report.killed, report.begun), (24, vec![1], vec![10, 5, 10]));
}
