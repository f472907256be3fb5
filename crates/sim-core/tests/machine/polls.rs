//! Polling loops sleep, and nobody sees that they do.

use std::cell::Cell;
use std::rc::Rc;

use corecast_sim_core::{Machine, Run, TICKS, Thread, Ticks, published, units};

use crate::memory::Line;

const LIMIT: Ticks = units(1_000_000_000);

/// A flag that CPU 0 sets after `delay`, and CPU 13 polls. With `breaks` each round computes for nothing, so the loop does not
/// sleep. The time at which the poller has seen it, and the accesses of both.
fn flag(delay: u64, breaks: bool) -> (Ticks, u64) {
    let (word, seen) = (Line::new().word(), Rc::new(Cell::new(0)));
    let told = Rc::clone(&seen);
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(0, 0, move |me| {
        me.work(delay);
        me.store(word, 1);
    })
    .expect("there is memory");
    run.spawn(13, 0, move |me| {
        while me.load(word) == 0 {
            if breaks {
                me.work(0);
            }
            me.pause();
        }
        told.set(me.now());
    })
    .expect("there is memory");
    let accesses = run.finish(LIMIT).expect("the flag is set").counts.accesses;
    (seen.get(), accesses)
}

#[test]
fn a_sleeping_loop_sees_a_change_when_a_busy_one_does() {
    for delay in (0..60).map(|step| 1000 + step * 37) {
        let (slept, busy) = (flag(delay, false), flag(delay, true));
        assert_eq!(slept.0, busy.0, "after {delay}");
        assert!(slept.1 < 10 && busy.1 > 15, "{} and {} accesses", slept.1, busy.1);
    }
}

#[test]
fn a_loop_that_reads_the_clock_is_not_much_too_late() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::opteron_4x12()));
    let end = Rc::new(Cell::new(0));
    let told = Rc::clone(&end);
    let deadline = units(1_000_000);
    run.spawn(0, 0, move |me| {
        while me.load(word) == 0 && me.now() < deadline {
            me.pause();
        }
        told.set(me.now());
    })
    .expect("there is memory");
    let accesses = run.finish(LIMIT).expect("it has a limit").counts.accesses;
    assert!(end.get() >= deadline && end.get() <= deadline + deadline / 10, "{}", end.get());
    assert!(accesses < 1000, "{accesses}");
}

/// As a spinner does, which looks at the clock once in 64 rounds, and does something else after 20 us.
#[test]
fn a_loop_that_reads_the_clock_in_some_rounds_comes_to_its_end() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::opteron_4x12()));
    run.spawn(0, 0, move |me| {
        for round in 0_u64.. {
            let is_late = round % 64 == 0 && me.now() > units(42_000);
            if is_late || me.load(word) > 0 {
                return;
            }
            me.pause();
        }
    })
    .expect("there is memory");
    let report = run.finish(LIMIT).expect("it ends by its clock");
    assert!(report.counts.accesses < 1000, "{}", report.counts.accesses);
}

/// Another thread is busy until it hears of the end, so that there is always something left to happen.
#[test]
fn a_loop_that_reads_the_clock_in_every_second_round_is_not_much_too_late() {
    let ([word, end], mut run) = ([Line::new(), Line::new()].map(Line::word), Run::new(&published::opteron_4x12()));
    let seen = Rc::new(Cell::new(0));
    let told = Rc::clone(&seen);
    let deadline = units(100_000);
    run.spawn(0, 0, move |me| {
        while me.load(word) == 0 && me.now() < deadline {
            me.pause();
            let _ = me.load(word);
            me.pause();
        }
        me.store(end, 1);
    })
    .expect("there is memory");
    run.spawn(1, 0, move |me| {
        while me.load(end) == 0 {
            me.work(1000);
        }
        told.set(me.now());
    })
    .expect("there is memory");
    run.finish(LIMIT).expect("one of them sees the time, and the other one that");
    assert!(seen.get() >= deadline && seen.get() <= deadline + deadline / 10, "{}", seen.get());
}

