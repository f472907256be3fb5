//! Taking away the sockets of dead hosts.

use rustix::fs::Dir;

use super::error::MeetError;
use super::name_lock::NameLock;
use super::socket_dir::SocketDir;
use crate::region::check_region_name;

/// Takes away every socket whose name nobody holds the lock of, and returns their paths. Files of other kinds are left
/// alone.
///
/// # Errors
/// [`MeetError`] if the directory is not to be trusted or cannot be read; none if there is no directory.
pub fn gc(dir: &SocketDir) -> Result<Vec<String>, MeetError> {
    let Some(handle) = dir.open()? else { return Ok(Vec::new()) };
    let failed = |source: rustix::io::Errno| MeetError::System {
        what: format!("read {}", dir.path().display()),
        source: source.into(),
    };
    let mut removed = Vec::new();
    for entry in Dir::read_from(&handle).map_err(failed)?.flatten() {
        let Some(name) = entry.file_name().to_str().ok().and_then(|file| file.strip_suffix(".sock")) else { continue };
        if check_region_name(name).is_err() || !entry.file_type().is_socket() {
            continue;
        }
        let place = dir.place(
            name,
            handle
                .try_clone()
                .map_err(|source| MeetError::System { what: format!("open {}", dir.path().display()), source })?,
        );
        // What cannot be locked is not proven dead.
        if let Ok(Some(lock)) = NameLock::try_take(&place) {
            lock.remove_all(&place);
            removed.push(place.to_string());
        }
    }
    removed.sort_unstable();
    Ok(removed)
}
