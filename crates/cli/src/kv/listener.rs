//! Sockets with names, at which the clients of a store connect.
//!
//! The socket gets its permissions before its name, so that at no time it is there and open to others. A process that takes or
//! gives up a name holds a lock on its folder, so that of two that find the socket of a killed one only one replaces it.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use corecast::region::{BadName, check_region_name};
use corecast::rendezvous::SocketDir;
use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with};

/// The longest path of a socket, as the system has it.
const PATH_BYTES: usize = 107;
/// Clients that may wait to be taken.
const BACKLOG: i32 = 1024;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    #[error("somebody is listening at {} already", .0.display())]
    Taken(PathBuf),
    #[error("{} is there and is not a socket: it is not replaced", .0.display())]
    NoSocket(PathBuf),
    #[error("{} is no path of a socket: it is longer than {} bytes", .0.display(), PATH_BYTES)]
    Long(PathBuf),
    #[error("{} has no folder: {} is not there", .0.display(), folder_of(.0).display())]
    NoFolder(PathBuf),
    #[error("{} is not a folder that only this user may enter", .0.display())]
    Foreign(PathBuf),
    #[error(transparent)]
    Name(#[from] BadName),
    #[error("cannot listen at {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// A listening socket with a name, which goes with it.
#[derive(Debug)]
pub(crate) struct BoundListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file: whether the name is still this socket's.
    identity: (u64, u64),
}

impl BoundListener {
    /// Listens at a path where nobody does; the socket of a dead process is replaced.
    ///
    /// `may_be_link`: a link that leads to nobody is replaced, too.
    pub(crate) fn bind(path: &Path, may_be_link: bool) -> Result<Self, ListenError> {
        let failed = |error| ListenError::Io { path: path.to_owned(), error };
        if path.as_os_str().len() > PATH_BYTES {
            return Err(ListenError::Long(path.to_owned()));
        }
        if !folder_of(path).is_dir() {
            return Err(ListenError::NoFolder(path.to_owned()));
        }
        let _lock = lock(path).map_err(failed)?;
        remove_dead(path, may_be_link)?;
        let listener = bind_private(path).map_err(failed)?;
        let identity = identity(path).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), identity })
    }

    pub(crate) fn listener(&self) -> &UnixListener {
        &self.listener
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the name if it is still this socket's.
    fn remove(&self) -> io::Result<()> {
        let _lock = lock(&self.path)?;
        if identity(&self.path)? == self.identity {
            fs::remove_file(&self.path)?;
        }
        Ok(())
    }
}

impl Drop for BoundListener {
    fn drop(&mut self) {
        // A socket that cannot be removed is found to be dead by the next process that wants its name.
        let _ = self.remove();
    }
}

/// A link by which the socket of a store is found by the store's name, which goes with it.
#[derive(Debug)]
pub(crate) struct PublishedName {
    link: PathBuf,
    socket: PathBuf,
}

impl PublishedName {
    /// Makes the link at `link`; one that leads to nobody is replaced.
    pub(crate) fn publish(link: &Path, socket: &Path) -> Result<Self, ListenError> {
        let failed = |error| ListenError::Io { path: link.to_owned(), error };
        let socket = std::path::absolute(socket).map_err(failed)?;
        let _lock = lock(link).map_err(failed)?;
        // Left by a killed store that was served at the same socket, where this one listens now.
        let is_ours = fs::read_link(link).is_ok_and(|left| left == socket);
        if is_ours {
            return Ok(Self { link: link.to_owned(), socket });
        }
        remove_dead(link, true)?;
        std::os::unix::fs::symlink(&socket, link).map_err(failed)?;
        Ok(Self { link: link.to_owned(), socket })
    }
}

impl Drop for PublishedName {
    fn drop(&mut self) {
        if fs::read_link(&self.link).is_ok_and(|socket| socket == self.socket) {
            // A link that cannot be removed is found to lead to nobody.
            let _ = fs::remove_file(&self.link);
        }
    }
}

/// The socket of the store with this name, in a folder of this user.
pub(crate) fn path_of_store(name: &str) -> Result<PathBuf, ListenError> {
    check_region_name(name)?;
    Ok(SocketDir::of_user().path().join("kv").join(name))
}

