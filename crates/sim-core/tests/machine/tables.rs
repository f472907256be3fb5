//! Gate S1: single accesses take the published times.
//!
//! The CPUs of a case are chosen as the tables define them: one that holds the line, one that accesses it at the distance, and
//! where several hold it, another one near the holder.

use std::cell::Cell;
use std::rc::Rc;

use corecast_sim_core::{Machine, Run, TICKS, Thread, Ticks, Word, published, units};

use crate::memory::Line;

/// How a line comes into a state.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Memory,
    Modified,
    Owned,
    Exclusive,
    Shared,
}

#[derive(Clone, Copy)]
enum Access {
    Load,
    Store,
    Update,
}

/// The first steps of a case are done by this time, and the next ones begin then.
const STEP: Ticks = units(10_000);

/// The cycles of an access by `cpu` to a line that CPU 0 has brought into a state, with the help of CPU 1.
fn cycles(machine: &Machine, state: State, access: Access, cpu: usize) -> f64 {
    let (line, time) = (Line::new().word(), Rc::new(Cell::new(0)));
    let told = Rc::clone(&time);
    let mut run = Run::new(machine);
    let holder = move |me: &Thread| match state {
        State::Memory => {}
        State::Modified | State::Owned => me.store(line, 1),
        State::Exclusive | State::Shared => assert_eq!(me.load(line), 0),
    };
    let helper = move |me: &Thread| {
        if state == State::Owned || state == State::Shared {
            let _ = me.load(line);
        }
    };
    let measured = move |me: &Thread| {
        let before = me.now();
        go(me, access, line);
        told.set(me.now() - before);
    };
    run.spawn(0, 0, holder).expect("there is memory");
    run.spawn(1, STEP, helper).expect("there is memory");
    run.spawn(cpu, 2 * STEP, measured).expect("there is memory");
    run.finish(4 * STEP).expect("nothing waits");
    time.get() as f64 / TICKS as f64
}

fn go(me: &Thread, access: Access, line: Word) {
    match access {
        Access::Load => _ = me.load(line),
        Access::Store => {
            me.store(line, 7);
            me.wait_for_stores();
        }
        Access::Update => _ = me.update(line, |value| Some(value + 1)),
    }
}

/// Each row of a table: a state, an access, and the cycles by distance, which CPUs have that are at these distances.
fn agrees(machine: &Machine, cpus: &[usize], rows: &[(State, Access, &[f64])]) {
    for &(state, access, published) in rows {
        for (&cpu, published) in cpus.iter().zip(published) {
            let ratio = cycles(machine, state, access, cpu) / published;
            assert!((0.98..=1.02).contains(&ratio), "{}, CPU {cpu}: {ratio} of {published}", machine.name());
        }
    }
}

#[test]
fn accesses_take_the_published_times_on_the_opteron() {
    let rows: [(State, Access, &[f64]); 10] = [
        (State::Modified, Access::Load, &[81.0, 161.0, 172.0, 252.0]),
        (State::Owned, Access::Load, &[83.0, 163.0, 175.0, 254.0]),
        (State::Exclusive, Access::Load, &[83.0, 163.0, 175.0, 253.0]),
        (State::Shared, Access::Load, &[83.0, 164.0, 176.0, 254.0]),
        (State::Modified, Access::Store, &[83.0, 172.0, 191.0, 273.0]),
        (State::Exclusive, Access::Store, &[83.0, 171.0, 191.0, 271.0]),
        (State::Shared, Access::Store, &[246.0, 255.0, 286.0, 296.0]),
        (State::Modified, Access::Update, &[110.0, 197.0, 216.0, 296.0]),
        (State::Shared, Access::Update, &[272.0, 283.0, 312.0, 332.0]),
        (State::Owned, Access::Store, &[244.0, 255.0, 286.0, 291.0]),
    ];
    // The helper is CPU 1, so CPU 2 stands for the same die.
    agrees(&published::opteron_4x12(), &[2, 6, 12, 18], &rows);
}

#[test]
fn accesses_take_the_published_times_on_the_xeon() {
    let rows: [(State, Access, &[f64]); 8] = [
        (State::Modified, Access::Load, &[109.0, 289.0, 400.0]),
        (State::Exclusive, Access::Load, &[92.0, 273.0, 383.0]),
        (State::Shared, Access::Load, &[44.0, 223.0, 334.0]),
        (State::Modified, Access::Store, &[115.0, 320.0, 431.0]),
        (State::Exclusive, Access::Store, &[115.0, 315.0, 425.0]),
        (State::Shared, Access::Store, &[116.0, 318.0, 428.0]),
        (State::Modified, Access::Update, &[120.0, 324.0, 430.0]),
        (State::Shared, Access::Update, &[113.0, 312.0, 423.0]),
    ];
    agrees(&published::xeon_8x10(), &[2, 10, 20], &rows);
}

#[test]
fn a_line_that_no_cpu_has_touched_comes_from_near_memory() {
    let machine = published::xeon_8x10();
    // Nobody has touched it: its home is that of the CPU which does.
    assert_eq!(cycles(&machine, State::Memory, Access::Load, 2), 355.0);
    assert_eq!(cycles(&machine, State::Memory, Access::Load, 20), 355.0);
}

#[test]
fn a_second_access_hits() {
    let machine = published::opteron_4x12();
    let (line, mut run) = (Line::new().word(), Run::new(&machine));
    run.spawn(0, 0, move |me| {
        me.update(line, |value| Some(value + 1));
        let before = me.now();
        assert_eq!(me.load(line), 1);
        assert_eq!(me.now() - before, units(3));
        me.update(line, |value| Some(value + 1));
        assert_eq!(me.now() - before, units(23));
    })
    .expect("there is memory");
    let report = run.finish(STEP).expect("nothing waits");
    assert_eq!((report.counts.accesses, report.counts.from_memory), (3, 1));
    assert!(report.counts.transfers.is_empty());
}
