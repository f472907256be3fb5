//! One file of a write-ahead log: its name, how it is created, and how it is read.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::error::WalError;
use super::format::{HEADER_BYTES, Header, HeaderFault};
use super::options::WalOptions;
use crate::directory::Directory;
use crate::{FileError, Index};

const PREFIX: &str = "wal-";

/// The name of the file that begins with the record `first`. Names are ordered as their records are.
pub(super) fn name_of(first: Index) -> String {
    format!("{PREFIX}{first:016x}")
}

/// The first record of the file of this name; `None` for other files.
pub(super) fn first_of(name: &str) -> Option<Index> {
    let digits = name.strip_prefix(PREFIX)?;
    Index::from_str_radix(digits, 16).ok().filter(|first| name_of(*first) == name)
}

/// Creates an empty file, with space for `bytes` bytes. On an error there is no file.
pub(super) fn create(
    directory: &Directory,
    options: &WalOptions,
    first: Index,
    bytes: u64,
) -> Result<(File, Header), WalError> {
    let name = name_of(first);
    let header = Header { group: options.group, first, salt: RandomState::new().hash_one(first) };
    let mut file = directory.create_temporary(&name)?;
    let filled = reserve(directory, &name, &file, bytes)
        .and_then(|()| file.write_all(&header.encode()).map_err(FileError::at("write", directory.path_of(&name))))
        .and_then(|()| directory.publish(&name, &file));
    match filled {
        Ok(()) => Ok((file, header)),
        Err(error) => {
            directory.discard_temporary(&name);
            Err(error.into())
        }
    }
}

/// Allocates space for `bytes` bytes in all, so that a full disk is noticed here and not in the middle of a record. A file
/// system that cannot do so is left to notice it then.
pub(super) fn reserve(directory: &Directory, name: &str, file: &File, bytes: u64) -> Result<(), FileError> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(FileError::at("allocate space for", directory.path_of(name))(error.into())),
    }
}

/// The whole file that begins with the record `first`, and its header, which is that of our group.
pub(super) fn read(directory: &Directory, group: u64, first: Index) -> Result<(Header, Vec<u8>), WalError> {
    let file = directory.path_of(&name_of(first));
    let bytes = fs::read(&file).map_err(FileError::at("read", &file))?;
    match Header::decode(&bytes) {
        Ok(header) if header.group != group => Err(WalError::OtherGroup { file, found: header.group, expected: group }),
        Ok(header) if header.first == first => Ok((header, bytes)),
        Err(HeaderFault::Version(found)) => Err(WalError::Version { file, found }),
        Ok(_) | Err(HeaderFault::Damaged) => Err(WalError::Damaged { file, offset: 0 }),
    }
}

/// The space that a file needs for one record with a body of this length.
pub(super) const fn bytes_for(body: usize) -> u64 {
    (HEADER_BYTES + super::format::RECORD_HEADER_BYTES + body) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_their_records() {
        assert!(name_of(9) < name_of(10) && name_of(255) < name_of(4096));
        assert_eq!(first_of(&name_of(0xabc)), Some(0xabc));
        for other in ["wal-", "wal-1", "wal-0000000000000ABC", "snapshot-0000000000000001", "wal-0000000000000001.tmp"]
        {
            assert_eq!(first_of(other), None, "{other}");
        }
    }
}
