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
        me.wait_for_stores();
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
    assert_eq!(apart, units(120 + 109), "work begins when additions are done");
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

/// A store of a modified line takes 115 cycles.
#[test]
fn stores_ask_for_their_lines_while_earlier_accesses_are_under_way() {
    let machine = xeon(4);
    let behind_load = time_of(&machine, |me, one, other| {
        let _ = me.load(other);
        me.store(one, 1);
    });
    assert_eq!(behind_load, units(5 + 115));
    let behind_addition = time_of(&machine, |me, one, other| {
        add(me, other);
        me.store(one, 1);
    });
    assert_eq!(behind_addition, units(5 + 115));
    let addition_behind_store = time_of(&machine, |me, one, other| {
        me.store(other, 1);
        add(me, one);
    });
    let gap = machine.costs().gap[0];
    assert_eq!(addition_behind_store, gap + units(115 + 20), "it hits when both lines have come");
    let of_value = time_of(&machine, |me, one, _| {
        let other = me.load(one);
        // SAFETY: the second line, whose address the first one has, lives as long as the run.
        me.store(unsafe { Word::of(std::ptr::with_exposed_provenance_mut::<u64>(other as usize)) }, 1);
    });
    assert_eq!(of_value, units(109 + 115), "not before their address has come");
}

/// The value may be that of the load.
#[test]
fn a_store_is_not_seen_before_earlier_loads_are_complete() {
    let (far, own, time) = (Line::new().word(), Line::new().word(), Rc::new(Cell::new(0)));
    let (mut run, told) = (Run::new(&xeon(4)), Rc::clone(&time));
    run.spawn(0, 0, move |me| me.store(far, 1)).expect("there is memory");
    let writer = move |me: &Thread| {
        me.store(own, 0);
        me.wait_for_stores();
        me.work_until(READY);
        let _ = me.load(far);
        me.store(own, 2);
    };
    run.spawn(1, 0, writer).expect("there is memory");
    let reader = move |me: &Thread| {
        while me.load(own) != 2 {
            me.pause();
        }
        told.set(me.now());
    };
    run.spawn(2, READY / 2, reader).expect("there is memory");
    run.finish(4 * READY).expect("nothing waits");
    assert!((READY + units(109)..READY + units(500)).contains(&time.get()), "{}", time.get() - READY);
}

#[test]
fn work_does_not_wait_for_loads() {
    let both = |ahead, work| {
        time_of(&xeon(ahead), move |me, _, other| {
            let _ = me.load(other);
            me.work(work);
        })
    };
    assert_eq!([both(4, 300), both(4, 20)], [units(5 + 300), units(109)]);
    assert_eq!(both(0, 300), units(109 + 300), "but where nothing overlaps");
}

#[test]
fn an_access_waits_for_the_values_that_its_address_follows_from() {
    let indexed = time_of(&xeon(4), |me, one, other| {
        let _ = me.load(other);
        me.address_follows();
        let _ = me.load(one);
    });
    assert_eq!(indexed, units(2 * 109));
}

/// The loads behind the look that ends it, but of lines that a loop has polled, are no looks.
#[test]
fn what_is_loaded_behind_a_polling_loop_overlaps() {
    let behind = |is_polled: bool| {
        time_of(&xeon(4), move |me, one, other| {
            let own = Line::new().word();
            if is_polled {
                // It ends at once, but a later one might not.
                let _ = me.load(own);
                me.pause();
            }
            let _ = me.load(one);
            let _ = me.load(other);
            let _ = me.load(own);
        })
    };
    assert!(behind(true) > behind(false));
}

/// Looks of 30 cycles and pauses of 40 until 100 ns have passed, which are 213 cycles: at the fourth look.
#[test]
fn a_wait_by_the_clock_ends_with_a_look() {
    let machine = published::xeon_8x10();
    let waited = |look| {
        let costs = Costs { look, pause: units(40), ..machine.costs().clone() };
        time_of(&machine.clone().with_costs(costs).expect("all times are there"), |me, _, _| me.spin_ns(100))
    };
    assert_eq!([waited(0), waited(units(30))], [units(213), units(30 + 4 * 70)]);
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
