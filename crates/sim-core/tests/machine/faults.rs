//! Programs that do not end, and machines that cannot be.

use corecast_sim_core::{
    Costs, Location, MAX_THREADS, Machine, MachineError, Preemption, Reason, Run, Stopped, System, Thread, Waiting,
    published, units,
};

use crate::memory::Line;

#[test]
fn threads_that_wait_for_each_other_are_named_with_their_lines() {
    let words = [Line::new().word(), Line::new().word()];
    let mut run = Run::new(&published::opteron_4x12());
    for cpu in 0..2 {
        let body = move |me: &Thread| {
            while me.load(words[cpu]) == 0 {
                me.pause();
            }
            me.store(words[1 - cpu], 1);
        };
        run.spawn(cpu, 0, body).expect("there is memory");
    }
    let stopped = run.finish(units(1_000_000)).expect_err("each waits for the other");
    let polls = |thread: usize| Waiting { thread, cpu: thread, reason: Reason::Polls, lines: vec![thread] };
    assert_eq!(stopped, Stopped::Deadlock { waiting: vec![polls(0), polls(1)], seed: None });
    let words = "all threads that are left wait for a change that no thread can make: \
                 thread 0 on CPU 0 polls line 0, thread 1 on CPU 1 polls line 1";
    assert_eq!(stopped.to_string(), words);
}

