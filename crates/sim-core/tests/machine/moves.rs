//! Threads that may move between CPUs: none is lost, none runs on two CPUs, and none waits while a CPU of its set is idle.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_sim_core::{Machine, Preemption, Random, Report, Run, Stopped, Thread, Ticks, published, units};

use crate::memory::Line;

/// Units in a microsecond.
const US: u64 = 2100;
const LIMIT: Ticks = units(10_000 * 1000 * US);

/// The pieces of work that threads have done: thread, CPU, begin and end.
type Pieces = Rc<RefCell<Vec<(usize, usize, Ticks, Ticks)>>>;

fn machine() -> Machine {
    published::opteron_4x12()
}

/// Works for some pieces of 1 us, each of which it enters.
fn work(me: &Thread, pieces: &Pieces, number: u64) {
    for _ in 0..number {
        let begin = me.now();
        let cpu = me.cpu();
        me.work(US);
        let end = me.now();
        pieces.borrow_mut().push((me.number(), cpu, begin, end));
    }
}

/// The CPU time of these pieces: those that were not interrupted lie one behind the other on each CPU.
fn check_pieces(pieces: &Pieces) -> usize {
    let mut whole: Vec<_> =
        pieces.borrow().iter().copied().filter(|(.., begin, end)| end - begin == units(US)).collect();
    whole.sort_unstable_by_key(|&(_, cpu, begin, _)| (cpu, begin));
    for pair in whole.windows(2).filter(|pair| pair[0].1 == pair[1].1) {
        assert!(pair[0].3 <= pair[1].2, "two threads on one CPU at a time: {pair:?}");
    }
    whole.len()
}

/// Threads that all begin on the first of these CPUs and work for this number of milliseconds on them.
fn from_one_cpu(cpus: &[usize], threads: usize, ms: u64, foreign: Option<usize>) -> Report {
    let (mut run, pieces) = (Run::new(&machine()), Pieces::default());
    for _ in 0..threads {
        let pieces = Rc::clone(&pieces);
        run.spawn(cpus[0], 0, move |me| work(me, &pieces, ms * 1000)).expect("there is memory");
    }
    run.let_move(cpus);
    foreign.into_iter().for_each(|cpu| run.foreign(cpu, 0));
    let report = run.finish(LIMIT).expect("all threads end");
    assert_eq!(pieces.borrow().len() as u64, threads as u64 * ms * 1000, "none is lost");
    let whole = check_pieces(&pieces);
    assert!(whole as u64 > threads as u64 * (ms * 1000 - 40), "{whole} pieces were not interrupted");
    report
}

/// The end of a run in milliseconds.
fn end_ms(report: &Report) -> f64 {
    report.end as f64 / units(1000 * US) as f64
}

#[test]
fn threads_of_one_cpu_spread_over_idle_ones() {
    for threads in 1..=4 {
        let report = from_one_cpu(&[3, 4, 20, 40], threads, 8, None);
        assert!((8.0..8.01).contains(&end_ms(&report)), "{threads} threads: {} ms", end_ms(&report));
        assert_eq!(report.moves, threads as u64 - 1);
    }
    let report = from_one_cpu(&[3, 4], 4, 8, None);
    // The last one may be alone for the rest of a slice.
    assert!((16.0..18.0).contains(&end_ms(&report)), "{} ms", end_ms(&report));
    let three = end_ms(&from_one_cpu(&[3, 4], 3, 8, None));
    assert!((12.0..14.0).contains(&three), "{three} ms: a CPU that is idle takes a thread that waits");
}

#[test]
fn a_thread_leaves_a_cpu_that_another_program_loads() {
    let report = from_one_cpu(&[0, 1], 1, 20, Some(0));
    assert!(report.moves == 1 && end_ms(&report) < 20.1, "{} ms, {} moves", end_ms(&report), report.moves);
    assert!(report.ends[0] == 0 && report.ends[1] > 0, "the other program stays: {:?}", report.ends);
    let alone = from_one_cpu(&[0], 1, 20, Some(0));
    assert!(alone.moves == 0 && end_ms(&alone) > 33.0, "{} ms", end_ms(&alone));
}

