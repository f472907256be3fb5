//! The right to host a name: a lock on a file beside the socket, freed by the kernel when its holder ends.

use std::io;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, unlinkat};
use rustix::io::Errno;

use super::socket_dir::Place;
use crate::region::{OwnFile, is_named};

/// The lock of a name, held.
#[derive(Debug)]
pub(super) struct NameLock(OwnFile);

impl NameLock {
    /// Takes it; `None` if somebody else holds it.
    pub(super) fn try_take(place: &Place) -> io::Result<Option<Self>> {
        let name = place.lock_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        loop {
            let open = || Ok(openat(&place.handle, &name, flags, Mode::from_raw_mode(0o600))?.into());
            let file = OwnFile::open(open)?;
            match flock(&*file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                result => result?,
            }
            // Whoever held it may have taken the file away in between: then this is the lock of nothing.
            if is_named(&place.handle, &name, &file) {
                return Ok(Some(Self(file)));
            }
        }
    }

    /// Takes everything of the name away if nobody holds its lock.
    pub(super) fn remove_deserted(place: &Place) {
        if let Ok(Some(lock)) = Self::try_take(place) {
            lock.remove_all(place);
        }
    }

    /// Takes everything of the name away, and frees it.
    pub(super) fn remove_all(self, place: &Place) {
        for name in [place.unfinished_name(), place.socket_name(), place.lock_name()] {
            // What is left is taken away by gc.
            let _ = unlinkat(&place.handle, name, AtFlags::empty());
        }
        drop(self);
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        if !self.0.is_copy() {
            // Closing alone would not do: a child that is being forked or spawned at this moment holds a copy for a while.
            let _ = flock(&*self.0, FlockOperation::Unlock);
        }
    }
}
