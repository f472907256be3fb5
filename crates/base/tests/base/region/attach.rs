//! Regions that must not be attached to, and their errors.

use std::fs::{self, File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;

use corecast_base::region::{AttachError, CreateError, Liveness, ParticipantId, RegionDir, SharedRegion};
use corecast_base::{CacheLine, sync::AtomicU32, wait::Affinity};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{plan, region_dir};

/// A good region, and a copy of its file under another name that is handed to `spoil`.
#[track_caller]
fn refused(spoil: impl FnOnce(&PathBuf)) -> AttachError {
    let (_temporary, dir) = region_dir();
    let _good = SharedRegion::named(&dir, "good", &plan()).expect("a free name");
    let copy = dir.path().join("copy");
    fs::copy(dir.path().join("good"), &copy).expect("a file");
    drop(SharedRegion::open(&dir, "good").expect("a good region"));
    spoil(&copy);
    let observed = SharedRegion::observe(&dir, "copy").expect_err("spoilt");
    let error = SharedRegion::open(&dir, "copy").expect_err("spoilt");
    assert_eq!(error.to_string(), observed.to_string());
    assert!(error.to_string().contains("copy"), "{error}");
    error
}

fn overwrite(path: &PathBuf, at: u64, bytes: &[u8]) {
    File::options().write(true).open(path).expect("a file").write_all_at(bytes, at).expect("space");
}

#[test]
fn an_unspoilt_copy_is_a_region() {
    let (_temporary, dir) = region_dir();
    let _good = SharedRegion::named(&dir, "good", &plan()).expect("a free name");
    fs::copy(dir.path().join("good"), dir.path().join("copy")).expect("a file");
    let copy = SharedRegion::open(&dir, "copy").expect("as good as the first");
    assert_eq!(copy.entries().len(), 2);
}

#[test]
fn foreign_and_open_files_are_refused() {
    let error = refused(|path| fs::set_permissions(path, Permissions::from_mode(0o602)).expect("our file"));
    assert!(matches!(&error, AttachError::NotOurs(doubt) if doubt.why.starts_with("mode 602")), "{error}");
    if !rustix::process::geteuid().is_root() {
        return corecast_testing::skipped("a file of another user", "needs the right to give files away");
    }
    let error = refused(|path| chown(path, Some(12_345), None).expect("we are root"));
    assert!(
        matches!(&error, AttachError::NotOurs(doubt) if doubt.why == "owned by user 12345, expected user 0"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_regular_is_refused() {
    let error = refused(|path| {
        fs::remove_file(path).expect("our file");
        symlink("good", path).expect("a free name");
    });
    assert!(matches!(&error, AttachError::NotOurs(doubt) if doubt.why.starts_with("a symbolic link")), "{error}");
    let error = refused(|path| {
        fs::remove_file(path).expect("our file");
        fs::create_dir(path).expect("a free name");
    });
    assert!(matches!(&error, AttachError::NotOurs(_)), "{error}");
    let error = refused(|path| {
        fs::remove_file(path).expect("our file");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("a free name");
    });
    assert!(matches!(&error, AttachError::NotOurs(doubt) if doubt.why == "not a regular file"), "{error}");
}

#[test]
fn truncated_and_noisy_files_are_refused() {
    for len in [0, 100, 4096, 8192] {
        let error = refused(|path| File::options().write(true).open(path).expect("a file").set_len(len).expect("less"));
        assert!(matches!(&error, AttachError::Size(doubt) if doubt.why.starts_with(&len.to_string())), "{error}");
    }
    let error = refused(|path| {
        let len = fs::metadata(path).expect("a file").len();
        let noise: Vec<u8> = (0..len).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect();
        fs::write(path, noise).expect("space");
    });
    assert!(
        matches!(&error, AttachError::NotOurs(doubt) if doubt.why.contains("expected 0x7473616365726f63")),
        "{error}"
    );
}

#[test]
fn other_versions_and_machines_are_refused() {
    for (at, bytes, why) in [
        (0x08, &[2, 0][..], "version 2.0, expected 1.0"),
        (0x0a, &[1, 0], "version 1.1, expected 1.0"),
        (0x0c, &[1, 2, 3, 4], "byte order"),
        (0x10, &[4], "pointers of 4 and lines of 64"),
        (0x11, &[32], "pointers of 8 and lines of 32"),
    ] {
        let error = refused(|path| overwrite(path, at, bytes));
        assert!(matches!(&error, AttachError::Abi(doubt) if doubt.why.contains(why)), "{error}");
    }
}

#[test]
fn damage_and_other_states_are_refused() {
    let error = refused(|path| overwrite(path, 0x20, &[1; 8]));
    assert!(matches!(&error, AttachError::Layout(doubt) if doubt.why.contains("checksum")), "{error}");
    let error = refused(|path| overwrite(path, 0x68, &u32::MAX.to_le_bytes()));
    assert!(matches!(&error, AttachError::Layout(doubt) if doubt.why.contains("participants")), "{error}");
    let error = refused(|path| overwrite(path, 0x48, &[7; 8]));
    assert!(matches!(&error, AttachError::Stale(_)), "{error}");
    for (state, why) in [(0_u32, "state 0"), (1, "state 1"), (3, "last participant"), (4, "state 4"), (99, "state 99")]
    {
        let error = refused(|path| overwrite(path, 0x80, &state.to_le_bytes()));
        assert!(matches!(&error, AttachError::Closed(doubt) if doubt.why.contains(why)), "{error}");
    }
}

#[test]
fn untrusted_directories_are_refused() {
    let (temporary, dir) = region_dir();
    drop(SharedRegion::named(&dir, "first", &plan()).expect("makes the directory"));
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("our directory");
    let error = SharedRegion::open(&dir, "any").expect_err("open to all");
    assert!(error.to_string().contains("a directory of mode 755, expected at most 700"), "{error}");
    let link = RegionDir::at(temporary.path().join("link"));
    symlink(dir.path(), link.path()).expect("a free name");
    let error = SharedRegion::named(&link, "any", &plan()).expect_err("a link");
    assert!(matches!(&error, CreateError::Attach(AttachError::NotOurs(_))), "{error}");
    let error = SharedRegion::open(&RegionDir::at(temporary.path().join("none")), "any").expect_err("no directory");
    assert!(matches!(&error, AttachError::NotFound(_)), "{error}");
}

#[test]
fn a_group_is_let_in_on_request() {
    let (_temporary, dir) = region_dir();
    let dir = dir.open_to_group();
    let gid = rustix::process::getegid().as_raw();
    let _region = SharedRegion::named(&dir, "ours", &plan().group(gid)).expect("a free name");
    let mode = fs::metadata(dir.path().join("ours")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    SharedRegion::open(&dir, "ours").expect("a good region");
}

#[test]
fn bad_names_are_refused_before_anything_is_touched() {
    let dir = RegionDir::at("/nowhere");
    for name in ["", "a/b", "..", ".hidden", "a\tb", &"x".repeat(256)] {
        assert!(matches!(SharedRegion::named(&dir, name, &plan()), Err(CreateError::BadName(_))), "{name}");
        assert!(matches!(SharedRegion::open(&dir, name), Err(AttachError::BadName(_))), "{name}");
    }
}

#[test]
fn a_participant_may_tell_of_the_cpus_of_another_thread() {
    let region = SharedRegion::memfd(&plan()).expect("there is memory");
    let everywhere = Affinity::of_this_thread();
    let mask = sched_getaffinity(None).expect("own mask");
    let mut first = CpuSet::new();
    first.set((0..CpuSet::MAX_CPU).find(|&cpu| mask.is_set(cpu)).expect("a thread runs somewhere"));
    let told = region.clone();
    let bound = std::thread::spawn(move || {
        sched_setaffinity(None, &first).expect("an allowed CPU");
        told.renew_affinity().expect("no fork");
        Affinity::of_this_thread()
    });
    let bound = bound.join().expect("no panic");
    assert!(region.is_confined(region.me(), &bound), "{bound:?}");
    region.renew_affinity().expect("no fork");
    assert_eq!(region.is_confined(region.me(), &bound), everywhere == bound);
}

#[test]
fn an_inherited_descriptor_is_named_by_its_number_and_stays() {
    let region = SharedRegion::memfd(&plan()).expect("there is memory");
    let fd = region.share().expect("/proc");
    for _ in 0..2 {
        let child = SharedRegion::inherited(fd.as_raw_fd()).expect("a good region");
        assert_eq!((child.generation(), child.has_evidence()), (region.generation(), true));
        assert_eq!(region.liveness(child.me()), Liveness::Alive);
        let anywhere = Affinity::of_this_thread();
        assert!(region.is_confined(child.me(), &anywhere), "it was told when it came");
        let other = ParticipantId { generation: child.me().generation + 1, ..child.me() };
        assert!(!region.is_confined(other, &anywhere), "that one was never there");
        assert!(!region.is_confined(ParticipantId { index: u32::MAX, generation: 1 }, &anywhere));
    }
    let error = SharedRegion::inherited(i32::MAX).expect_err("no such descriptor").to_string();
    assert!(error.contains("inherited descriptor 2147483647"), "{error}");
}

#[test]
fn descriptors_that_are_no_sealed_memfds_are_refused() {
    let (_temporary, dir) = region_dir();
    let named = SharedRegion::named(&dir, "named", &plan()).expect("a free name");
    let error = SharedRegion::from_fd(named.share().expect("/proc")).expect_err("its size is not sealed");
    assert!(error.to_string().contains("not sealed"), "{error}");
    let error = SharedRegion::from_fd(File::open("/dev/null").expect("a device").into()).expect_err("a device");
    assert!(error.to_string().ends_with("not a regular file"), "{error}");
}

#[test]
fn other_channels_than_planned_are_told() {
    let region = SharedRegion::memfd(&plan()).expect("memory");
    region.expect_plan(&plan()).expect("its own plan");
    let other = plan().add("more", 1, [0; 6], 1).expect("a channel");
    let error = region.expect_plan(&other).expect_err("one channel more");
    assert!(error.to_string().contains("found orders, replies; expected orders, replies, more"), "{error}");
}

#[test]
fn sections_are_checked() {
    let region = SharedRegion::heap(&plan()).expect("memory");
    let section = region.section(&region.entry("replies").expect("declared"));
    assert_eq!(section.len(), 128);
    assert!(section.words(0, 16).is_ok() && section.place::<CacheLine<AtomicU32>>(0).is_ok());
    assert_eq!(
        section.words(8, 16).expect_err("too long").to_string(),
        "128 bytes at offset 8 are not inside a section of 128 bytes"
    );
    assert!(section.words(usize::MAX, 1).is_err() && section.words(0, usize::MAX).is_err());
    assert_eq!(section.words(4, 1).expect_err("odd").to_string(), "offset 4 is not aligned to 8 bytes");
    assert_eq!(region.parkers().len(), 4);
}
