//! More threads than CPUs: slices, switches, wake-ups, and load of other programs.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_sim_core::{Costs, Machine, Report, Run, System, Thread, Ticks, published, units};

use crate::memory::Line;

/// Units in a microsecond.
const US: u64 = 2100;
const LIMIT: Ticks = units(10_000 * 1000 * US);

fn system() -> System {
    published::opteron_4x12().costs().system
}

/// The times that threads tell, in microseconds.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Vec<(&'static str, f64)>>>);

impl Told {
    fn tell(&self, name: &'static str, me: &Thread) {
        let now = me.now() as f64 / units(US) as f64;
        self.0.borrow_mut().push((name, now));
    }

    fn time(&self, name: &str) -> f64 {
        self.0.borrow().iter().find(|(told, _)| *told == name).map(|&(_, time)| time).expect("it has told")
    }
}

fn spawn(run: &mut Run, cpu: usize, body: impl FnOnce(&Thread) + 'static) {
    run.spawn(cpu, 0, body).expect("there is memory");
}

#[test]
fn threads_of_a_cpu_compute_in_turns() {
    let mut run = Run::new(&published::opteron_4x12());
    let told = Told::default();
    for name in ["one", "two", "three"] {
        let told = told.clone();
        spawn(&mut run, 5, move |me| {
            me.work(11_000 * US);
            told.tell(name, me);
        });
    }
    let report = run.finish(LIMIT).expect("they end");
    // The first one has 1 ms before the others come, for the first time; then all have slices of 3 ms.
    assert_eq!(report.switches, 12);
    assert_eq!(report.end, 3 * units(11_000 * US) + report.switches * system().switch);
    let times = ["one", "two", "three"].map(|name| told.time(name));
    assert!(times.iter().all(|time| (30_000.0..33_100.0).contains(time)), "{times:?}");
}

/// Thread A waits for a flag that thread B of the same CPU sets. The time at which A has seen it, in microseconds.
fn wait_for_a_neighbour(round: fn(&Thread)) -> f64 {
    let (flag, told) = (Line::new().word(), Told::default());
    let mut run = Run::new(&published::opteron_4x12());
    let seen = told.clone();
    spawn(&mut run, 0, move |me| {
        while me.load(flag) == 0 {
            round(me);
        }
        seen.tell("seen", me);
    });
    spawn(&mut run, 0, move |me| {
        // Longer than the waiter's slices are at first.
        me.work(10);
        me.store(flag, 1);
    });
    run.finish(LIMIT).expect("the flag is set");
    told.time("seen")
}

#[test]
fn a_poller_keeps_its_neighbour_from_running_until_its_slice_ends() {
    let polled = wait_for_a_neighbour(Thread::pause);
    assert!((1000.0..1010.0).contains(&polled), "{polled} us");
    let busy = wait_for_a_neighbour(|me| me.work(10));
    assert!((1000.0..1010.0).contains(&busy), "{busy} us");
    let given = wait_for_a_neighbour(Thread::give_way);
    assert!((3.0..5.0).contains(&given), "two switches take {given} us");
}

#[test]
fn a_poller_that_gives_way_lets_a_thread_in_that_wakes_late() {
    let (flag, told) = (Line::new().word(), Told::default());
    let mut run = Run::new(&published::opteron_4x12());
    let seen = told.clone();
    spawn(&mut run, 0, move |me| {
        while me.load(flag) == 0 {
            me.give_way();
        }
        seen.tell("seen", me);
    });
    run.spawn(0, units(500 * US), move |me| me.store(flag, 1)).expect("there is memory");
    let accesses = run.finish(LIMIT).expect("the flag is set").counts.accesses;
    assert!((502.0..506.0).contains(&told.time("seen")), "{} us", told.time("seen"));
    assert!(accesses < 12, "the poller sleeps meanwhile: {accesses} accesses");
}

/// Thread 0 sleeps on a word, from which thread 1 wakes it after `asleep_us`, from another CPU. Beside the sleeper a third thread
/// computes, if it `shares` its CPU. The time from the call until the sleeper runs, in microseconds.
fn wake(asleep_us: u64, shares: bool) -> f64 {
    let (word, told) = (Line::new().word(), Told::default());
    let mut run = Run::new(&published::opteron_4x12());
    let (woken, waker) = (told.clone(), told.clone());
    spawn(&mut run, 0, move |me| {
        me.sleep_while(word, 0, u64::MAX);
        woken.tell("woken", me);
    });
    spawn(&mut run, 1, move |me| {
        me.work(asleep_us * US);
        waker.tell("call", me);
        me.update(word, |_| Some(1));
        me.wake(word, 1);
    });
    if shares {
        spawn(&mut run, 0, |me| me.work(100_000 * US));
    }
    run.finish(LIMIT).expect("it is woken");
    told.time("woken") - told.time("call")
}

