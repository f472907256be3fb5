//! Groups of one process that keep files.

use std::path::Path;

use corecast_replica::wal::Fsync;
use corecast_replica::{Config, ExecuteError, Level, OpenError, Replicated};

use crate::counter::{Counter, PANIC};
use crate::places::Places;

fn config(folder: &Path) -> Config {
    Config::default().slots(8).window(1024).bulk_bytes(1 << 16).durable(folder, Fsync::Always)
}

#[test]
fn files_bring_the_state_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path());
    for round in 0..3 {
        let first = Replicated::create(&config, Counter::default()).expect("readable files");
        let second = Replicated::attach_fd(&config, first.share().expect("/proc")).expect("the group lives");
        assert_eq!(first.read(Level::Local, &()).expect("never waits").0, (20 * round, 20 * round));
        // In turn, so that the replica with the lower number is not always the one that got furthest.
        let writer = if round % 2 == 0 { &first } else { &second };
        let mut session = writer.session().expect("a member");
        for _ in 0..20 {
            session.execute(&1).expect("done");
        }
        drop(session);
    }
}

#[test]
fn files_of_another_kind_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("group"), "no number").expect("writable");
    let config = config(folder.path());
    let error = Replicated::create(&config, Counter::default()).expect_err("damaged");
    assert!(error.to_string().contains("expected the number of a group"), "{error}");
}

/// A state that depends on the places of operations is the same when files are read back, after any number of restarts.
#[test]
fn places_are_the_same_when_files_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path());
    let mut expected = Vec::new();
    for round in 0..4 {
        let first = Replicated::create(&config, Places::default()).expect("readable files");
        let second = Replicated::<Places>::attach_fd(&config, first.share().expect("/proc")).expect("the group lives");
        for node in [&first, &second] {
            assert_eq!(node.read(Level::Linearizable, &()).expect("fresh").0, expected, "round {round}");
        }
        let mut session = second.session().expect("a member");
        for _ in 0..3 {
            expected.push(session.execute(&()).expect("done").0);
        }
        assert!(expected.is_sorted_by(|one, next| one < next), "{expected:?}");
    }
}

/// The operation was never done anywhere, so nobody misses it.
#[test]
fn a_group_whose_replicas_all_panicked_starts_from_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path());
    for round in 0..2 {
        let first = Replicated::create(&config, Counter::default()).expect("readable files");
        let second = Replicated::<Counter>::attach_fd(&config, first.share().expect("/proc")).expect("the group lives");
        assert_eq!(first.read(Level::Linearizable, &()).expect("fresh").0, (5 * round, 5 * round));
        let mut session = second.session().expect("a member");
        for _ in 0..5 {
            session.execute(&1).expect("done");
        }
        let error = session.execute(&PANIC).expect_err("all panic");
        assert!(matches!(error, ExecuteError::Poisoned { .. }), "{error}");
    }
}

#[test]
fn a_machine_that_panics_at_a_command_in_its_files_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path());
    let start = |initial| Replicated::create(&config, initial);
    let node = start(Places::default()).expect("no files");
    let mut session = node.session().expect("a member");
    let places: Vec<_> = (0..3).map(|_| session.execute(&()).expect("done").0).collect();
    drop((session, node));
    let error = start(Places::that_panic_at(places[1])).expect_err("it panics");
    assert!(matches!(error, OpenError::Panicked { index, .. } if index == places[1]), "{error}");
    let mended = start(Places::default()).expect("readable files");
    assert_eq!(mended.read(Level::Local, &()).expect("never waits").0, places);
}
