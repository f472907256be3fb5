//! One end of a connection, whose other end is told at once when it is dropped.

use std::ops::Deref;

use rustix::net::{Shutdown, shutdown};

use crate::region::OwnFile;

/// A connected socket. Closing alone would not do: a child that is being forked or spawned at this moment holds a copy until
/// it closes it too, and the other end would see nothing before that.
#[derive(Debug)]
pub(super) struct Connection(OwnFile);

impl Connection {
    pub(super) fn new(socket: OwnFile) -> Self {
        Self(socket)
    }
}

impl Deref for Connection {
    type Target = OwnFile;

    fn deref(&self) -> &OwnFile {
        &self.0
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.0.is_copy() {
            // It may be shut already, by the other end.
            let _ = shutdown(&*self.0, Shutdown::Both);
        }
    }
}