#[test]
fn a_thread_that_is_woken_comes_when_its_cpu_can() {
    let (long, short) = (wake(100, false), wake(10, false));
    assert!((31.0..32.0).contains(&long), "a call of 1 us, and 30: {long} us");
    assert!((16.0..17.0).contains(&short), "the CPU was idle for less than 20 us: {short} us");
    let (early, late) = (wake(500, true), wake(50_000, true));
    assert!((500.0..510.0).contains(&early), "the other one has run for half of its 1 ms: {early} us");
    assert!((2.0..4.0).contains(&late), "the other one has run for long: {late} us");
}

#[test]
fn foreign_load_takes_half_of_a_cpu_and_has_no_end() {
    let mut run = Run::new(&published::opteron_4x12());
    run.foreign(3, 0);
    run.foreign(4, units(50_000 * US));
    spawn(&mut run, 3, |me| me.work(60_000 * US));
    spawn(&mut run, 4, |me| me.work(10_000 * US));
    let report = run.finish(LIMIT).expect("foreign load does not keep a run from ending");
    let ms = |cpu: usize| report.ends[cpu] as f64 / units(1000 * US) as f64;
    assert!((117.0..123.0).contains(&ms(3)), "{} ms", ms(3));
    assert_eq!(ms(4), 10.0, "load that comes later");
}

#[test]
fn stores_take_effect_before_the_next_thread_comes() {
    let words: Vec<_> = (0..8).map(|_| Line::new().word()).collect();
    let mut run = Run::new(&published::xeon_8x10());
    let theirs = words.clone();
    // The lines are another CPU's, far away.
    spawn(&mut run, 40, move |me| theirs.iter().for_each(|&word| me.store(word, 1)));
    let mine = words.clone();
    run.spawn(0, units(10_000), move |me| {
        mine.iter().for_each(|&word| me.store(word, 2));
        me.give_way();
    })
    .expect("there is memory");
    let next = move |me: &Thread| assert!(words.iter().rev().all(|&word| me.load(word) == 2));
    run.spawn(0, units(10_001), next).expect("there is memory");
    run.finish(LIMIT).expect("nothing waits");
}

/// Threads on `cpus` CPUs take a lock of tickets in turns: with more threads than CPUs its holder, and the next one, lose their
/// CPUs to threads that wait.
fn tickets(threads: usize, cpus: usize) -> (Report, u64) {
    let lines = [Line::new(), Line::new(), Line::new()];
    let [next, serving, data] = lines.map(Line::word);
    let mut run = Run::new(&published::xeon_8x10());
    for thread in 0..threads {
        spawn(&mut run, thread % cpus * 7, move |me| {
            for _ in 0..20 {
                let ticket = me.update(next, |ticket| Some(ticket + 1));
                while me.load(serving) != ticket {
                    me.pause();
                }
                let value = me.load(data);
                me.work(300 * US);
                me.store(data, value + 1);
                me.store(serving, ticket + 1);
            }
        });
    }
    let report = run.finish(LIMIT).expect("each ticket is served");
    (report, lines[2].value())
}

#[test]
fn a_ticket_lock_excludes_where_threads_share_cpus_and_runs_repeat() {
    for (threads, cpus) in [(3, 1), (8, 2), (11, 4)] {
        let first = tickets(threads, cpus);
        assert_eq!(first.1, 20 * threads as u64);
        assert_eq!(first, tickets(threads, cpus));
    }
    // A thread that comes too late burns slices of all others: 2.9 ms a round, of which 0.3 are work.
    let (alone, shared) = (tickets(4, 4).0.end, tickets(12, 4).0.end);
    assert!(shared > 6 * alone, "{alone} and {shared}");
}

#[test]
fn a_machine_with_the_most_cpus_runs_a_thread_on_each() {
    let costs = Costs { store_buffer: 4, ..published::xeon_8x10().costs().clone() };
    let locations = vec![corecast_sim_core::Location { package: 0, node: 0 }; corecast_sim_core::MAX_CPUS];
    let machine = Machine::new("large", 1000.0, locations, |_, _| 0, costs).expect("it can be");
    let (line, mut run) = (Line::new(), Run::new(&machine));
    let word = line.word();
    for cpu in 0..machine.cpus() {
        spawn(&mut run, cpu, move |me| _ = me.update(word, |value| Some(value + 1)));
    }
    run.finish(LIMIT).expect("they end");
    assert_eq!(line.value(), 4096);
}
