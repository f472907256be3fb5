//! Locks of open files: the open file description holds them, and the kernel frees them when its last descriptor is closed,
//! however the process ends. They prove that a participant lives, and they exclude others.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// Locks the byte at `at` if no other open file holds it; true if this one holds it now.
pub(super) fn try_lock(file: &File, at: u64) -> io::Result<bool> {
    match set(file, libc::F_WRLCK, at) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Frees the byte at `at`.
pub(super) fn unlock(file: &File, at: u64) -> io::Result<()> {
    set(file, libc::F_UNLCK, at)
}

fn set(file: &File, kind: i32, at: u64) -> io::Result<()> {
    let request = request(kind, &(at..at + 1))?;
    // SAFETY: the descriptor is open, and fcntl only reads the request.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const request) };
    if status == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// True if another open file holds a byte of `range`; to the end of all files if it ends at [`u64::MAX`].
pub(super) fn is_locked_by_another(file: &File, range: &Range<u64>) -> io::Result<bool> {
    let mut request = request(libc::F_WRLCK, range)?;
    // SAFETY: the descriptor is open, and fcntl reads and writes the request, which is ours.
    let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut request) };
    if status == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(request.l_type) != libc::F_UNLCK)
}

fn request(kind: i32, range: &Range<u64>) -> io::Result<libc::flock> {
    let too_large = |_| io::Error::from_raw_os_error(libc::EOVERFLOW);
    let bytes = if range.end == u64::MAX { 0 } else { range.end - range.start };
    // SAFETY: a struct of integers, for which zeroes are values.
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    request.l_type = kind as libc::c_short;
    request.l_whence = libc::SEEK_SET as libc::c_short;
    request.l_start = range.start.try_into().map_err(too_large)?;
    request.l_len = bytes.try_into().map_err(too_large)?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_belongs_to_the_open_file_and_ends_with_it() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("locks");
        let one = File::create_new(&path).expect("a new file");
        let other = File::options().read(true).write(true).open(&path).expect("the same file");
        assert!(try_lock(&one, 7).expect("locks work here"));
        assert!(!try_lock(&other, 7).expect("locks work here"));
        assert!(try_lock(&one, 7).expect("locks work here"), "its own lock does not hinder it");
        assert!(is_locked_by_another(&other, &(0..u64::MAX)).expect("locks work here"));
        assert!(!is_locked_by_another(&other, &(0..7)).expect("locks work here"));
        assert!(!is_locked_by_another(&one, &(7..8)).expect("locks work here"));
        drop(one);
        assert!(!is_locked_by_another(&other, &(0..u64::MAX)).expect("locks work here"));
    }
}
