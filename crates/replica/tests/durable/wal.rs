//! The write-ahead log.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use corecast_replica::wal::{Fsync, Record, Wal, WalError, WalOptions};
use proptest::prelude::*;

use crate::dir;
use crate::toy::op;

const SMALL: WalOptions = WalOptions { segment_bytes: 600, ..WalOptions::new(7) };

/// Appends the records `from..to`, each of which is synced.
fn fill(wal: &mut Wal, from: u64, to: u64) {
    for index in from..to {
        wal.append(index, &op(index)).expect("room");
        assert_eq!(wal.sync().expect("a disk"), index + 1);
    }
}

fn records(wal: &mut Wal, from: u64) -> Vec<Record> {
    wal.replay(from).expect("written").collect::<Result<_, _>>().expect("whole files")
}

fn expected(from: u64, to: u64) -> Vec<Record> {
    (from..to).map(|index| Record { index, bytes: op(index) }).collect()
}

/// The files of the log, in order.
fn files(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(path).expect("a directory").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

#[test]
fn records_are_found_again_over_many_files() {
    for fsync in [Fsync::Always, Fsync::EverySecond, Fsync::Never] {
        let (dir, options) = (dir(), WalOptions { fsync, ..SMALL });
        let mut wal = Wal::open(dir.path(), options, 5).expect("an empty directory");
        fill(&mut wal, 5, 60);
        assert_eq!(wal.durable() == 60, fsync == Fsync::Always, "{fsync:?}");
        fill(&mut wal, 60, 100);
        drop(wal);
        assert!(files(dir.path()).len() > 5);
        let mut wal = Wal::open(dir.path(), options, 0).expect("it is whole");
        assert_eq!((wal.first(), wal.next(), wal.durable(), wal.torn()), (5, 100, 100, None));
        assert_eq!(records(&mut wal, 0), expected(5, 100));
        for from in [5, 6, 50, 99, 100, 1000] {
            assert_eq!(records(&mut wal, from), expected(from.min(100), 100), "from {from}");
        }
    }
}

#[test]
fn a_record_in_memory_is_replayed_too() {
    let dir = dir();
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    wal.append(0, &op(0)).expect("room");
    assert_eq!(wal.durable(), 0);
    assert_eq!(records(&mut wal, 0), expected(0, 1));
}

#[test]
fn a_record_may_be_longer_than_a_file() {
    let (dir, long) = (dir(), vec![7; 3 << 20]);
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    for (index, body) in (0..).zip([&long[..], b"short", &long, &long]) {
        wal.append(index, body).expect("room");
    }
    wal.sync().expect("a disk");
    drop(wal);
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("it is whole");
    let lengths: Vec<usize> = records(&mut wal, 0).iter().map(|record| record.bytes.len()).collect();
    assert_eq!(lengths, [3 << 20, 5, 3 << 20, 3 << 20]);
}

#[test]
fn trimming_removes_whole_files_below_the_index() {
    let dir = dir();
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    fill(&mut wal, 0, 100);
    let before = files(dir.path()).len();
    wal.trim(50).expect("a disk");
    assert!(wal.first() <= 50 && wal.first() > 20 && files(dir.path()).len() < before);
    assert_eq!(records(&mut wal, 50), expected(50, 100));
    wal.trim(u64::MAX).expect("a disk");
    assert_eq!(files(dir.path()).len(), 1);
    fill(&mut wal, 100, 120);
    drop(wal);
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("it is whole");
    assert_eq!(records(&mut wal, 100), expected(100, 120));
}

#[test]
fn a_log_begins_anew_behind_a_newer_snapshot() {
    let dir = dir();
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    fill(&mut wal, 0, 40);
    wal.append(40, b"in memory").expect("room");
    wal.reset(1000).expect("a disk");
    fill(&mut wal, 1000, 1010);
    drop(wal);
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("it is whole");
    assert_eq!(records(&mut wal, 0), expected(1000, 1010));
}

#[test]
fn the_last_file_is_cut_at_its_last_whole_record_wherever_it_was_torn() {
    let good = dir();
    fill(&mut Wal::open(good.path(), SMALL, 0).expect("an empty directory"), 0, 25);
    let (last, bytes) = last_file(good.path());
    let first = u64::from_str_radix(&last["wal-".len()..], 16).expect("its name says so");
    for len in 40..bytes.len() {
        let dir = copy(good.path());
        fs::write(dir.path().join(&last), &bytes[..len]).expect("a disk");
        let mut wal = Wal::open(dir.path(), SMALL, 0).expect("a torn tail is no damage");
        let next = wal.next();
        assert!((first..25).contains(&next), "{len} bytes: {next}");
        if let Some(torn) = wal.torn() {
            assert_eq!(torn.offset + torn.bytes, len as u64);
        }
        fill(&mut wal, next, 30);
        drop(wal);
        let mut wal = Wal::open(dir.path(), SMALL, 0).expect("it was mended");
        assert_eq!(wal.torn(), None);
        assert_eq!(records(&mut wal, 0), expected(0, 30), "{len} bytes");
    }
}

#[test]
fn a_flipped_bit_is_an_error_that_names_the_place_or_ends_the_log() {
    let good = dir();
    fill(&mut Wal::open(good.path(), SMALL, 0).expect("an empty directory"), 0, 25);
    let all = files(good.path());
    for path in &all {
        let name = path.file_name().expect("a file");
        let bytes = fs::read(path).expect("a file");
        let dir = copy(good.path());
        for bit in (0..bytes.len() * 8).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(dir.path().join(name), &bytes).expect("a disk");
            match Wal::open(dir.path(), SMALL, 0) {
                Err(WalError::Damaged { file, offset }) => {
                    assert!(file.ends_with(name) && offset <= bit as u64 / 8, "bit {bit}: {offset}");
                }
                Ok(mut wal) => {
                    assert!(Some(path) == all.last() && wal.next() == 24 && wal.torn().is_some(), "bit {bit}");
                    assert_eq!(records(&mut wal, 0), expected(0, 24));
                }
                Err(other) => panic!("bit {bit}: {other}"),
            }
        }
    }
}

