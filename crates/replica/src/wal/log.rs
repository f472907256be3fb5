//! The log itself: append, sync, rotate, trim.
//!
//! Take it where commands have to survive power loss. [`Wal::append`] collects records in memory, and [`Wal::sync`] writes all
//! of them with one system call and makes them durable with another, so that the commands of a batch share both. A record
//! must not be acknowledged before `sync` has returned an index above its own.
//!
//! The log is a chain of files of [`WalOptions::segment_bytes`]. The space of a file is allocated when it is created, so that
//! a full disk is noticed before anything is written; a file becomes durable before the next one is created. After an error
//! of writing or syncing nobody knows which bytes are on the disk, and a second fsync may report success for pages that the
//! kernel has dropped: every later call fails until the log is opened again. Source: Rebello et al., Can Applications Recover
//! from fsync Failures?, 2020.
//!
//! ```
//! use corecast_replica::wal::{Wal, WalOptions};
//!
//! # fn main() -> Result<(), corecast_replica::wal::WalError> {
//! # let dir = tempfile::tempdir().expect("a temporary directory");
//! # let path = dir.path();
//! let options = WalOptions { segment_bytes: 4096, ..WalOptions::new(17) };
//! let mut wal = Wal::open(path, options, 0)?;
//! wal.append(0, b"set a 1")?;
//! wal.append(1, b"set b 2")?;
//! assert_eq!(wal.sync()?, 2); // both may be acknowledged
//! drop(wal);
//!
//! let mut wal = Wal::open(path, options, 0)?;
//! let records = wal.replay(1)?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(records[0].bytes, b"set b 2");
//! # Ok(())
//! # }
//! ```

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::WalError;
use super::format::{HEADER_BYTES, Header, MAX_RECORD_BYTES};
use super::options::{Fsync, WalOptions};
use super::recovery::{Found, TornTail, recover};
use super::replay::Replay;
use super::segment::{bytes_for, create, name_of, reserve};
use crate::directory::Directory;
use crate::{FileError, Index, crash_point};

/// Records are written without waiting for `sync` when they fill this much memory.
const BUFFER_BYTES: usize = 1 << 20;

/// How long records may stay in the kernel's memory alone, with [`Fsync::EverySecond`].
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// A write-ahead log. One process at a time has it open.
#[derive(Debug)]
pub struct Wal {
    directory: Directory,
    options: WalOptions,
    /// The first record of each file, in order; the last file is open.
    firsts: Vec<Index>,
    file: File,
    header: Header,
    /// The bytes of the open file that are written.
    length: u64,
    /// Records that are not yet written.
    buffer: Vec<u8>,
    /// The index after the last record that was appended.
    next: Index,
    /// The count of records that are durable.
    durable: Index,
    synced_at: Instant,
    torn: Option<TornTail>,
    has_failed: bool,
}

impl Wal {
    /// Opens the log in this directory, and cuts off the tail that a write left unfinished ([`torn`](Self::torn)). If there is
    /// no log, creates one whose first record will be `start`.
    ///
    /// Every file is read whole. The log may end before the snapshot that its replica starts from: see [`reset`](Self::reset).
    ///
    /// # Errors
    /// All of [`WalError`] but [`WalError::TooLarge`] and [`WalError::Failed`].
    pub fn open(directory: &Path, options: WalOptions, start: Index) -> Result<Self, WalError> {
        let directory = Directory::open(directory)?;
        match recover(&directory, options.group)? {
            Some(found) => Self::resume(directory, options, found),
            None => {
                let (file, header) = create(&directory, &options, start, options.segment_bytes)?;
                let found = Found { firsts: vec![start], header, length: HEADER_BYTES as u64, next: start, torn: None };
                Ok(Self::of(directory, options, found, file))
            }
        }
    }

    fn resume(directory: Directory, options: WalOptions, found: Found) -> Result<Self, WalError> {
        let name = name_of(found.header.first);
        let path = directory.path_of(&name);
        let mut file = OpenOptions::new().write(true).open(&path).map_err(FileError::at("open", &path))?;
        reserve(&directory, &name, &file, options.segment_bytes)?;
        file.seek(SeekFrom::Start(found.length)).map_err(FileError::at("seek", &path))?;
        // The process that wrote the records may have died before it synced them, or the name of their file.
        file.sync_all().map_err(FileError::at("sync", &path))?;
        directory.sync()?;
        Ok(Self::of(directory, options, found, file))
    }

    fn of(directory: Directory, options: WalOptions, found: Found, file: File) -> Self {
        let Found { firsts, header, length, next, torn } = found;
        let (buffer, synced_at) = (Vec::new(), Instant::now());
        Self {
            directory,
            options,
            firsts,
            file,
            header,
            length,
            buffer,
            next,
            durable: next,
            synced_at,
            torn,
            has_failed: false,
        }
    }

    /// Appends a record, which is in memory until [`sync`](Self::sync). An error leaves the log as it was, unless it was one
    /// of writing.
    ///
    /// # Errors
    /// [`WalError::TooLarge`], [`WalError::Failed`], and [`WalError::File`] where a file is full and no next one can be
    /// created, or the records before cannot be written.
    ///
    /// # Panics
    /// If `index` is not [`next`](Self::next).
    #[track_caller]
    pub fn append(&mut self, index: Index, bytes: &[u8]) -> Result<(), WalError> {
        assert_eq!(index, self.next, "records are appended in order of their index");
        if bytes.len() > MAX_RECORD_BYTES {
            return Err(WalError::TooLarge { bytes: bytes.len() });
        }
        self.check()?;
        let written = self.length + self.buffer.len() as u64;
        let end = written + bytes_for(bytes.len()) - HEADER_BYTES as u64;
        if end > self.options.segment_bytes {
            self.make_room(bytes.len(), written)?;
        }
        self.header.encode_record(index, self.durable, bytes, &mut self.buffer);
        self.next += 1;
        if self.buffer.len() >= BUFFER_BYTES { self.write_out() } else { Ok(()) }
    }