#[test]
fn a_program_that_does_not_end_is_stopped_and_its_threads_are_dropped() {
    struct Dropped(std::rc::Rc<std::cell::Cell<u32>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = std::rc::Rc::new(std::cell::Cell::new(0));
    let mut run = Run::new(&published::opteron_4x12());
    for cpu in 0..3 {
        let (dropped, word) = (Dropped(std::rc::Rc::clone(&drops)), Line::new().word());
        let body = move |me: &Thread| {
            let _dropped = &dropped;
            loop {
                me.update(word, |value| Some(value + 1));
            }
        };
        run.spawn(cpu, 0, body).expect("there is memory");
    }
    let limit = units(100_000);
    run.preempt(Preemption::Randomly { seed: 42, one_in: 1000, longest: 10 });
    let stopped = run.finish(limit).expect_err("it has no end");
    let Stopped::Limit { limit: reached, ref waiting, seed: Some(42) } = stopped else { panic!("{stopped}") };
    assert_eq!((reached, waiting.len(), &waiting[2].lines), (limit, 3, &vec![2]));
    assert!(stopped.to_string().ends_with("thread 2 on CPU 2 runs at line 2 (seed 42)"), "{stopped}");
    assert_eq!(drops.get(), 3);
}

#[test]
fn a_thread_that_is_alone_is_stopped_at_the_limit() {
    let (word, mut run) = (Line::new().word(), Run::new(&published::opteron_4x12()));
    let body = move |me: &Thread| {
        while me.update(word, |_| Some(1)) < 2 {
            me.pause();
        }
    };
    run.spawn(0, 0, body).expect("there is memory");
    let stopped = run.finish(units(100_000)).expect_err("it has no end");
    assert!(matches!(stopped, Stopped::Limit { .. }), "{stopped}");
}

#[test]
fn a_panic_ends_the_run_and_is_told() {
    let word = Line::new().word();
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(0, 0, move |me| {
        while me.load(word) == 0 {
            me.pause();
        }
    })
    .expect("there is memory");
    run.spawn(5, 0, |me| {
        me.work(10);
        panic!("a rule was broken at {}", me.cpu());
    })
    .expect("there is memory");
    let message = "a rule was broken at 5".to_owned();
    let stopped = Stopped::Panicked { thread: 1, cpu: 5, message, seed: None };
    assert_eq!(stopped.to_string(), "thread 1 on CPU 5 panicked: a rule was broken at 5");
    assert_eq!(run.finish(units(1000)), Err(stopped));
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let costs = published::xeon_8x10().costs().clone();
    let machine = |cpus: usize, node: u16, far: u8, costs| {
        let locations = vec![Location { package: 0, node }; cpus];
        Machine::new("none", 1000.0, locations, move |_, _| far, costs).expect_err("it cannot be")
    };
    assert_eq!(machine(0, 0, 0, costs.clone()), MachineError::Cpus { cpus: 0, most: 4096 });
    assert_eq!(machine(2, 1, 0, costs.clone()), MachineError::EmptyNode { node: 0 });
    let words = machine(2, 0, 3, costs.clone()).to_string();
    assert_eq!(words, "memory has times for 3 distances of 4");
    let none = Costs { store_buffer: 0, ..costs.clone() };
    assert_eq!(machine(1, 0, 0, none), MachineError::NoStoreBuffer);
    assert_eq!(machine(1, 0, 0, Costs { pause: 0, ..costs.clone() }), MachineError::NoPause);
    let system = System { slice: 0, ..costs.system };
    assert_eq!(machine(1, 0, 0, Costs { system, ..costs.clone() }), MachineError::NoSlice);
    assert_eq!(machine(4097, 0, 0, costs), MachineError::Cpus { cpus: 4097, most: 4096 });
}

/// Four threads on one CPU: one sleeps for ever, one has ended, one polls, and one waits behind it. With a sleeper less the
/// poller would be alone, and the run would find that nothing can happen.
#[test]
fn threads_that_share_a_cpu_are_named_with_their_reasons() {
    let words = [Line::new().word(), Line::new().word()];
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(7, 0, move |me| me.sleep_while(words[0], 0, u64::MAX)).expect("there is memory");
    run.spawn(7, 0, |_| {}).expect("there is memory");
    for _ in 0..2 {
        let poll = move |me: &Thread| {
            while me.load(words[1]) == 0 {
                me.pause();
            }
        };
        run.spawn(7, 0, poll).expect("there is memory");
    }
    let limit = units(1_000_000_000);
    let stopped = run.finish(limit).expect_err("nobody sets the flag");
    let words = stopped.to_string();
    assert!(words.starts_with("the program had not ended after 8000000000 ticks of virtual time: "), "{words}");
    for thread in ["thread 0 on CPU 7 sleeps at line 0", "thread 2 on CPU 7 ", "thread 3 on CPU 7 "] {
        assert!(words.contains(thread), "{words}");
    }
    assert!(words.contains("waits for its CPU at line 1") && words.contains("polls line 1"), "{words}");
    assert!(!words.contains("thread 1 "), "{words}");
}

#[test]
fn sleepers_without_a_limit_are_a_deadlock() {
    let word = Line::new().word();
    let mut run = Run::new(&published::opteron_4x12());
    for cpu in [3, 3, 4] {
        run.spawn(cpu, 0, move |me| me.sleep_while(word, 0, u64::MAX)).expect("there is memory");
    }
    let stopped = run.finish(units(1_000_000)).expect_err("nobody wakes them");
    let Stopped::Deadlock { waiting, seed: None } = stopped else { panic!("{stopped}") };
    assert!(waiting.len() == 3 && waiting.iter().all(|thread| thread.reason == Reason::Sleeps), "{waiting:?}");
}

/// A thread sleeps for 1 ms and for 100 ms. Nobody wakes it, which the run finds if the second sleep lasts.
#[test]
fn a_lost_wake_up_is_a_deadlock_where_long_sleeps_last() {
    let play = |lasting_ms: u64| {
        let (word, machine) = (Line::new().word(), published::opteron_4x12());
        let mut run = Run::new(&machine);
        run.spawn(0, 0, move |me| {
            me.sleep_while(word, 0, 1_000_000);
            me.sleep_while(word, 0, 100_000_000);
        })
        .expect("there is memory");
        run.lasting_sleeps(machine.ticks(lasting_ms * 1_000_000));
        run.finish(machine.ticks(1_000_000_000))
    };
    assert!(play(101).is_ok());
    let stopped = play(100).expect_err("the second sleep ends by nothing");
    assert!(matches!(stopped, Stopped::Deadlock { .. }), "{stopped}");
}

#[test]
fn more_threads_than_a_run_can_have_are_an_error() {
    let mut run = Run::new(&published::xeon_8x10());
    for thread in 0..MAX_THREADS {
        run.spawn(thread % 80, 0, |_| {}).expect("there is memory");
    }
    let error = run.spawn(0, 0, |_| {}).expect_err("it is one too many");
    assert_eq!(error.to_string(), "a simulated run has at most 16384 threads");
}

/// In a process of its own, with little memory: threads that are there play, and the first without a stack is an error.
#[test]
fn threads_without_memory_for_their_stacks_are_an_error() {
    const CHILD: &str = "CORECAST_SIMULATION_WITHOUT_MEMORY";
    if std::env::var_os(CHILD).is_none() {
        let own = std::env::current_exe().expect("a test has a file");
        let limited =
            "ulimit -v 400000 && exec \"$0\" --exact faults::threads_without_memory_for_their_stacks_are_an_error";
        let mut shell = std::process::Command::new("sh");
        let status = shell.args(["-c", limited]).arg(own).env(CHILD, "1").status().expect("there is a shell");
        assert!(status.success(), "{status}");
        return;
    }
    let (line, mut run) = (Line::new(), Run::new(&published::xeon_8x10()));
    let word = line.word();
    let mut spawn =
        |thread: u64| run.spawn(thread as usize % 80, 0, move |me| _ = me.update(word, |value| Some(value + 1)));
    let put = (0..MAX_THREADS as u64).find_map(|thread| spawn(thread).err().map(|error| (thread, error)));
    let (threads, error) = put.expect("400 MB are too few for all stacks");
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory, "{error}");
    run.finish(units(1_000_000_000)).expect("the threads that are there play");
    assert_eq!(line.value(), threads);
}
