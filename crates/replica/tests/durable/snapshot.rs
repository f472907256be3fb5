//! Snapshot files.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use corecast_replica::snapshot::{MANIFEST_BYTES, Newest, SnapshotError, SnapshotStore};
use corecast_replica::wal::{Wal, WalOptions};
use proptest::prelude::*;

use crate::dir;
use crate::toy::{Toy, op};
use crate::wal::crc32c;

const GROUP: u64 = 7;

fn open(path: &Path) -> SnapshotStore {
    SnapshotStore::open(path, GROUP).expect("nobody has it")
}

fn take(store: &mut SnapshotStore, index: u64, content: &[u8]) {
    let mut to = store.begin(index).expect("it is newer");
    to.write_all(content).expect("room");
    to.finish(u128::from(index) << 64).expect("a disk");
}

/// The index, content and number of damaged generations.
fn newest(store: &mut SnapshotStore) -> (u64, Vec<u8>, usize) {
    let Newest { mut reader, damaged } = store.newest().expect("one is whole").expect("one is there");
    let mut content = Vec::new();
    reader.read_to_end(&mut content).expect("it was read before");
    assert_eq!(reader.manifest().digest, u128::from(reader.manifest().index) << 64);
    (reader.manifest().index, content, damaged.len())
}

fn file(path: &Path, index: u64) -> PathBuf {
    path.join(format!("snapshot-{index:016x}"))
}

/// Two generations: at 10 and at 20.
fn two() -> tempfile::TempDir {
    let dir = dir();
    let mut store = open(dir.path());
    take(&mut store, 10, b"ten");
    take(&mut store, 20, b"twenty");
    dir
}

#[test]
fn two_generations_are_kept() {
    let dir = dir();
    let mut store = open(dir.path());
    assert!(store.newest().expect("a directory").is_none() && store.oldest().is_none());
    for index in [3, 9, 9, 300] {
        take(&mut store, index, format!("state {index}").as_bytes());
        assert_eq!(newest(&mut store), (index, format!("state {index}").into_bytes(), 0));
    }
    assert_eq!(store.oldest(), Some(9));
    assert!(!file(dir.path(), 3).exists() && file(dir.path(), 9).exists());
    let error = store.begin(299).expect_err("it is older");
    assert!(matches!(error, SnapshotError::Older { index: 299, newest: 300 }), "{error}");
    drop(store);
    assert_eq!(newest(&mut open(dir.path())).0, 300);
}

#[test]
fn megabytes_pass_through() {
    let (dir, content) = (dir(), (0..3_000_000_u32).map(|at| (at >> 8) as u8).collect::<Vec<u8>>());
    let mut store = open(dir.path());
    take(&mut store, 1, &content);
    assert!(newest(&mut store) == (1, content, 0));
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let dir = two();
    let mut store = open(dir.path());
    store.begin(30).expect("it is newer").write_all(b"thi").expect("room");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 2);
    assert_eq!(newest(&mut store), (20, b"twenty".to_vec(), 0));
}

#[test]
fn the_older_generation_is_used_where_the_newer_one_is_truncated() {
    let dir = two();
    let good = fs::read(file(dir.path(), 20)).expect("a file");
    for len in 0..good.len() {
        fs::write(file(dir.path(), 20), &good[..len]).expect("a disk");
        let mut store = open(dir.path());
        assert_eq!(newest(&mut store), (10, b"ten".to_vec(), 1), "{len} bytes");
        let damaged = store.newest().expect("one is whole").expect("one is there").damaged;
        assert!(matches!(damaged[0], SnapshotError::Truncated { found, .. } if found == len as u64), "{damaged:?}");
    }
    fs::write(file(dir.path(), 20), [&good[..], b"!"].concat()).expect("a disk");
    assert_eq!(newest(&mut open(dir.path())).2, 1);
}

