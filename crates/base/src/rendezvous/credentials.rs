//! The user at the other end of a socket, as the kernel tells it.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The user of the peer that connected, or that listens.
///
/// Not rustix's `socket_peercred`: it expects a process id other than 0, and 0 is the id of a peer in another namespace.
pub(super) fn peer_uid(socket: &impl AsFd) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: an open descriptor, and as many bytes to write to as `len` says.
    let status = unsafe {
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut len)
    };
    match status {
        0 => Ok(peer.uid),
        _ => Err(io::Error::last_os_error()),
    }
}
