//! Families that are switched on, and counts that are told.

use std::process::Command;

use super::object::{LOCKS, object, output, plain, preloaded, program};

fn told(errors: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(errors);
    text.lines().filter(|line| line.starts_with("corecast")).map(str::to_owned).collect()
}

#[test]
fn what_was_served_is_told_if_asked_for() {
    let Some(program) = program("mutex.c") else { return };
    let counted = |set: &[(&str, &str)]| {
        let mut command = preloaded(&program, "mcs");
        command.arg("plain").arg("robust").env("CORECAST_SHIM_STATS", "1").envs(set.iter().copied());
        told(&output(&mut command).stderr)
    };
    let served = counted(&[]);
    let line = served.iter().find(|line| line.contains(": mutex_lock: served ")).expect("locks were counted");
    assert!(!line.contains("served 0") && !line.ends_with("passed 0"), "robust mutexes are passed on: {line}");
    for off in [
        ("CORECAST_SHIM_OFF", "1"),
        ("CORECAST_SHIM_ONLY", "another*"),
        ("CORECAST_SHIM", "barrier"),
        ("CORECAST_LOCK", "pthread"),
        ("CORECAST_LOCK", "no-such-lock"),
    ] {
        assert_eq!(counted(&[off]), [""; 0], "{off:?}");
    }
    assert!(!counted(&[("CORECAST_SHIM_ONLY", "mutex_?")]).is_empty());
}

/// Lines of `way.c` for each function that the object serves, under these settings.
fn reached(program: &std::path::Path, set: &[(&str, &str)]) -> Vec<String> {
    let mut command = preloaded(program, "auto");
    let output = output(command.envs(set.iter().copied()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_ours = |line: &&str| line.contains("libcorecast_pthread");
    text.lines().filter(is_ours).filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect()
}

#[test]
fn the_object_is_not_in_the_way_of_what_it_does_not_serve() {
    let Some(program) = program("way.c") else { return };
    let (locks, barriers) = (["lock", "wait", "later lock"], ["barrier", "later barrier"]);
    let all = ["lock", "wait", "barrier", "later lock", "later barrier"];
    assert_eq!(reached(&program, &[]), all);
    assert_eq!(reached(&program, &[("CORECAST_LOCK", "pthread")]), barriers);
    assert_eq!(reached(&program, &[("CORECAST_SHIM", "barrier")]), barriers);
    assert_eq!(reached(&program, &[("CORECAST_SHIM", "omp,lock")]), locks);
    assert_eq!(reached(&program, &[("CORECAST_SHIM_OFF", "1")]), [""; 0]);
    assert_eq!(reached(&program, &[("CORECAST_SHIM_OFF", "0")]), all);
    // Only the constructor knows these: the program is bound already, and what is looked for later is not.
    assert_eq!(reached(&program, &[("CORECAST_LOCK", "no-such-lock")]), ["lock", "wait", "barrier", "later barrier"]);
    assert_eq!(reached(&program, &[("CORECAST_SHIM_ONLY", "another*")]), ["lock", "wait", "barrier"]);
}

/// Tries and calls with a time limit are counted by themselves: a program may take its locks in no other way.
#[test]
fn tries_and_timed_calls_are_counted() {
    let (Some(mutex), Some(rw_lock)) = (program("mutex.c"), program("rwlock.c")) else { return };
    let counted = |program: &std::path::Path, test: &str| {
        let mut command = preloaded(program, "auto");
        command.arg(test).env("CORECAST_SHIM_STATS", "1");
        told(&output(&mut command).stderr)
    };
    let has = |told: &[String], start: &str| told.iter().any(|line| line.contains(start));
    let lines = counted(&mutex, "exclusion");
    assert!(has(&lines, ": mutex_trylock: served ") && has(&lines, ": mutex_timedlock: served "), "{lines:?}");
    let lines = counted(&mutex, "robust");
    assert!(has(&lines, ": mutex_trylock: served 0, diverted 0, passed "), "{lines:?}");
    let lines = counted(&rw_lock, "exclusion");
    assert!(has(&lines, ": rwlock_trylock: served "), "{lines:?}");
}

/// The object counts the calls that take a lock, tries by themselves; it does not count unlocks.
#[test]
fn reader_writer_locks_that_are_passed_on_are_counted_once_each() {
    let Some(program) = program("rwlock.c") else { return };
    let mut command = preloaded(&program, "auto");
    command.arg("foreign").env("CORECAST_SHIM_STATS", "1");
    let told = told(&output(&mut command).stderr);
    let passed = [("rwlock_lock", 4003), ("rwlock_trylock", 2)];
    assert_eq!(
        told,
        passed.map(|(name, count)| format!("corecast pthread: {name}: served 0, diverted 0, passed {count}"))
    );
}

/// The list of this test has all locks of the registry.
#[test]
fn every_lock_of_the_registry_is_tried() {
    let registered = corecast_lock::Algorithm::ALL.iter().map(|algorithm| algorithm.name());
    let missing: Vec<_> = registered.filter(|name| !LOCKS.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

/// A library that has the entry of ThreadSanitizer's runtime stands in for it: the real one is not everywhere.
#[test]
fn locks_are_passed_on_where_a_sanitizer_watches_them() {
    let Some(program) = program("mutex.c") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, runtime) = (folder.path().join("runtime.c"), folder.path().join("libruntime.so"));
    std::fs::write(&source, "void __tsan_init(void) {}\n").expect("a file in it");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&runtime).arg(&source).status();
    assert!(built.expect("the compiler starts").success());
    for objects in [[runtime.clone(), object()], [object(), runtime]] {
        let [first, second] = objects.map(|path| path.display().to_string());
        let mut command = preloaded(&program, "mcs");
        command.arg("plain").env("LD_PRELOAD", format!("{first}:{second}")).env("CORECAST_SHIM_STATS", "1");
        let told = told(&output(&mut command).stderr);
        assert!(!told.iter().any(|line| line.contains("mutex")), "{told:?}");
    }
}

#[test]
fn locks_are_served_only_if_one_is_chosen_and_barriers_always() {
    let Some(program) = program("barrier.c") else { return };
    let mut command = plain(&program);
    command.arg("visible").env("LD_PRELOAD", object()).env("CORECAST_SHIM_STATS", "1");
    let told = told(&output(&mut command).stderr);
    assert!(told.len() == 1 && told[0].contains(": barrier_wait: served 16000, "), "{told:?}");
}

#[test]
fn nothing_is_told_unasked() {
    let Some(program) = program("mutex.c") else { return };
    let output = output(preloaded(&program, "auto").arg("plain"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "plain\n");
}