    /// Writes everything that was appended, and makes it durable as [`WalOptions::fsync`] says. Returns the count of records
    /// that may be acknowledged: all of them.
    ///
    /// With [`Fsync::EverySecond`] it has to be called at least once a second while
    /// [`durable`](Self::durable) is below [`next`](Self::next).
    ///
    /// # Errors
    /// [`WalError::File`] where writing or syncing fails, and [`WalError::Failed`] ever after.
    pub fn sync(&mut self) -> Result<Index, WalError> {
        self.check()?;
        self.write_out()?;
        let is_due = match self.options.fsync {
            Fsync::Always => true,
            Fsync::EverySecond => self.synced_at.elapsed() >= SYNC_INTERVAL,
            Fsync::Never => false,
        };
        if is_due {
            self.make_durable()?;
        }
        Ok(self.next)
    }

    /// The records from `from` on, or from the first one that was not trimmed.
    ///
    /// # Errors
    /// As [`sync`](Self::sync): what is in memory is written first.
    pub fn replay(&mut self, from: Index) -> Result<Replay<'_>, WalError> {
        self.check()?;
        self.write_out()?;
        Ok(Replay::new(&self.directory, self.options.group, &self.firsts, from, self.next))
    }

    /// Removes the files all of whose records are below `below`. The last file stays.
    ///
    /// # Errors
    /// [`WalError::File`]; the log is whole, and some files may be gone.
    pub fn trim(&mut self, below: Index) -> Result<(), WalError> {
        while self.firsts.get(1).is_some_and(|first| *first <= below) {
            self.directory.remove(&name_of(self.firsts[0]))?;
            self.firsts.remove(0);
            // One by one, oldest first: a file in the middle must not be missing after power loss.
            self.directory.sync()?;
        }
        Ok(())
    }

    /// Forgets all records; the next one will be `start`. For a replica that starts from a snapshot which is newer than its log.
    ///
    /// # Errors
    /// [`WalError::File`] and [`WalError::Failed`]. The records are gone, or the oldest of them are left.
    pub fn reset(&mut self, start: Index) -> Result<(), WalError> {
        self.check()?;
        self.has_failed = true;
        self.buffer.clear();
        // Newest first: the records that are left after power loss are a log that ends earlier.
        while let Some(first) = self.firsts.pop() {
            self.directory.remove(&name_of(first))?;
            self.directory.sync()?;
        }
        self.begin(start, self.options.segment_bytes)?;
        self.next = start;
        self.durable = start;
        self.has_failed = false;
        Ok(())
    }

    /// The first record that the log holds, or will hold.
    #[must_use]
    pub fn first(&self) -> Index {
        self.firsts.first().copied().unwrap_or(self.next)
    }

    /// The index of the record that is appended next.
    #[must_use]
    pub fn next(&self) -> Index {
        self.next
    }

    /// The count of records that no power loss takes away.
    #[must_use]
    pub fn durable(&self) -> Index {
        self.durable
    }

    /// The tail that was cut off when the log was opened.
    #[must_use]
    pub fn torn(&self) -> Option<&TornTail> {
        self.torn.as_ref()
    }

    fn check(&self) -> Result<(), WalError> {
        if self.has_failed { Err(WalError::Failed) } else { Ok(()) }
    }

    fn write_out(&mut self) -> Result<(), WalError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(&self.buffer) {
            return Err(self.fail("write", error));
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        crash_point::here("wal-written");
        Ok(())
    }

    fn make_durable(&mut self) -> Result<(), WalError> {
        if self.durable < self.next {
            if let Err(error) = self.file.sync_data() {
                return Err(self.fail("sync", error));
            }
            crash_point::here("wal-synced");
            self.durable = self.next;
        }
        self.synced_at = Instant::now();
        Ok(())
    }

    /// Goes on in a file that has room for a record of this length. An empty file is made as long as that takes.
    #[cold]
    fn make_room(&mut self, body: usize, written: u64) -> Result<(), WalError> {
        let bytes = self.options.segment_bytes.max(bytes_for(body));
        if written == HEADER_BYTES as u64 {
            return Ok(reserve(&self.directory, &name_of(self.header.first), &self.file, bytes)?);
        }
        self.write_out()?;
        // Gives back the rest of the space that was allocated.
        if let Err(error) = self.file.set_len(self.length) {
            return Err(self.fail("cut", error));
        }
        // Not later: an unfinished write is looked for in the last file only.
        self.make_durable()?;
        self.begin(self.next, bytes)
    }

    fn begin(&mut self, first: Index, bytes: u64) -> Result<(), WalError> {
        let created = create(&self.directory, &self.options, first, bytes);
        // With its name in place, but perhaps not durably, no record must go to the file before it.
        self.has_failed |= created.is_err() && self.directory.path_of(&name_of(first)).exists();
        let (file, header) = created?;
        self.file = file;
        self.header = header;
        self.length = HEADER_BYTES as u64;
        self.firsts.push(first);
        Ok(())
    }

    fn fail(&mut self, action: &'static str, error: std::io::Error) -> WalError {
        self.has_failed = true;
        FileError::at(action, self.directory.path_of(&name_of(self.header.first)))(error).into()
    }
}
