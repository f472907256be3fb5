//! The hosting of a name: listens, hands out the region, and remembers the connected guests.
//!
//! Nothing here waits for a guest: sockets do not block, the message fits into an empty socket, and nothing is read. A
//! guest that sends nothing, sends much or never takes its message costs one descriptor, and the number of descriptors is
//! limited.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, Mode, chmodat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, bind, listen, socket_with};

use super::connection::Connection;
use super::credentials::peer_uid;
use super::error::RendezvousError;
use super::name_lock::NameLock;
use super::names::is_foreign;
use super::packet::{Packet, send};
use super::request::timespec;
use super::socket_dir::SocketName;
use crate::region::{OwnFile, SharedRegion};

/// More connections than a region has slots. Further guests are turned away.
const MAX_CONNECTIONS: usize = 2048;
/// The guests that may wait to be let in.
const BACKLOG: i32 = 128;
/// The guests let in between two looks for guests that have left.
const MAX_ROUND: usize = 64;
/// The time without new guests when this process has no descriptors left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// A hosted name.
#[derive(Debug)]
pub(super) struct NameHost {
    /// `None` only while hosting ends.
    lock: Option<NameLock>,
    listener: OwnFile,
    connections: Vec<Connection>,
    is_exhausted: bool,
}

/// The result of polling.
struct Seen {
    is_stopped: bool,
    has_guests: bool,
}

impl NameHost {
    /// Takes the name's lock and listens; `None` if another process hosts the name.
    pub(super) fn open(socket: &SocketName) -> Result<Option<Self>, RendezvousError> {
        if is_foreign(&socket.handle, &socket.name) {
            return Ok(None);
        }
        let Some(lock) = NameLock::try_take(socket).map_err(socket.refused("lock"))? else { return Ok(None) };
        let listener = bind_listener(socket).map_err(socket.refused("listen at"))?;
        Ok(Some(Self { lock: Some(lock), listener, connections: Vec::new(), is_exhausted: false }))
    }

    /// Serves guests until `stop` is readable.
    pub(super) fn serve(&mut self, region: &SharedRegion, uids: &[u32], stop: &OwnedFd) {
        loop {
            let pause = self.is_exhausted.then_some(EXHAUSTED_PAUSE);
            let seen = self.watch(Some(stop), pause);
            if seen.is_stopped {
                return;
            }
            self.is_exhausted = false;
            if seen.has_guests || pause.is_some() {
                self.let_in(region, uids);
            }
        }
    }

    /// Waits for news, and forgets the guests that have left.
    fn watch(&mut self, stop: Option<&OwnedFd>, longest: Option<Duration>) -> Seen {
        let listening = if self.is_exhausted { PollFlags::empty() } else { PollFlags::IN };
        let mut polled = vec![PollFd::new(&*self.listener, listening)];
        // Without events, a socket tells only that the other end is closed.
        polled.extend(self.connections.iter().map(|connection| PollFd::new(&***connection, PollFlags::empty())));
        polled.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
        // After an interruption, or where memory is short for the moment, the caller looks again.
        let count = poll(&mut polled, longest.map(timespec).as_ref()).unwrap_or(0);
        if count == 0 {
            return Seen { is_stopped: false, has_guests: false };
        }
        let mut news = polled.iter().map(|one| !one.revents().is_empty());
        let has_guests = news.next().unwrap_or(false);
        let has_left: Vec<bool> = news.by_ref().take(self.connections.len()).collect();
        let is_stopped = news.next().unwrap_or(false);
        let mut has_left = has_left.into_iter();
        self.connections.retain(|_| !has_left.next().unwrap_or(false));
        Seen { is_stopped, has_guests }
    }

    fn let_in(&mut self, region: &SharedRegion, uids: &[u32]) {
        for _ in 0..MAX_ROUND {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            match OwnFile::open(|| Ok(accept_with(&*self.listener, flags)?.into())) {
                Ok(guest) if self.connections.len() < MAX_CONNECTIONS => {
                    // A guest that cannot be served sees the connection end.
                    if greet(&guest, region, uids).is_ok() {
                        self.connections.push(Connection::new(guest));
                    }
                }
                Ok(_turned_away) => {}
                Err(error) if is_exhaustion(&error) => {
                    self.is_exhausted = true;
                    return;
                }
                // No guest is waiting, or the one that was has gone.
                Err(_) => return,
            }
        }
    }

    /// Ends hosting. Where members are connected, one of them takes over; otherwise nothing is left of the name.
    ///
    /// A member that leaves hangs up first and then looks whether the lock is free. A host that leaves the name to others
    /// frees the lock first and then looks again whether they have hung up. One of the two sees the other.
    pub(super) fn close(mut self, socket: &SocketName) {
        self.watch(None, Some(Duration::ZERO));
        if !self.connections.is_empty() {
            self.lock = None;
            self.watch(None, Some(Duration::ZERO));
        }
        if self.connections.is_empty() {
            match self.lock.take() {
                Some(lock) => lock.remove_all(socket),
                None => NameLock::remove_deserted(socket),
            }
        }
    }
}

/// Replaces the old socket by a new one in one step, so that there is always one.
fn bind_listener(socket: &SocketName) -> io::Result<OwnFile> {
    let unfinished = socket.unfinished_name();
    match unlinkat(&socket.handle, &unfinished, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listener = OwnFile::open(|| Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?.into()))?;
    bind(&*listener, &socket.address(&unfinished)?)?;
    chmodat(&socket.handle, &unfinished, Mode::from_raw_mode(socket.socket_mode()), AtFlags::empty())?;
    listen(&*listener, BACKLOG)?;
    renameat(&socket.handle, &unfinished, &socket.handle, socket.socket_name())?;
    Ok(listener)
}

fn greet(guest: &OwnFile, region: &SharedRegion, uids: &[u32]) -> io::Result<()> {
    if !uids.contains(&peer_uid(&**guest)?) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // The file is registered until it is sent, so that no child that this process forks keeps it.
    let generation = region.generation();
    match OwnFile::open(|| Ok(region.share()?.into())) {
        Ok(own) => send(&guest.as_fd(), Packet { generation, has_own_file: true }, &own.as_fd()),
        Err(error) if is_exhaustion(&error) => Err(error),
        Err(_) => send(&guest.as_fd(), Packet { generation, has_own_file: false }, &region.shared_file()?),
    }
}

fn is_exhaustion(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM))
}
