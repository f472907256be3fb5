//! The right to host a name: a lock on a file beside the socket, freed by the kernel when its holder ends.

use std::io;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, unlinkat};
use rustix::io::Errno;

use super::socket_dir::SocketName;
use crate::region::{OwnFile, is_named};

/// The lock of a name, held.
#[derive(Debug)]
pub(super) struct NameLock(OwnFile);

impl NameLock {
    /// Takes the lock; `None` if another process holds it.
    pub(super) fn try_take(socket: &SocketName) -> io::Result<Option<Self>> {
        let name = socket.lock_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        loop {
            let open = || Ok(openat(&socket.handle, &name, flags, Mode::from_raw_mode(0o600))?.into());
            let file = OwnFile::open(open)?;
            match flock(&*file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                result => result?,
            }
            // The last holder may have removed the file in between. Then this is the lock of nothing.
            if is_named(&socket.handle, &name, &file) {
                return Ok(Some(Self(file)));
            }
        }
    }

    /// Removes all files of the name if no process holds its lock.
    pub(super) fn remove_deserted(socket: &SocketName) {
        if let Ok(Some(lock)) = Self::try_take(socket) {
            lock.remove_all(socket);
        }
    }

    /// Removes all files of the name, and frees the lock.
    pub(super) fn remove_all(self, socket: &SocketName) {
        for name in [socket.unfinished_name(), socket.socket_name(), socket.lock_name()] {
            // `gc` removes what is left.
            let _ = unlinkat(&socket.handle, name, AtFlags::empty());
        }
        drop(self);
    }
}

impl Drop for NameLock {
    fn drop(&mut self) {
        if !self.0.is_copy() {
            // Closing alone would not be enough: a child that is being forked or spawned at this moment holds a copy for a
            // while.
            let _ = flock(&*self.0, FlockOperation::Unlock);
        }
    }
}
