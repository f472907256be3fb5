//! Programs that do not end, and machines that cannot be.

use corecast_sim_core::{Costs, Machine, MachineError, Run, Seat, Stopped, Thread, Waiting, published, units};

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
    let waiting = vec![Waiting { cpu: 0, lines: vec![0] }, Waiting { cpu: 1, lines: vec![1] }];
    assert_eq!(stopped, Stopped::Deadlock { waiting });
    let words =
        "all threads that are left wait for a change that no thread can make: CPU 0 polls line 0, CPU 1 polls line 1";
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
    assert_eq!(run.finish(limit), Err(Stopped::Limit { limit }));
    assert_eq!(drops.get(), 3);
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
    assert_eq!(run.finish(units(1000)), Err(Stopped::Panicked { cpu: 5, message }));
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let costs = published::xeon_8x10().costs().clone();
    let machine = |cpus: usize, node: u16, far: u8, costs| {
        let seats = vec![Seat { package: 0, node }; cpus];
        Machine::new("none", 1000.0, seats, move |_, _| far, costs).expect_err("it cannot be")
    };
    assert_eq!(machine(0, 0, 0, costs.clone()), MachineError::Cpus { cpus: 0, most: 4096 });
    assert_eq!(machine(2, 1, 0, costs.clone()), MachineError::EmptyNode { node: 0 });
    let words = machine(2, 0, 3, costs.clone()).to_string();
    assert_eq!(words, "memory has times for 3 distances of 4");
    let none = Costs { store_buffer: 0, ..costs.clone() };
    assert_eq!(machine(1, 0, 0, none), MachineError::NoStoreBuffer);
    assert_eq!(machine(1, 0, 0, Costs { pause: 0, ..costs }), MachineError::NoPause);
}
