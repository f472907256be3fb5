//! The removal of the sockets of dead hosts.

use super::error::RendezvousError;
use super::name_lock::NameLock;
use super::names::each_lock;
use super::socket_dir::SocketDir;

/// Removes the socket and the lock of every name that is locked by no process, and returns the paths of the sockets, also of
/// those that a host which died early had not made yet. Files of other kinds are left alone,
/// and so are sockets of other programs, which have no lock beside them.
///
/// # Errors
/// [`RendezvousError`] if the directory is not to be trusted or cannot be read. A missing directory is no error.
pub fn gc(dir: &SocketDir) -> Result<Vec<String>, RendezvousError> {
    let Some(handle) = dir.open()? else { return Ok(Vec::new()) };
    let mut removed = Vec::new();
    for name in each_lock(dir, &handle)? {
        let copy = handle.try_clone();
        let copy =
            copy.map_err(|source| RendezvousError::System { what: format!("open {}", dir.path().display()), source })?;
        let socket = dir.socket(&name, copy);
        // A name that cannot be locked is not proven dead.
        if let Ok(Some(lock)) = NameLock::try_take(&socket) {
            lock.remove_all(&socket);
            removed.push(socket.to_string());
        }
    }
    Ok(removed)
}
