//! Models of delegated data, from both sides.

use std::time::Duration;

use corecast_base::sync::{Arc, AtomicBool, Ordering, in_each_run, spin_hint};
use corecast_lock::delegate::{Clients, serve};
use loom::thread;

type Step = fn(&Clients<u32>) -> u32;

/// Each step runs on a thread, while this one serves; the steps say how often they added.
fn all<const STEPS: usize>(steps: [Step; STEPS]) {
    loom::model(move || {
        let mut threads = None;
        let count = serve(0, |clients| {
            let clients = Arc::new(clients);
            threads = Some(steps.map(|step| {
                let clients = Arc::clone(&clients);
                thread::spawn(move || step(&clients))
            }));
        });
        let threads = threads.expect("they were spawned");
        assert_eq!(threads.map(|thread| thread.join().expect("it ends")).iter().sum::<u32>(), count);
    });
}

fn runs(clients: &Clients<u32>) -> u32 {
    let before = clients.run(|count| std::mem::replace(count, *count + 1));
    assert!(before < 4);
    1
}

fn runs_twice(clients: &Clients<u32>) -> u32 {
    runs(clients) + runs(clients)
}

/// Comes with a limit that has passed.
fn gives_up(clients: &Clients<u32>) -> u32 {
    u32::from(clients.run_timeout(Duration::ZERO, |count| *count += 1).is_ok())
}

in_each_run! {
    static ref HAS_RUN: AtomicBool = AtomicBool::new(false);
}

fn runs_first(clients: &Clients<u32>) -> u32 {
    let added = runs(clients);
    // ORDERING: Relaxed, so that only the line itself tells the next client that it is free
    HAS_RUN.store(true, Ordering::Relaxed);
    added
}

fn runs_behind(clients: &Clients<u32>) -> u32 {
    // ORDERING: Relaxed, as above
    while !HAS_RUN.load(Ordering::Relaxed) {
        spin_hint();
    }
    runs(clients)
}

#[test]
fn a_line_goes_from_client_to_client() {
    all([runs_first, runs_behind]);
}

#[test]
fn a_server_sleeps_and_is_woken() {
    all([runs_twice]);
}

#[test]
fn two_clients() {
    all([runs, runs]);
}

#[test]
fn one_gives_up() {
    all([gives_up]);
    all([gives_up, runs]);
}
