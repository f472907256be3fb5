//! Models of data that closures are sent to, from all sides.

use std::time::Duration;

use corecast_base::sync::Arc;
use corecast_lock::{Combine, Setup};
use loom::thread;

type Shared = Arc<Combine<u32>>;
type Step = fn(&Combine<u32>) -> u32;

/// All do one step each at the same time, on data whose threads run this number of others' requests; the steps say how often they
/// added.
fn all<const OTHERS: usize>(share: usize, mine: Step, others: [Step; OTHERS]) {
    loom::model(move || {
        let combine: Shared = Arc::new(Combine::for_setup(0, &Setup::of_threads(share)));
        let others = others.map(|step| {
            let shared = Arc::clone(&combine);
            thread::spawn(move || step(&shared))
        });
        let added = mine(&combine) + others.map(|other| other.join().expect("it ends")).iter().sum::<u32>();
        assert_eq!(combine.try_run(|count| *count).ok(), Some(added));
    });
}

fn runs(combine: &Combine<u32>) -> u32 {
    let before = combine.run(|count| std::mem::replace(count, *count + 1));
    assert!(before < 4);
    1
}

fn runs_twice(combine: &Combine<u32>) -> u32 {
    runs(combine) + runs(combine)
}

fn tries(combine: &Combine<u32>) -> u32 {
    u32::from(combine.try_run(|count| *count += 1).is_ok())
}

/// Comes with a limit that has passed.
fn gives_up(combine: &Combine<u32>) -> u32 {
    u32::from(combine.run_timeout(Duration::ZERO, |count| *count += 1).is_ok())
}

#[test]
fn two_run() {
    all(2, runs, [runs]);
    all(2, runs_twice, [runs]);
    all(2, runs, [runs_twice]);
}

#[test]
fn one_tries() {
    all(2, runs_twice, [tries]);
    all(2, tries, [runs_twice]);
}

#[test]
fn one_gives_up() {
    all(2, runs, [gives_up]);
    all(2, gives_up, [runs_twice]);
    all(2, gives_up, [gives_up]);
}

/// A thread that has run its share leaves the rest, and calls one of them.
#[test]
fn three_run_and_one_is_called() {
    all(1, runs, [runs, runs]);
}

/// One that is called may give up: then it calls the next.
#[test]
fn one_of_three_gives_up() {
    all(1, runs, [gives_up, runs]);
}
