//! CPUs that share a core.

use corecast_sim_core::{Machine, MachineError, Report, Run, Smt, Thread, Ticks, published, units};

use crate::memory::Line;

const LIMIT: Ticks = units(1_000_000_000);
const SMT: Smt = Smt { slowdown: 1.6, line: units(23) };

/// The work of a thread.
type Body = Box<dyn FnOnce(&Thread)>;

/// CPUs 0 and 1 share a core, and so on.
fn machine() -> Machine {
    published::opteron_4x12().with_smt(SMT, |cpu| cpu / 2).expect("a factor above 1")
}

fn run(machine: &Machine, threads: Vec<(usize, Body)>) -> Report {
    let mut run = Run::new(machine);
    for (cpu, body) in threads {
        run.spawn(cpu, 0, body).expect("there is memory");
    }
    run.finish(LIMIT).expect("they end")
}

fn works(cycles: u64) -> Body {
    Box::new(move |me| me.work(cycles))
}

/// Polls a word until it is set, with a pause in each round or without.
fn spins(flag: corecast_sim_core::Word, pauses: bool) -> Body {
    Box::new(move |me| {
        while me.load(flag) == 0 {
            if pauses {
                me.pause();
            }
        }
    })
}

#[test]
fn threads_that_are_alone_on_their_cores_are_unchanged() {
    let played = |machine: &Machine| {
        let (shared, own) = (Line::new().word(), Line::new().word());
        let body = move || -> Body {
            Box::new(move |me| {
                for number in 0..50 {
                    me.work(1000);
                    me.update(shared, |value| Some(value + 1));
                    me.store(own, number);
                    let _ = me.load(own);
                    me.pause();
                }
            })
        };
        run(machine, vec![(0, body()), (2, body()), (13, body())])
    };
    assert_eq!(played(&machine()), played(&published::opteron_4x12()));
}

#[test]
fn two_on_a_core_are_slower_each_and_faster_together() {
    let alone = run(&machine(), vec![(0, works(100_000))]).end;
    assert_eq!(alone, units(100_000));
    let apart = run(&machine(), vec![(0, works(100_000)), (2, works(100_000))]).end;
    assert_eq!(apart, alone);
    let both = run(&machine(), vec![(0, works(100_000)), (1, works(100_000))]).end as f64 / alone as f64;
    assert!((1.59..1.61).contains(&both), "{both}: slower than one, and faster than one after the other");
    // The second half of the longer one has the core for itself.
    let half = run(&machine(), vec![(0, works(160_000)), (1, works(100_000))]).ends;
    let (long, short) = (half[0] as f64 / alone as f64, half[1] as f64 / alone as f64);
    assert!((2.19..2.22).contains(&long) && (1.59..1.61).contains(&short), "{long} and {short}");
}

#[test]
fn a_spinner_that_pauses_disturbs_its_sibling_less() {
    let beside = |pauses: bool| {
        let flag = Line::new().word();
        let body: Body = Box::new(move |me| {
            me.work(100_000);
            me.store(flag, 1);
        });
        let report = run(&machine(), vec![(0, body), (1, spins(flag, pauses))]);
        report.ends[0] as f64 / units(100_000) as f64
    };
    let (pausing, busy) = (beside(true), beside(false));
    assert!((1.55..1.61).contains(&busy), "{busy}");
    assert!((1.01..1.15).contains(&pausing), "{pausing}: a load of 3 cycles in each pause of 40");
}

#[test]
fn a_sibling_that_sleeps_or_waits_for_a_line_disturbs_nobody() {
    let sleeps: Body = Box::new(|me| me.sleep_until(units(90_000)));
    let beside = |others| {
        let threads = [(0, works(100_000))].into_iter().chain(others).collect();
        run(&machine(), threads).ends[0] as f64 / units(100_000) as f64
    };
    let asleep = beside(vec![(1, sleeps)]);
    assert!(asleep < 1.05, "{asleep}");
    let shared = Line::new().word();
    let bounces = || -> Body {
        Box::new(move |me| {
            for _ in 0..500 {
                let _ = me.update(shared, |value| Some(value + 1));
            }
        })
    };
    let waiting = beside(vec![(1, bounces()), (13, bounces())]);
    assert!(waiting < 1.1, "{waiting}");
    let own = Line::new().word();
    let pauses: Body = Box::new(move |me| {
        for _ in 0..2000 {
            let _ = me.update(own, |value| Some(value + 1));
            me.pause();
        }
    });
    let pausing = beside(vec![(1, pauses)]);
    assert!((1.1..1.4).contains(&pausing), "{pausing}: pauses of 40 cycles, and additions of 20 that take longer, too");
}

#[test]
fn a_line_of_a_sibling_comes_from_the_cache_that_they_share() {
    // The time of a load of a line that CPU 0 has written, by this CPU.
    let load = |machine: &Machine, cpu: usize| {
        let line = Line::new().word();
        let write: Body = Box::new(move |me| me.store(line, 1));
        let read: Body = Box::new(move |me| {
            me.work_until(units(10_000));
            let _ = me.load(line);
        });
        run(machine, vec![(0, write), (cpu, read)]).ends[cpu] - units(10_000)
    };
    assert_eq!(load(&machine(), 1), SMT.line);
    assert_eq!(load(&machine(), 2), units(81));
    assert_eq!(load(&published::opteron_4x12(), 1), units(81));
}

#[test]
fn cpus_that_share_a_core_do_not_make_each_other_faster() {
    for slowdown in [0.9, f64::NAN, f64::INFINITY] {
        let made = published::opteron_4x12().with_smt(Smt { slowdown, ..SMT }, |cpu| cpu / 2);
        assert_eq!(made, Err(MachineError::Slowdown), "{slowdown}");
    }
}
