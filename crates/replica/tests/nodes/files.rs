//! Groups of one process that keep files.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, AtomicU32, Ordering};
use corecast_replica::wal::Fsync;
use corecast_replica::{Config, ExecuteError, Index, Level, OpenError, Replicated, StateMachine};

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

/// True while states of [`Slow`] cannot be written, and how many are being written.
static IS_HELD: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicU32 = AtomicU32::new(0);

/// A state that takes long to write: as long as it is held.
#[derive(Debug, Default)]
struct Slow(u64);

/// Holds it until it is dropped, in a test that fails, too.
struct Hold;

impl Hold {
    fn begin() -> Self {
        // ORDERING: Relaxed, the flag says everything
        IS_HELD.store(true, Ordering::Relaxed);
        Self
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // ORDERING: Relaxed, the flag says everything
        IS_HELD.store(false, Ordering::Relaxed);
    }
}

impl StateMachine for Slow {
    type Op = Vec<u8>;
    type Out = ();
    type Query = ();
    type Answer = u64;

    fn apply(&mut self, _at: Index, _op: &Vec<u8>) {
        self.0 += 1;
    }

    fn query(&self, (): &()) -> u64 {
        self.0
    }

    fn digest(&self) -> u128 {
        self.0.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        // ORDERING: Relaxed, the count says everything
        WRITING.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, the flag says everything
        while IS_HELD.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // ORDERING: Relaxed, the count says everything
        WRITING.fetch_sub(1, Ordering::Relaxed);
        to.write_all(&self.0.to_le_bytes())
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok(Self(u64::from_le_bytes(bytes)))
    }
}

/// All replicas have the same log; if all wrote their states at the same time, nobody would be left to go on.
#[test]
fn a_replica_that_writes_its_state_for_long_stops_nobody_else() {
    const PATIENCE: Duration = Duration::from_secs(60);
    const EVERY: usize = 1 << 16;
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::default().slots(4).window(256).bulk_bytes(1 << 18).snapshot_every(EVERY as u64);
    let config = config.durable(folder.path(), Fsync::Never);
    let first = Replicated::create(&config, Slow::default()).expect("no files");
    let second = Replicated::<Slow>::attach_fd(&config, first.share().expect("/proc")).expect("the group lives");
    let mut session = second.session().expect("a member");
    let hold = Hold::begin();
    // As much as the first waits for, and less than the second does.
    for _ in 0..EVERY / 1024 {
        session.execute_timeout(&vec![7; 1024], PATIENCE).expect("done");
    }
    let until = Instant::now() + PATIENCE;
    // ORDERING: Relaxed, the count says everything
    while WRITING.load(Ordering::Relaxed) == 0 {
        assert!(Instant::now() < until, "the first has a log that is long enough");
        std::thread::yield_now();
    }
    // More than the log has places for: the first is put out, and comes back later.
    for _ in 0..300 {
        session.execute_timeout(&Vec::new(), PATIENCE).expect("done");
    }
    drop(hold);
    assert_eq!(second.read_timeout(Level::Linearizable, &(), PATIENCE).expect("fresh").0, EVERY as u64 / 1024 + 300);
}
