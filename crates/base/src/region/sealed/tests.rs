//! Tests of both ends in one process.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{MemfdFlags, Mode, SealFlags, fchmod, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MprotectFlags, mprotect};

use super::header::{HEADER_BYTES, SEALS};
use super::{Announcement, SealedMemory, SealedReader};
use crate::region::error::{AttachError, CreateError};
use crate::region::mapping::Mapping;
use crate::region::memfd::reopen;
use crate::sync::Ordering;

fn memory() -> SealedMemory {
    SealedMemory::create(1 << 16).expect("there is memory")
}

#[test]
fn a_reader_finds_what_the_writer_wrote_and_keeps_it() {
    let mine = SealedMemory::create(4093).expect("there is memory");
    assert_eq!((mine.len(), mine.is_empty()), (512, false), "whole words");
    let words = mine.words().expect("not forked");
    words.iter().enumerate().for_each(|(at, word)| word.store(at as u64 + 1, Ordering::Relaxed));
    let theirs = SealedReader::open_announced(mine.announcement()).expect("/proc");
    let another = SealedReader::open(mine.fd().expect("not forked").try_clone_to_owned().expect("a descriptor"));
    let seen = theirs.words().expect("not forked");
    assert_eq!((seen.len(), seen.load(0), seen.read::<3>(509)), (512, 1, [510, 511, 512]));
    assert_eq!(another.expect("the same").words().expect("not forked").load(7), 8);
    assert_eq!(mine.read_only().expect("not forked").load(7), 8);
    // The writer is gone; a third process finds the memory at the reader.
    drop((mine, words));
    let third = SealedReader::open_announced(theirs.announcement()).expect("/proc");
    drop((theirs, seen));
    let kept = third.words().expect("not forked");
    drop(third);
    assert_eq!(kept.load(511), 512, "words keep the mapping");
}

#[test]
#[should_panic(expected = "range end index")]
fn a_word_beyond_the_end_is_not_read() {
    let words = memory().read_only().expect("not forked");
    let _ = words.read::<2>(words.len() - 1);
}

#[test]
fn nobody_else_can_write_or_change_the_size() {
    let mine = memory();
    let theirs = SealedReader::open_announced(mine.announcement()).expect("/proc");
    for number in [mine.fd().expect("not forked").as_raw_fd(), theirs.announcement().fd as i32] {
        let mut file: File = reopen(&number).expect("the owner may open it for writing");
        let refused = |result: std::io::Result<()>| result.expect_err("sealed").raw_os_error();
        let no_permission = Some(Errno::PERM.raw_os_error());
        assert_eq!(refused(file.write_all(b"damage")), no_permission);
        assert_eq!(refused(Mapping::shared(&file, 8192).map(drop)), no_permission);
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
        assert_eq!(ftruncate(&file, 1 << 20), Err(Errno::PERM));
        assert_eq!(fcntl_add_seals(&file, SealFlags::WRITE), Err(Errno::PERM));
    }
    mine.words().expect("not forked")[0].store(1, Ordering::Relaxed);
    assert_eq!(theirs.words().expect("not forked").load(0), 1, "the writer still writes");
}

#[test]
fn a_reader_cannot_make_its_mapping_writable() {
    let mine = memory();
    let file = reopen(&mine.fd().expect("not forked")).expect("the owner may open it for writing");
    let mapping = Mapping::read_only(&file, 8192).expect("it may be read");
    let start = mapping.start().as_ptr().cast();
    // SAFETY: our own mapping, to which nobody has a reference.
    let changed = unsafe { mprotect(start, mapping.len(), MprotectFlags::READ.union(MprotectFlags::WRITE)) };
    assert_eq!(changed, Err(Errno::ACCESS));
}

#[test]
fn more_than_there_is_is_refused_at_once() {
    for bytes in [1 << 50, usize::MAX] {
        assert!(matches!(SealedMemory::create(bytes), Err(CreateError::NoSpace { .. })), "{bytes}");
    }
}

#[test]
fn another_memory_at_the_announced_place_is_not_taken_for_it() {
    let (mine, other) = (memory(), memory());
    assert_ne!(mine.announcement().identity, other.announcement().identity);
    let wrong = Announcement { identity: other.announcement().identity, ..mine.announcement() };
    let error = SealedReader::open_announced(wrong).expect_err("another one");
    assert!(matches!(&error, AttachError::NotOurs(_)) && error.to_string().contains("expected"), "{error}");
}

#[test]
fn descriptors_that_are_something_else_are_refused() {
    let at = |file: &dyn AsRawFd| {
        let fd = file.as_raw_fd().unsigned_abs();
        SealedReader::open_announced(Announcement { pid: std::process::id(), fd, identity: 1 }).expect_err("no memory")
    };
    let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("sockets");
    assert!(matches!(at(&socket), AttachError::NotFound(_)), "not opened, as that might wait");
    let stat = at(&File::open("/proc/self/stat").expect("/proc"));
    assert!(matches!(stat, AttachError::Size(_)), "a file without a size: {stat}");
    let memfd = |bytes, seals| -> OwnedFd {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file: OwnedFd = memfd_create(c"something", flags).expect("memory");
        fchmod(&file, Mode::RUSR | Mode::WUSR).expect("our own");
        ftruncate(&file, bytes).expect("not sealed yet");
        fcntl_add_seals(&file, seals).expect("allowed");
        file
    };
    assert!(matches!(at(&memfd(8192, SealFlags::SHRINK | SealFlags::GROW)), AttachError::NotOurs(_)));
    assert!(matches!(at(&memfd(100, SEALS)), AttachError::Size(_)));
    let error = SealedReader::open(memfd(8192, SEALS)).expect_err("no header");
    assert!(matches!(error, AttachError::Layout(_)), "{error}");
}

#[test]
fn a_place_that_nobody_holds_is_not_found() {
    let gone = memory().announcement();
    // Another test may have the number by now, so this may be any error.
    SealedReader::open_announced(gone).expect_err("closed");
    let nobody = Announcement { pid: u32::MAX, ..gone };
    let error = SealedReader::open_announced(nobody).expect_err("no such process");
    assert!(matches!(&error, AttachError::NotFound(what) if what.starts_with("/proc/4294967295/fd/")), "{error}");
}

#[test]
fn words_begin_on_a_line_of_their_own() {
    let words = memory().words().expect("not forked");
    assert_eq!(words.as_ptr().addr() % HEADER_BYTES, 0);
    assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0), "zeroes");
}