#[test]
fn the_older_generation_is_used_where_a_bit_of_the_newer_one_is_flipped() {
    let dir = two();
    let good = fs::read(file(dir.path(), 20)).expect("a file");
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(file(dir.path(), 20), &bytes).expect("a disk");
        let Newest { reader, damaged } = open(dir.path()).newest().expect("one is whole").expect("one is there");
        assert_eq!(reader.manifest().index, 10, "bit {bit}");
        let part = if bit / 8 < MANIFEST_BYTES { "manifest" } else { "content" };
        assert!(matches!(&damaged[..], [SnapshotError::Damaged { part: found, .. }] if *found == part), "{damaged:?}");
    }
}

#[test]
fn a_generation_that_is_damaged_goes_first() {
    let dir = two();
    fs::write(file(dir.path(), 20), b"gone").expect("a disk");
    let mut store = open(dir.path());
    assert_eq!(newest(&mut store).0, 10);
    take(&mut store, 30, b"thirty");
    assert!(file(dir.path(), 10).exists() && !file(dir.path(), 20).exists());
}

#[test]
fn a_state_that_is_lost_is_not_taken_for_an_empty_one() {
    let dir = two();
    fs::write(file(dir.path(), 20), b"gone").expect("a disk");
    fs::write(file(dir.path(), 10), b"too").expect("a disk");
    let error = open(dir.path()).newest().expect_err("both are lost");
    assert!(
        matches!(&error, SnapshotError::Truncated { file, found: 4, .. } if file.ends_with("snapshot-0000000000000014")),
        "{error}"
    );
}

#[test]
fn other_groups_and_versions_are_refused() {
    let dir = two();
    let error = SnapshotStore::open(dir.path(), 8).expect("nobody has it").newest().expect_err("another group");
    assert!(matches!(error, SnapshotError::OtherGroup { found: GROUP, expected: 8, .. }), "{error}");
    let mut bytes = fs::read(file(dir.path(), 20)).expect("a file");
    for version in [0_u32, 2] {
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let crc = crc32c(&[&bytes[..12], &bytes[16..MANIFEST_BYTES]].concat());
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        fs::write(file(dir.path(), 20), &bytes).expect("a disk");
        let error = open(dir.path()).newest().expect_err("another version");
        assert!(matches!(error, SnapshotError::Version { found, .. } if found == version), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// A snapshot and the log behind it give the state that all operations give, also from the older generation.
    #[test]
    fn snapshot_and_suffix_are_replay(ops in 1..80_u64, cuts in prop::collection::vec(0..80_u64, 1..6), lose: bool) {
        let dir = dir();
        let mut store = open(&dir.path().join("snapshots"));
        let options = WalOptions { segment_bytes: 500, ..WalOptions::new(GROUP) };
        let mut wal = Wal::open(&dir.path().join("wal"), options, 0).expect("an empty directory");
        let mut state = Toy::default();
        for index in 0..ops {
            if cuts.contains(&index) {
                let mut to = store.begin(index).expect("it is newer");
                state.save(&mut to).expect("room");
                to.finish(state.digest()).expect("a disk");
                wal.trim(store.oldest().expect("one is there")).expect("a disk");
            }
            wal.append(index, &op(index)).expect("room");
            state.apply(&op(index));
        }
        wal.sync().expect("a disk");
        let last = cuts.iter().filter(|cut| **cut < ops).max();
        if let (true, Some(last)) = (lose && store.oldest() < last.copied(), last) {
            fs::write(file(&dir.path().join("snapshots"), *last), b"lost").expect("a disk");
        }
        let (from, mut restored) = match store.newest().expect("one is whole") {
            None => (0, Toy::default()),
            Some(Newest { mut reader, .. }) => {
                let restored = Toy::load(&mut reader).expect("it was read before");
                prop_assert_eq!(restored.digest(), reader.manifest().digest);
                (reader.manifest().index, restored)
            }
        };
        for (index, record) in (from..).zip(wal.replay(from).expect("written")) {
            let record = record.expect("whole files");
            prop_assert_eq!(record.index, index);
            restored.apply(&record.bytes);
        }
        prop_assert_eq!(restored, state);
    }
}