#[test]
fn a_woken_thread_goes_to_an_idle_cpu_and_finds_its_stores_and_lines() {
    let (word, own) = (Line::new().word(), Line::new().word());
    let mut run = Run::new(&machine());
    let cpus = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&cpus);
    run.spawn(0, 0, move |me| {
        me.store(own, 7);
        me.sleep_while(word, 0, u64::MAX);
        seen.borrow_mut().push(me.cpu());
        assert_eq!(me.load(own), 7);
    })
    .expect("there is memory");
    // It begins while the other one sleeps, and keeps its CPU.
    run.spawn(0, units(50 * US), |me| me.work(10_000 * US)).expect("there is memory");
    run.spawn(13, 0, move |me| {
        me.work(200 * US);
        me.update(word, |_| Some(1));
        me.wake(word, 1);
        me.work(10_000 * US);
    })
    .expect("there is memory");
    run.let_move(&[0, 13, 14, 1]);
    let report = run.finish(LIMIT).expect("it is woken");
    assert_eq!(*cpus.borrow(), [1], "the nearest idle CPU");
    assert_eq!(report.moves, 1);
    assert!(report.counts.transfers[0] > 0, "its line comes from the CPU that it was on: {:?}", report.counts);
}

/// A thread is stopped with stores under way, while another CPU becomes idle: it comes there once they have taken effect.
#[test]
fn a_thread_moves_once_its_stores_have_taken_effect() {
    // A switch would hide the time of the stores.
    let mut costs = machine().costs().clone();
    costs.system.switch = 0;
    let machine = machine().with_costs(costs).expect("all times are there");
    let moves = |other: u64| {
        let lines: Vec<_> = (0..30).map(|_| Line::new().word()).collect();
        let mut run = Run::new(&machine);
        let body = move |me: &Thread| {
            lines.iter().for_each(|&line| me.store(line, 7));
            assert!(lines.iter().rev().all(|&line| me.load(line) == 7), "its own stores are lost to it");
        };
        run.spawn(0, 0, body).expect("there is memory");
        run.spawn(1, 0, move |me| me.work(other)).expect("there is memory");
        run.let_move(&[0, 1]);
        run.preempt(Preemption::At { thread: 0, access: 30, time: units(20) });
        run.finish(LIMIT).expect("both end").moves
    };
    assert!((0..2000).step_by(40).map(moves).sum::<u64>() < 50);
}

/// Six threads with stores, sleeps, calls that give way and stops, on three CPUs.
fn mixed(seed: u64, pieces: &Pieces) -> Result<Report, Stopped> {
    let lines: Vec<_> = (0..6).map(|_| Line::new().word()).collect();
    let sum = Line::new().word();
    let mut run = Run::new(&machine());
    for thread in 0..6 {
        let (pieces, lines, mut random) = (Rc::clone(pieces), lines.clone(), Random::new(seed, thread));
        let body = move |me: &Thread| {
            for number in 1..=40 {
                me.store(lines[thread], number);
                work(me, &pieces, 1 + random.below(30));
                assert_eq!(me.load(lines[thread]), number, "a thread finds its own store");
                match random.below(3) {
                    0 => me.sleep_until(me.now() + units(random.below(50) * US)),
                    1 => me.give_way(),
                    _ => drop(me.update(sum, |sum| Some(sum + 1))),
                }
            }
        };
        run.spawn(thread % 2, 0, body).expect("there is memory");
    }
    run.let_move(&[0, 1, 30]);
    run.foreign(1, 0);
    run.preempt(Preemption::Randomly { seed, one_in: 20, longest: units(100 * US) });
    run.finish(LIMIT)
}

#[test]
fn threads_that_sleep_give_way_and_are_stopped_all_come_to_their_ends_in_the_same_way_each_time() {
    for seed in 0..20 {
        let pieces = Pieces::default();
        let report = mixed(seed, &pieces).unwrap_or_else(|stopped| panic!("seed {seed}: {stopped}"));
        assert!(report.moves >= 5, "seed {seed}: {} moves", report.moves);
        check_pieces(&pieces);
        let again = mixed(seed, &Pieces::default()).expect("as before");
        let figures = |report: &Report| (report.end, report.moves, report.switches, report.begun.clone());
        assert_eq!(figures(&again), figures(&report), "seed {seed}");
    }
}

#[test]
fn threads_share_cpus_if_there_are_more_of_them_than_cpus() {
    let shares = |threads: usize, cpus: &[usize]| {
        let told = Rc::new(RefCell::new(Vec::new()));
        let mut run = Run::new(&machine());
        for _ in 0..threads {
            let told = Rc::clone(&told);
            run.spawn(cpus[0], 0, move |me| told.borrow_mut().push(me.shares_cpu())).expect("there is memory");
        }
        run.let_move(cpus);
        run.finish(LIMIT).expect("they end");
        told.take()
    };
    assert_eq!(shares(2, &[0, 1]), [false; 2]);
    assert_eq!(shares(3, &[0, 1]), [true; 3]);
}

#[test]
#[should_panic(expected = "threads move among a CPU and the others of one set")]
fn a_cpu_is_in_one_set() {
    let mut run = Run::new(&machine());
    run.let_move(&[0, 1]);
    run.let_move(&[1, 2]);
}
