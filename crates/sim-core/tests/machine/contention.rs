//! Gate S2: additions to one word by many CPUs, and that runs repeat.

use corecast_sim_core::{Machine, Report, Run, published, units};

use crate::memory::Line;

/// Additions of each CPU.
const EACH: u64 = 400;

/// All of `cpus` add to one word.
fn additions(machine: &Machine, cpus: usize) -> Report {
    let (word, mut run) = (Line::new().word(), Run::new(machine));
    for cpu in 0..cpus {
        let begin = units(7 * cpu as u64);
        let add = move |me: &corecast_sim_core::Thread| {
            for _ in 0..EACH {
                me.update(word, |value| Some(value + 1));
            }
        };
        run.spawn(cpu, begin, add).expect("there is memory");
    }
    let report = run.finish(units(100_000_000)).expect("nothing waits");
    let sum = std::rc::Rc::new(std::cell::Cell::new(0));
    let (told, mut reader) = (std::rc::Rc::clone(&sum), Run::new(machine));
    reader.spawn(0, 0, move |me| told.set(me.load(word))).expect("there is memory");
    reader.finish(units(10_000)).expect("nothing waits");
    assert_eq!(sum.get(), EACH * cpus as u64);
    report
}

/// Additions in a microsecond, which is millions in a second.
fn rate(machine: &Machine, cpus: usize) -> f64 {
    (EACH * cpus as u64) as f64 / (machine.ns(additions(machine, cpus).end) / 1000.0)
}

#[test]
fn additions_within_a_package_run_as_published_and_fall_beyond_it() {
    let (opteron, xeon) = (published::opteron_4x12(), published::xeon_8x10());
    let [six, twelve, all] = [6, 12, 48].map(|cpus| rate(&opteron, cpus));
    let [ten, twenty, every] = [10, 20, 80].map(|cpus| rate(&xeon, cpus));
    // Close to 20 on both, says figure 4 of David et al. 2013.
    assert!((0.8..=1.25).contains(&(six / 20.0)) && (0.8..=1.25).contains(&(ten / 20.0)), "{six} and {ten} Mops/s");
    assert!(
        six > twelve && twelve > all && ten > twenty && twenty >= every,
        "{six} {twelve} {all}, {ten} {twenty} {every}"
    );
    assert!(ten / twenty > six / twelve, "more on the Xeon: {ten} {twenty}, {six} {twelve}");
}

#[test]
fn a_run_repeats() {
    let machine = published::opteron_4x12();
    let first = additions(&machine, 48);
    assert!((0..5).all(|_| additions(&machine, 48) == first));
}

#[test]
fn lines_are_counted_by_the_distance_they_came_from() {
    let machine = published::xeon_8x10();
    let counts = additions(&machine, 10).counts;
    assert_eq!(counts.accesses, 10 * EACH);
    assert_eq!(counts.transfers.len(), 1, "{counts:?}");
    let counts = additions(&machine, 80).counts;
    assert!(counts.transfers.len() == 3 && counts.transfers.iter().all(|&number| number > 0), "{counts:?}");
}
