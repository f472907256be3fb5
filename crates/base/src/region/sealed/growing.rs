//! A file in memory that one process appends to, and that others copy from while it grows.
//!
//! **When to take it:** many bytes are written once and read once, in order, such as a state for a process that joins.
//! **When not:** readers look here and there, or again: [`SealedMemory`](super::SealedMemory) is mapped.
//!
//! Writer and reader use system calls of many bytes each, so that neither has a page fault for each page of the file, and the
//! kernel fills no page with zeroes that is written as a whole. A reader has all bytes that were written before it looks; how many
//! there will be, and whether they are the ones that were written, the two have to tell each other. Nothing here waits.
//!
//! ```
//! use std::io::{Read, Write};
//! use corecast_base::region::{GrowingFile, GrowingFileReader};
//! let mut mine = GrowingFile::create()?;
//! let mut theirs = GrowingFileReader::open_announced(mine.announcement())?;
//! mine.write_all(b"first")?;
//! let mut bytes = [0; 8];
//! assert_eq!((theirs.read(&mut bytes)?, &bytes[..5]), (5, &b"first"[..]));
//! assert_eq!(theirs.read(&mut bytes)?, 0, "there is no more yet");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, PermissionsExt};

use rustix::fs::{MemfdFlags, memfd_create};

use super::header::Announcement;
use super::reader::{not_opened, open_regular};
use crate::region::error::{AttachError, CreateError, Subject};
use crate::region::file::check_owner;
use crate::region::fork::OwnFile;
use crate::region::process::{own_uid, random_word};
use crate::region::storage::check_growth;

/// "ccgrowng", as bytes in memory.
const MAGIC: [u8; 8] = *b"ccgrowng";
/// The bytes before the content: the magic, and the identity.
const HEADER_BYTES: u64 = 16;
/// How many bytes are asked for at once, when it has to be known whether there is memory.
const STEP_BYTES: u64 = 16 << 20;

/// The end of the process that writes. Forked children do not have the file.
#[derive(Debug)]
pub struct GrowingFile {
    file: OwnFile,
    identity: u64,
    /// The length of the file, and the length for which it was asked whether there is memory.
    len: u64,
    allowed: u64,
}

impl GrowingFile {
    /// An empty file.
    ///
    /// # Errors
    /// [`CreateError::System`] if the system refuses a call.
    pub fn create() -> Result<Self, CreateError> {
        let failed = |source| CreateError::System { what: "make a file in memory".to_owned(), source };
        let make = || Ok(memfd_create(c"corecast-growing", MemfdFlags::CLOEXEC)?.into());
        let file = OwnFile::open(make).map_err(failed)?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
        let identity = random_word();
        let mut created = Self { file, identity, len: 0, allowed: 0 };
        created.write_all(&MAGIC).map_err(failed)?;
        created.write_all(&identity.to_le_bytes()).map_err(failed)?;
        Ok(created)
    }

    /// Where other processes find it.
    #[must_use]
    pub fn announcement(&self) -> Announcement {
        let fd = self.file.as_raw_fd().unsigned_abs();
        Announcement { pid: std::process::id(), fd, identity: self.identity }
    }

    /// The number of bytes that were written.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len - HEADER_BYTES
    }

    /// True if none was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn ask_for_memory(&mut self, bytes: u64) -> io::Result<()> {
        // Where there is little left, it is asked for each write.
        let step = bytes.max(STEP_BYTES);
        let allowed = if check_growth(self.len, step).is_ok() { step } else { bytes };
        check_growth(self.len, allowed)?;
        self.allowed = self.len + allowed;
        Ok(())
    }
}

impl Write for GrowingFile {
    /// Appends. Fails, among others, if there is not enough memory, and in a forked child.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_copy() {
            return Err(io::Error::other(crate::region::error::Forked));
        }
        if self.len + bytes.len() as u64 > self.allowed {
            self.ask_for_memory(bytes.len() as u64)?;
        }
        let written = self.file.write_at(bytes, self.len)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The end of a process that reads.
#[derive(Debug)]
pub struct GrowingFileReader {
    file: OwnFile,
    at: u64,
}

impl GrowingFileReader {
    /// Opens the file that a process announced, and checks that it is this one.
    ///
    /// # Errors
    /// As for [`SealedReader::open_announced`](super::SealedReader::open_announced).
    pub fn open_announced(at: Announcement) -> Result<Self, AttachError> {
        let what = format!("/proc/{}/fd/{}", at.pid, at.fd);
        let file = OwnFile::open(|| open_regular(what.as_ref())).map_err(|error| not_opened(&what, error))?;
        let subject = Subject(&what);
        check_owner(subject, &file, own_uid())?;
        let mut header = [0; HEADER_BYTES as usize];
        file.read_exact_at(&mut header, 0).map_err(subject.refused("read"))?;
        let expected = [MAGIC, at.identity.to_le_bytes()].concat();
        subject.expect(header[..] == expected[..], AttachError::NotOurs, || {
            "another file than was announced".to_owned()
        })?;
        Ok(Self { file, at: HEADER_BYTES })
    }
}

impl Read for GrowingFileReader {
    /// The next bytes; none if no more were written so far.
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(to, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_order_while_they_come() {
        let mut mine = GrowingFile::create().expect("a file in memory");
        assert!(mine.is_empty());
        let mut theirs = GrowingFileReader::open_announced(mine.announcement()).expect("/proc");
        let mut found = Vec::new();
        for part in [&b"one"[..], b"", b"three", &[7; 100_000]] {
            mine.write_all(part).expect("there is memory");
            theirs.read_to_end(&mut found).expect("it reads");
        }
        assert_eq!((mine.len(), found.len(), &found[..8]), (100_008, 100_008, &b"onethree"[..]));
        drop(mine);
        assert_eq!(theirs.read(&mut [0]).expect("the reader keeps it"), 0);
    }

    #[test]
    fn another_file_than_the_announced_one_is_refused() {
        let (mine, other) = (GrowingFile::create().expect("a file"), GrowingFile::create().expect("a file"));
        let wrong = Announcement { identity: other.announcement().identity, ..mine.announcement() };
        let error = GrowingFileReader::open_announced(wrong).expect_err("another one");
        assert!(matches!(error, AttachError::NotOurs(_)), "{error}");
        let sealed = super::super::SealedMemory::create(64).expect("there is memory").announcement();
        GrowingFileReader::open_announced(sealed).expect_err("mapped memory is none");
    }

    #[test]
    fn more_than_there_is_is_refused_before_it_is_written() {
        let mut mine = GrowingFile::create().expect("a file");
        assert_eq!(mine.ask_for_memory(1 << 50).expect_err("a petabyte").kind(), io::ErrorKind::OutOfMemory);
        mine.write_all(b"little").expect("there is memory for this");
    }
}