/// Makes the folder of a store's socket where it is missing, and ensures that only this user may enter it.
pub(crate) fn make_folder_of(path: &Path) -> Result<(), ListenError> {
    let folder = folder_of(path);
    let failed = |error| ListenError::Io { path: folder.to_owned(), error };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    let user = rustix::process::geteuid().as_raw();
    let is_private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    if is_private { Ok(()) } else { Err(ListenError::Foreign(folder.to_owned())) }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Holds the folder of a path until it is dropped.
fn lock(path: &Path) -> io::Result<File> {
    let folder = File::open(folder_of(path))?;
    flock(&folder, FlockOperation::LockExclusive)?;
    Ok(folder)
}

/// Removes the socket of a dead process, or a link to one where there may be a link, and nothing else.
fn remove_dead(path: &Path, may_be_link: bool) -> Result<(), ListenError> {
    let failed = |error| ListenError::Io { path: path.to_owned(), error };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.file_type().is_socket() || may_be_link && found.is_symlink() => {}
        Ok(_) => return Err(ListenError::NoSocket(path.to_owned())),
    }
    match connect_at_once(path) {
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
            fs::remove_file(path).map_err(failed)
        }
        // A process that takes no clients at the moment is alive nevertheless.
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(failed(error)),
        _ => Err(ListenError::Taken(path.to_owned())),
    }
}

/// Connects without waiting, which the usual way does where nobody takes clients.
fn connect_at_once(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// A socket that only this user may connect to. On Linux the name has the permissions of the socket that is bound to it.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    fchmod(socket.as_fd(), Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_private_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        let bound = BoundListener::bind(&path, false).expect("bound");
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert!(matches!(BoundListener::bind(&path, false), Err(ListenError::Taken(_))));
        drop(bound);
        assert!(!path.exists());
    }

    #[test]
    fn the_socket_of_a_dead_process_is_replaced_and_another_file_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s");
        drop(UnixListener::bind(&path).expect("bound"));
        let bound = BoundListener::bind(&path, false).expect("replaced");
        fs::remove_file(&path).expect("removed by somebody");
        let other = BoundListener::bind(&path, false).expect("the name is free");
        drop(bound);
        assert!(path.exists(), "the name is the other one's now");
        drop(other);
        fs::write(&path, "text").expect("written");
        assert!(matches!(BoundListener::bind(&path, false), Err(ListenError::NoSocket(_))));
        assert!(matches!(BoundListener::bind(&folder.path().join("none/s"), false), Err(ListenError::NoFolder(_))));
        for (len, is_taken) in [(107, true), (108, false)] {
            let path = folder.path().join("x".repeat(len - folder.path().as_os_str().len() - 1));
            let bound = BoundListener::bind(&path, false);
            assert!(
                bound.is_ok() == is_taken && (is_taken || matches!(bound, Err(ListenError::Long(_)))),
                "{len} bytes"
            );
        }
    }

    #[test]
    fn the_folder_of_a_store_is_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("corecast/kv/name");
        make_folder_of(&path).expect("made");
        make_folder_of(&path).expect("there");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path.parent().expect("a folder"), open).expect("opened");
        assert!(matches!(make_folder_of(&path), Err(ListenError::Foreign(_))));
        assert!(matches!(path_of_store("a/b"), Err(ListenError::Name(_))));
    }

    #[test]
    fn a_name_leads_to_the_socket_and_goes_with_its_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, name) = (folder.path().join("s"), folder.path().join("name"));
        let bound = BoundListener::bind(&path, false).expect("bound");
        let published = PublishedName::publish(&name, &path).expect("published");
        UnixStream::connect(&name).expect("it leads there");
        let elsewhere = folder.path().join("t");
        assert!(matches!(PublishedName::publish(&name, &elsewhere), Err(ListenError::Taken(_))));
        // A killed store leaves its name, and the next one listens at the same socket before it asks for the name.
        std::mem::forget(published);
        let published = PublishedName::publish(&name, &path).expect("the name leads to the own socket");
        assert!(matches!(BoundListener::bind(&name, true), Err(ListenError::Taken(_))));
        drop(bound);
        assert!(matches!(BoundListener::bind(&name, false), Err(ListenError::NoSocket(_))));
        let other = BoundListener::bind(&name, true).expect("it leads to nobody");
        drop(published);
        assert!(name.exists(), "the name is the other one's now");
        drop(other);
    }
}
