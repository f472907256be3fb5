//! The removal of the sockets of dead hosts.

use super::error::RendezvousError;
use super::name_lock::NameLock;
use super::names::{each, each_lock};
use super::socket_dir::SocketDir;

/// Removes every socket whose name is locked by no process, and returns their paths. Files of other kinds are left alone,
/// and so are sockets of other programs, which have no lock beside them. In the [directory of this user](SocketDir::of_user),
/// where only corecast has files, a lock without a socket goes, too: its host died before it made the socket.
///
/// # Errors
/// [`RendezvousError`] if the directory is not to be trusted or cannot be read. A missing directory is no error.
pub fn gc(dir: &SocketDir) -> Result<Vec<String>, RendezvousError> {
    let Some(handle) = dir.open()? else { return Ok(Vec::new()) };
    let mut removed = Vec::new();
    let is_ours = dir.path() == SocketDir::of_user().path();
    for name in if is_ours { each_lock(dir, &handle)? } else { each(dir, &handle)? } {
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
