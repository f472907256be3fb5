//! A process that dies between two steps, and the one that takes its files over.

use std::env;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use corecast_replica::snapshot::{Newest, SnapshotStore};
use corecast_replica::wal::{Wal, WalOptions};

use crate::toy::{Toy, op};

const PLACE: &str = "CORECAST_TEST_DURABLE";
const OPTIONS: WalOptions = WalOptions { segment_bytes: 500, ..WalOptions::new(7) };
const OPS: u64 = 60;
const SNAPSHOT_EVERY: u64 = 7;

/// The process that dies: this test, started once more with a directory in its environment.
#[test]
fn play() {
    let Some(place) = env::var_os(PLACE) else { return };
    run(Path::new(&place));
}

#[test]
fn whenever_a_process_dies_no_acknowledged_operation_is_lost() {
    for label in ["before-rename", "after-rename", "before-remove", "snapshot-written", "wal-written", "wal-synced"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut deaths = 0;
        for pass in [1, 2, 3, 5, 8] {
            deaths += u32::from(dies_at(dir.path(), label, pass));
            check(dir.path(), &format!("{label}:{pass}"));
        }
        assert!(deaths >= 3, "{label} was passed: {deaths}");
        assert!(!dies_at(dir.path(), "nowhere", 1));
        let (state, next) = restore(dir.path());
        assert_eq!((state, next), (replayed(OPS), OPS), "after {label}");
    }
}

/// Goes on with what is there until all operations are done. The file `acknowledged` has a byte for each that is durable.
fn run(place: &Path) {
    let (mut state, next) = restore(place);
    let mut wal = Wal::open(&place.join("wal"), OPTIONS, next).expect("it is whole");
    let mut store = SnapshotStore::open(&place.join("snapshots"), 7).expect("nobody has it");
    let mut options = std::fs::OpenOptions::new();
    let mut acknowledged = options.append(true).create(true).open(place.join("acknowledged")).expect("a disk");
    let already = acknowledged.metadata().expect("a file").len();
    for index in next..OPS {
        wal.append(index, &op(index)).expect("room");
        state.apply(&op(index));
        if index % 3 == 2 || index + 1 == OPS {
            let count = wal.sync().expect("a disk");
            let seen = acknowledged.metadata().expect("a file").len().max(already);
            acknowledged.write_all(&vec![b'.'; count.saturating_sub(seen) as usize]).expect("room");
        }
        if index % SNAPSHOT_EVERY == 0 {
            wal.sync().expect("a disk");
            let mut to = store.begin(index + 1).expect("it is newer");
            state.save(&mut to).expect("room");
            to.finish(state.digest()).expect("a disk");
            wal.trim(store.oldest().expect("one is there")).expect("a disk");
        }
    }
}

/// The state of the files, and the number of operations in it.
fn restore(place: &Path) -> (Toy, u64) {
    let mut store = SnapshotStore::open(&place.join("snapshots"), 7).expect("nobody has it");
    let (mut state, from) = match store.newest().expect("one is whole") {
        None => (Toy::default(), 0),
        Some(Newest { mut reader, damaged }) => {
            assert!(damaged.is_empty(), "a process that dies damages nothing: {damaged:?}");
            (Toy::load(&mut reader).expect("it is whole"), reader.manifest().index)
        }
    };
    let mut wal = Wal::open(&place.join("wal"), OPTIONS, from).expect("it is whole");
    assert!(wal.first() <= from && from <= wal.next(), "the log leads on from the snapshot");
    let mut next = from;
    for record in wal.replay(from).expect("written") {
        let record = record.expect("whole files");
        assert_eq!((record.index, &record.bytes), (next, &op(next)));
        state.apply(&record.bytes);
        next += 1;
    }
    (state, next)
}

fn check(place: &Path, at: &str) {
    let acknowledged = std::fs::metadata(place.join("acknowledged")).map_or(0, |metadata| metadata.len());
    let (state, next) = restore(place);
    assert!(next >= acknowledged, "{at}: {next} operations of {acknowledged} acknowledged ones");
    assert_eq!(state, replayed(next), "{at}");
}

fn replayed(ops: u64) -> Toy {
    let mut state = Toy::default();
    (0..ops).for_each(|index| state.apply(&op(index)));
    state
}

/// Whether a process that goes on with these files dies at the `pass`-th pass of the label.
fn dies_at(place: &Path, label: &str, pass: u32) -> bool {
    let mut again = Command::new(env::current_exe().expect("a program has a path"));
    again.args(["--exact", "crash::play", "--nocapture"]).env(PLACE, place).stdout(Stdio::null());
    let status = again.env("CORECAST_CRASH_AT", format!("{label}:{pass}")).status().expect("it can be started");
    assert!(status.success() || status.signal() == Some(9), "{label}:{pass}: {status}");
    !status.success()
}
