//! The first check of an open file that may be a region: its kind, owner, mode and size.

use std::fs::{File, Metadata};
use std::os::linux::fs::MetadataExt;

use super::error::{AttachError, Subject};
use super::places::places;

/// Checks the file and returns its length in bytes.
pub(super) fn check_file(what: Subject<'_>, file: &File, owner: u32) -> Result<usize, AttachError> {
    let data = check_owner(what, file, owner)?;
    let least = places(1, 0).channels;
    let len = usize::try_from(data.st_size()).unwrap_or(usize::MAX);
    what.expect((least..=isize::MAX as usize).contains(&len), AttachError::Size, || {
        format!("{len} bytes, expected at least {least}")
    })?;
    Ok(len)
}

/// Checks that the file is a regular one of this owner, which others may not write.
pub(super) fn check_owner(what: Subject<'_>, file: &File, owner: u32) -> Result<Metadata, AttachError> {
    let data = file.metadata().map_err(what.refused("look at"))?;
    what.expect(data.is_file(), AttachError::NotOurs, || "not a regular file".to_owned())?;
    what.expect(data.st_uid() == owner, AttachError::NotOurs, || {
        format!("owned by user {}, expected user {owner}", data.st_uid())
    })?;
    what.expect(data.st_mode() & 0o002 == 0, AttachError::NotOurs, || {
        format!("mode {:o}, expected one that other users may not write", data.st_mode() & 0o7777)
    })?;
    Ok(data)
}
