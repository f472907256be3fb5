//! Opening a log that is there: every file is read, and the tail that a write left unfinished is cut off.

use std::fs::OpenOptions;
use std::path::PathBuf;

use super::error::WalError;
use super::format::Header;
use super::segment::{first_of, name_of, read};
use crate::directory::Directory;
use crate::{FileError, Index};

/// The end of the last file held no whole record, and was cut off when the log was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The file.
    pub file: PathBuf,
    /// Where its last whole record ends, in bytes.
    pub offset: u64,
    /// The number of bytes behind it.
    pub bytes: u64,
}

/// A log as it was found.
pub(super) struct Found {
    /// The first record of each file, in order; at least one.
    pub(super) firsts: Vec<Index>,
    /// The header of the last file.
    pub(super) header: Header,
    /// The length of the last file.
    pub(super) length: u64,
    /// The index after the last record.
    pub(super) next: Index,
    /// The part that was cut off.
    pub(super) torn: Option<TornTail>,
}

/// The log in this directory, made whole; `None` if there is none.
pub(super) fn recover(directory: &Directory, group: u64) -> Result<Option<Found>, WalError> {
    let firsts: Vec<Index> = directory.names()?.iter().filter_map(|name| first_of(name)).collect();
    let Some(&last) = firsts.last() else { return Ok(None) };
    let mut next = firsts[0];
    for &first in &firsts {
        let (header, bytes) = read(directory, group, first)?;
        let file = directory.path_of(&name_of(first));
        if first != next {
            return Err(WalError::Missing { file, expected: next, found: first });
        }
        let contents = header.scan(&bytes);
        let is_whole = contents.end == bytes.len();
        if contents.is_damaged || (first != last && !is_whole) {
            return Err(WalError::Damaged { file, offset: contents.end as u64 });
        }
        next += contents.bodies.len() as u64;
        if first == last {
            let offset = contents.end as u64;
            let torn = (!is_whole).then(|| TornTail { file, offset, bytes: bytes.len() as u64 - offset });
            torn.as_ref().map_or(Ok(()), cut)?;
            return Ok(Some(Found { firsts, header, length: offset, next, torn }));
        }
    }
    unreachable!("the last file returns")
}

fn cut(tail: &TornTail) -> Result<(), FileError> {
    let file = OpenOptions::new().write(true).open(&tail.file).map_err(FileError::at("open", &tail.file))?;
    file.set_len(tail.offset).and_then(|()| file.sync_all()).map_err(FileError::at("cut", &tail.file))
}