#[test]
fn other_versions_groups_and_gaps_are_refused_by_name() {
    let good = dir();
    fill(&mut Wal::open(good.path(), SMALL, 0).expect("an empty directory"), 0, 40);
    let open = |path: &Path, options| Wal::open(path, options, 0).expect_err("it is not ours");
    let other = open(good.path(), WalOptions { group: 8, ..SMALL });
    assert!(matches!(other, WalError::OtherGroup { found: 7, expected: 8, .. }), "{other}");

    let without = copy(good.path());
    let missing = files(without.path()).remove(1);
    fs::remove_file(missing).expect("it is there");
    let gap = open(without.path(), SMALL);
    assert!(matches!(&gap, WalError::Missing { expected, found, .. } if expected < found), "{gap}");

    // The checksum makes the version believable: bytes 12..16, over all others of the header.
    let (last, mut bytes) = last_file(good.path());
    bytes[8] = 2;
    let crc = crc32c(&[&bytes[..12], &bytes[16..40]].concat());
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    fs::write(good.path().join(last), bytes).expect("a disk");
    let version = open(good.path(), SMALL);
    assert!(matches!(version, WalError::Version { found: 2, .. }), "{version}");
}

#[test]
fn a_full_disk_is_an_error_before_anything_is_written() {
    let dir = dir();
    let endless = WalOptions { segment_bytes: 1 << 61, ..SMALL };
    match Wal::open(dir.path(), endless, 0) {
        Err(WalError::File(error)) => assert_eq!(error.action, "allocate space for", "{error}"),
        Ok(_) => return corecast_testing::skipped("a full disk", "this file system allocates nothing beforehand"),
        Err(other) => panic!("{other}"),
    }
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_failed_rotation_loses_nothing_and_may_be_tried_again() {
    let dir = dir();
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    let mut next = 0;
    while files(dir.path()).len() < 2 {
        fill(&mut wal, next, next + 1);
        next += 1;
    }
    // The temporary file of the next rotation cannot be created: a directory has its name.
    let mut blocked = Vec::new();
    for index in next..next + 200 {
        blocked.push(dir.path().join(format!("wal-{index:016x}.tmp")));
        fs::create_dir(blocked.last().expect("one")).expect("a disk");
    }
    let error = loop {
        match wal.append(next, &op(next)) {
            Ok(()) => next += 1,
            Err(error) => break error,
        }
        wal.sync().expect("a disk");
    };
    assert!(matches!(&error, WalError::File(error) if error.action == "create"), "{error}");
    blocked.iter().for_each(|path| fs::remove_dir(path).expect("it is empty"));
    fill(&mut wal, next, next + 20);
    drop(wal);
    let mut wal = Wal::open(dir.path(), SMALL, 0).expect("it is whole");
    assert_eq!(records(&mut wal, 0), expected(0, next + 20));
}

#[test]
fn a_log_is_open_once() {
    let dir = dir();
    let _wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
    let error = std::io::Error::from(Wal::open(dir.path(), SMALL, 0).expect_err("it is in use"));
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
}

#[test]
#[should_panic(expected = "in order")]
fn records_are_appended_in_order() {
    let dir = dir();
    let _ = Wal::open(dir.path(), SMALL, 0).expect("an empty directory").append(1, b"");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Batches of records of any length, trimming, and opening again, against a list.
    #[test]
    fn a_log_is_a_list(steps in prop::collection::vec((0..4_u8, 0..400_usize), 1..60)) {
        let dir = dir();
        let mut wal = Wal::open(dir.path(), SMALL, 0).expect("an empty directory");
        let mut list: Vec<Record> = Vec::new();
        for (kind, number) in steps {
            let next = list.len() as u64;
            match kind {
                0 | 1 => {
                    let record = Record { index: next, bytes: vec![number as u8; number] };
                    wal.append(next, &record.bytes).expect("room");
                    list.push(record);
                }
                2 => prop_assert_eq!(wal.sync().expect("a disk"), next),
                _ if number % 2 == 0 => wal.trim(number as u64 % (next + 1)).expect("a disk"),
                _ => {
                    wal.sync().expect("a disk");
                    drop(wal);
                    wal = Wal::open(dir.path(), SMALL, 0).expect("it is whole");
                }
            }
            let first = wal.first() as usize;
            prop_assert_eq!(records(&mut wal, 0), &list[first..]);
        }
    }
}

fn copy(from: &Path) -> tempfile::TempDir {
    let to = dir();
    for file in files(from) {
        fs::copy(&file, to.path().join(file.file_name().expect("a file"))).expect("a disk");
    }
    to
}

fn last_file(path: &Path) -> (String, Vec<u8>) {
    let last = files(path).pop().expect("a log has a file");
    let bytes = fs::read(&last).expect("a file");
    (last.file_name().and_then(|name| name.to_str()).expect("ASCII").to_owned(), bytes)
}

/// CRC-32C, bit by bit.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}
