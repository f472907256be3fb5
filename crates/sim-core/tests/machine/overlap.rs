//! Accesses that are under way together, and lines that loads take away from their owners.

use std::cell::Cell;
use std::rc::Rc;

use corecast_sim_core::{Costs, Machine, Run, Thread, Ticks, Word, published, units};

use crate::memory::Line;

/// The others have written the lines by this time.
const READY: Ticks = units(10_000);

/// The time that `access` takes on CPU 2 of a package of the Xeon, once CPU 0 has written both of its lines. The first one has
/// the address of the second.
fn time_of(machine: &Machine, access: impl Fn(&Thread, Word, Word) + 'static) -> Ticks {
    let (one, other) = (Line::new(), Line::new());
    let (one, other) = (one.word(), other.word());
    let (mut run, time) = (Run::new(machine), Rc::new(Cell::new(0)));
    let told = Rc::clone(&time);
    let writer = move |me: &Thread| {
        me.store(one, other.address() as u64);
        me.store(other, 1);
    };
    run.spawn(0, 0, writer).expect("there is memory");
    let measured = move |me: &Thread| {
        let before = me.now();
        access(me, one, other);
        told.set(me.now() - before);
    };
    run.spawn(2, READY, measured).expect("there is memory");
    run.finish(4 * READY).expect("nothing waits");
    time.get()
}

/// The Xeon with this number of accesses under way.
fn xeon(ahead: usize) -> Machine {
    let machine = published::xeon_8x10();
    let costs = Costs { ahead, ..machine.costs().clone() };
    machine.with_costs(costs).expect("all times are there")
}

fn add(me: &Thread, word: Word) {
    let _ = me.update(word, |value| Some(value + 1));
}

/// A load of a modified line takes 109 cycles, an addition 120, a hit 5 and an addition that hits 20.
#[test]
fn misses_of_lines_that_do_not_depend_on_each_other_overlap() {
    let machine = xeon(4);
    let loads = time_of(&machine, |me, one, other| {
        let (_, _) = (me.load(other), me.load(one));
    });
    assert_eq!(loads, units(5 + 109));
    let addition_and_load = time_of(&machine, |me, one, other| {
        add(me, other);
        let _ = me.load(one);
    });
    assert_eq!(addition_and_load, units(120));
    let apart = time_of(&machine, |me, one, other| {
        add(me, other);
        me.work(0);
        let _ = me.load(one);
    });
    assert_eq!(apart, units(120 + 109), "work begins when all has come");
    let additions = time_of(&machine, |me, one, other| {
        add(me, other);
        add(me, one);
    });
    assert_eq!(additions, units(120 + 20), "additions are done one after the other");
}

#[test]
fn a_load_waits_for_its_address() {
    let machine = xeon(4);
    let chased = time_of(&machine, |me, one, other| {
        assert_eq!(me.load(one), other.address() as u64);
        let _ = me.load(other);
    });
    assert_eq!(chased, units(2 * 109));
}

#[test]
fn nothing_overlaps_where_a_cpu_has_one_access_under_way() {
    let machine = xeon(0);
    let loads = time_of(&machine, |me, one, other| {
        let (_, _) = (me.load(other), me.load(one));
    });
    assert_eq!(loads, units(2 * 109));
}

/// The CPU has predicted that the loop goes on.
#[test]
fn the_look_that_ends_a_polling_loop_comes_before_all_behind_it() {
    let machine = xeon(4);
    let looks = time_of(&machine, |me, one, other| {
        me.pause();
        let (_, _) = (me.load(other), me.load(one));
    });
    let pause = machine.costs().pause;
    assert_eq!(looks, pause + units(2 * 109));
}

#[test]
fn a_second_addition_waits_until_the_line_has_come_and_loses_it_to_one_that_waits() {
    let (mut run, word) = (Run::new(&xeon(4)), Line::new().word());
    for cpu in 0..2 {
        run.spawn(cpu, 0, move |me| (0..10).for_each(|_| add(me, word))).expect("there is memory");
    }
    let counts = run.finish(READY).expect("nothing waits").counts;
    assert_eq!(counts.transfers.iter().sum::<u64>() + counts.from_memory, 20);
}

/// The time of a store after a load of a line that another CPU has written.
fn store_after_load(machine: &Machine, cpu: usize) -> Ticks {
    let (line, time) = (Line::new().word(), Rc::new(Cell::new(0)));
    let (mut run, told) = (Run::new(machine), Rc::clone(&time));
    run.spawn(0, 0, move |me| me.store(line, 1)).expect("there is memory");
    let measured = move |me: &Thread| {
        let _ = me.load(line);
        let before = me.now();
        me.store(line, 2);
        me.wait_for_stores();
        told.set(me.now() - before);
    };
    run.spawn(cpu, READY, measured).expect("there is memory");
    run.finish(4 * READY).expect("nothing waits");
    time.get()
}

#[test]
fn a_load_takes_a_modified_line_from_a_cpu_of_its_package_unless_it_can_be_owned() {
    assert_eq!(store_after_load(&published::xeon_8x10(), 2), units(1));
    assert_eq!(store_after_load(&published::xeon_8x10(), 10), units(318));
    // Published are 244, and the line may be busy for the load still.
    assert!(store_after_load(&published::opteron_4x12(), 2) >= units(244));
}
