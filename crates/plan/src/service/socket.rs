//! The socket of a service as a file: its place, its permissions, and its replacement.
//!
//! The socket is made in a folder that is new and closed to all other users, gets its permissions there, and then takes
//! its name in one step: at no time is it there and open to others. The mask of the process is not touched, which all
//! of its threads share. A thread that takes or gives up a name holds a lock on its folder, so that of two services
//! that find the socket of a killed one only one replaces it.

use std::env;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as connect_to, socket_with};

const FILE_NAME: &str = "plan.sock";

/// Why a service cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// A service listens there.
    #[error("a plan service is listening at {} already", path.display())]
    Taken {
        /// The path.
        path: PathBuf,
    },
    /// Another kind of file is there, which is not replaced.
    #[error("{} is there and is not a socket: it is not replaced", path.display())]
    NoSocket {
        /// The path.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot listen at {}: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// Why the folder of the default path cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// Others could put a socket there.
    #[error("{} is not a folder that only this user may enter; name another path for the socket", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot make the folder {}: {error}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// Where the service of this user is unless told otherwise: `$XDG_RUNTIME_DIR/corecast/plan.sock`, or in a folder of
/// this user's below the folder for temporary files where that variable is not set. The folder is made if it is not
/// there.
///
/// # Errors
///
/// If another user owns the folder or may enter it, or it cannot be made.
pub fn default_path() -> Result<PathBuf, FolderError> {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = rustix::process::geteuid().as_raw();
    let folder = match runtime {
        Some(runtime) => runtime.join("corecast"),
        None => env::temp_dir().join(format!("corecast-{user}")),
    };
    make_private(&folder, user)?;
    Ok(folder.join(FILE_NAME))
}

/// Makes the folder if it is not there, and ensures that only this user may enter it.
fn make_private(folder: &Path, user: u32) -> Result<(), FolderError> {
    let failed = |error| FolderError::Io { path: folder.to_owned(), error };
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    // Of the name itself, not of what a link leads to: others can make links in a folder for temporary files.
    let found = fs::symlink_metadata(folder).map_err(failed)?;
    let is_private = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    if is_private { Ok(()) } else { Err(FolderError::Foreign { path: folder.to_owned() }) }
}

/// Connects without waiting, which the usual way does where a service takes no clients any more.
pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect_to(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// A socket with a name, which goes with it.
#[derive(Debug)]
pub(super) struct BoundSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file: whether the name is still this socket's.
    identity: (u64, u64),
}

impl BoundSocket {
    pub(super) fn bind(path: &Path) -> Result<Self, BindError> {
        let failed = |error| BindError::Io { path: path.to_owned(), error };
        let folder = folder_of(path);
        let _lock = lock(folder).map_err(failed)?;
        check_free(path)?;
        let (listener, identity) = listen(path, folder).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), identity })
    }

    pub(super) fn listener(&self) -> &UnixListener {
        &self.listener
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the name if it is still this socket's.
    fn remove(&self) -> io::Result<()> {
        let _lock = lock(folder_of(&self.path))?;
        if identity(&self.path)? == self.identity {
            fs::remove_file(&self.path)?;
        }
        Ok(())
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        // A socket that cannot be removed is found to be dead by the next service.
        let _ = self.remove();
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Holds the folder until it is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    flock(&folder, FlockOperation::LockExclusive)?;
    Ok(folder)
}

/// Checks that the path is free, or has the socket of a dead service.
fn check_free(path: &Path) -> Result<(), BindError> {
    let failed = |error| BindError::Io { path: path.to_owned(), error };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(BindError::NoSocket { path: path.to_owned() }),
        Ok(_) => {}
    }
    match connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
        // A service that takes no clients at the moment is alive nevertheless.
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(failed(error)),
        _ => Err(BindError::Taken { path: path.to_owned() }),
    }
}

/// A socket that took the name, in place of the dead one that may have it.
fn listen(path: &Path, folder: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    // A name may be longer than those that can be connected to.
    SocketAddrUnix::new(path)?;
    let private = PrivateFolder::make(folder)?;
    let unnamed = private.0.join("s");
    let listener = UnixListener::bind(&unnamed)?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(&unnamed, Permissions::from_mode(0o600))?;
    let identity = identity(&unnamed)?;
    fs::rename(&unnamed, path)?;
    Ok((listener, identity))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// A folder that no other user may enter; it goes when dropped, with the socket that may be left in it.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Beside the socket to be, since only there can it be renamed; with a short name, as paths of sockets are short.
    fn make(folder: &Path) -> io::Result<Self> {
        let path = folder.join(format!(".c{}", std::process::id()));
        let make = || DirBuilder::new().mode(0o700).create(&path);
        match make() {
            // Under the lock only a process of the same number that was killed can have left it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                clear(&path);
                make()?;
            }
            outcome => outcome?,
        }
        Ok(Self(path))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        clear(&self.0);
    }
}

fn clear(private: &Path) {
    // Only what was put there is removed; a folder that will not go is an empty one of a hidden name.
    let _ = fs::remove_file(private.join("s"));
    let _ = fs::remove_dir(private);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("there").mode() & 0o777
    }

    #[test]
    fn the_socket_is_its_users_alone_and_goes_with_the_service() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE_NAME);
        let socket = BoundSocket::bind(&path).expect("bound");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1, "nothing else is left");
        assert!(matches!(BoundSocket::bind(&path), Err(BindError::Taken { .. })));
        drop(socket);
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
    }

    #[test]
    fn a_dead_socket_is_replaced_and_a_live_one_is_not_removed_by_the_one_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE_NAME);
        let dead = UnixListener::bind(&path).expect("bound");
        assert!(matches!(BoundSocket::bind(&path), Err(BindError::Taken { .. })), "it listens still");
        drop(dead);
        let first = BoundSocket::bind(&path).expect("replaced");
        fs::remove_file(&path).expect("removed by hand");
        let second = BoundSocket::bind(&path).expect("bound");
        drop(first);
        connect(&path).expect("the second one is there");
        drop(second);
    }

    #[test]
    fn a_file_that_is_not_a_socket_is_never_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "precious").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        for path in [&file, &link, &folder.path().to_owned()] {
            assert!(matches!(BoundSocket::bind(path), Err(BindError::NoSocket { .. })), "{}", path.display());
        }
        assert_eq!(fs::read(&file).expect("there"), b"precious");
        for path in [folder.path().join("none/such"), folder.path().join("x".repeat(200))] {
            assert!(matches!(BoundSocket::bind(&path), Err(BindError::Io { .. })));
        }
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2, "nothing is left by failures");
    }

    #[test]
    fn only_a_folder_of_ones_own_is_used_by_default() {
        let folder = tempfile::tempdir().expect("a folder");
        let user = fs::metadata(folder.path()).expect("there").uid();
        let path = folder.path().join("corecast");
        make_private(&path, user).expect("made");
        assert_eq!(mode(&path), 0o700);
        make_private(&path, user).expect("found");
        assert!(matches!(make_private(&path, user + 1), Err(FolderError::Foreign { .. })), "somebody else's");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("opened");
        assert!(matches!(make_private(&path, user), Err(FolderError::Foreign { .. })), "open to others");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        assert!(matches!(make_private(&link, user), Err(FolderError::Foreign { .. })), "a link");
        assert!(matches!(make_private(&folder.path().join("a/b"), user), Err(FolderError::Io { .. })));
    }
}