/// Threads on the first `cpus` CPUs take a lock of tickets in turns, `rounds` times each: they poll one word, and the holder's
/// store wakes all. The time, and the sum of what they added under the lock.
fn tickets(machine: &Machine, cpus: usize, rounds: u64) -> (Ticks, u64) {
    let (next, serving, data) = (Line::new().word(), Line::new().word(), Line::new().word());
    let mut run = Run::new(machine);
    for cpu in 0..cpus {
        let body = move |me: &Thread| {
            for _ in 0..rounds {
                let ticket = me.update(next, |ticket| Some(ticket + 1));
                while me.load(serving) != ticket {
                    me.pause();
                }
                let value = me.load(data);
                me.store(data, value + 1);
                me.store(serving, ticket + 1);
            }
        };
        run.spawn(cpu, 0, body).expect("there is memory");
    }
    let end = run.finish(LIMIT).expect("each ticket is served").end;
    let sum = Rc::new(Cell::new(0));
    let (told, mut reader) = (Rc::clone(&sum), Run::new(machine));
    reader.spawn(0, 0, move |me| told.set(me.load(data))).expect("there is memory");
    reader.finish(LIMIT).expect("nothing waits");
    (end, sum.get())
}

#[test]
fn a_ticket_lock_excludes_on_all_cpus() {
    assert_eq!(tickets(&published::xeon_8x10(), 80, 20).1, 80 * 20);
}

/// Gate S3: a thread has the lock again after about 720,000 cycles, say David et al. 2013, figure 3, of one without back-off on
/// 48 CPUs.
#[test]
fn a_ticket_lock_without_back_off_is_as_slow_as_published() {
    let rounds = 40;
    let (end, _) = tickets(&published::opteron_4x12(), 48, rounds);
    let cycles = end as f64 / TICKS as f64 / rounds as f64;
    assert!((0.67..=1.5).contains(&(cycles / 720_000.0)), "{cycles} cycles");
}

/// The store lands, and the other thread's that takes its place is seen.
#[test]
fn a_thread_that_polls_its_own_store_lets_it_land() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::xeon_8x10()));
    run.spawn(0, 0, move |me| {
        me.store(word, 1);
        while me.load(word) == 1 {
            me.pause();
        }
    })
    .expect("there is memory");
    run.spawn(1, 0, move |me| {
        while me.update(word, |value| (value == 1).then_some(2)) != 1 {
            me.pause();
        }
    })
    .expect("there is memory");
    run.finish(units(1_000_000)).expect("it ends");
}

/// Another thread is busy for all the time, so that there is always something left to happen.
#[test]
fn a_loop_that_says_when_it_does_something_else_goes_on_then() {
    let (word, busy, mut run) = (Line::new().word(), Line::new().word(), Run::new(&published::opteron_4x12()));
    let (end, deadline_ns) = (Rc::new(Cell::new(0)), 20_000);
    let told = Rc::clone(&end);
    run.spawn(0, 0, move |me| {
        while me.load(word) == 0 && me.clock_ns() < deadline_ns {
            me.poll_until_ns(deadline_ns);
            me.pause();
        }
        told.set(me.now_ns());
    })
    .expect("there is memory");
    run.spawn(1, 0, move |me| {
        for _ in 0..10_000 {
            me.update(busy, |value| Some(value + 1));
            me.work(100);
        }
    })
    .expect("there is memory");
    let accesses = run.finish(LIMIT).expect("both end").counts.accesses;
    assert!((deadline_ns..deadline_ns + 100).contains(&end.get()), "{} ns", end.get());
    assert!(accesses < 10_010, "it sleeps through its rounds: {accesses} accesses");
}

/// A thread that waits looks by turns at two words of a line, in rounds of its own: as one that waits for a lock looks at the
/// lock's word, and at another one before it looks again. A thread of the same CPU, which keeps the line, writes the first
/// word between two of these looks.
#[test]
fn a_loop_sees_what_another_thread_of_its_cpu_has_written_meanwhile() {
    for (begin, yields) in (0..8).flat_map(|step| (0..3).map(move |yields| (units(100_000 + step * 300), yields))) {
        let [word, other] = Line::new().words();
        let mut run = Run::new(&published::xeon_8x10());
        run.spawn(0, 0, move |me| {
            while me.load(word) == 0 {
                me.give_way();
                let _ = me.load(other);
                me.give_way();
            }
        })
        .expect("there is memory");
        run.spawn(0, begin, move |me| {
            (0..yields).for_each(|_| me.give_way());
            me.store(word, 1);
        })
        .expect("there is memory");
        run.finish(LIMIT).unwrap_or_else(|stopped| panic!("from {begin} on, after {yields} yields: {stopped}"));
    }
}
