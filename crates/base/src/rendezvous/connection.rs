//! One end of a connection. The other end is told at once when this one is dropped.

use std::ops::Deref;

use rustix::net::{Shutdown, shutdown};

use crate::region::OwnFile;

/// A connected socket. Closing it alone would not be enough: a child that is being forked or spawned at this moment holds a
/// copy, and the other end would see nothing until the child closes its copy too.
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
            // The other end may have shut it already.
            let _ = shutdown(&*self.0, Shutdown::Both);
        }
    }
}
