//! The request of a guest to the host of a name.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use super::connection::Connection;
use super::credentials::peer_uid;
use super::error::RendezvousError;
use super::packet::{Packet, receive};
use super::socket_dir::SocketName;
use crate::region::OwnFile;

/// The time limit for the answer of a host that listens: it takes microseconds, unless the host is stopped or the machine
/// is overloaded.
pub(super) const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// The time limit for finding a host where one has died: its successors need a few scheduler slices.
const SUCCESSOR_PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(2);

/// The answer of the host.
#[derive(Debug)]
pub(super) struct Answer {
    /// Ends when the host ends.
    pub(super) connection: Connection,
    /// The region.
    pub(super) file: OwnFile,
    pub(super) generation: u64,
    pub(super) has_own_file: bool,
}

/// Asks until there is an answer, or no answer is to be expected.
pub(super) fn until_answered(socket: &SocketName, patience: Duration) -> Result<Answer, RendezvousError> {
    let begin = Instant::now();
    loop {
        match once(socket, patience.saturating_sub(begin.elapsed())) {
            // A successor replaces the socket of the dead host.
            Err(RendezvousError::NotFound(_) | RendezvousError::TurnedAway(_))
                if has_socket(socket) && begin.elapsed() < SUCCESSOR_PATIENCE.min(patience) => {}
            // Too many guests ask at once.
            Err(RendezvousError::TimedOut(_)) if begin.elapsed() < patience => {}
            outcome => return outcome,
        }
        std::thread::sleep(PAUSE);
    }
}

fn has_socket(socket: &SocketName) -> bool {
    rustix::fs::accessat(&socket.handle, socket.socket_name(), rustix::fs::Access::EXISTS, rustix::fs::AtFlags::empty())
        .is_ok()
}

/// Asks once.
pub(super) fn once(socket: &SocketName, patience: Duration) -> Result<Answer, RendezvousError> {
    let connection = Connection::new(dial(socket)?);
    let uid = peer_uid(&**connection).map_err(socket.refused("ask who hosts"))?;
    if uid != socket.owner() {
        let why = format!("it is user {uid}, expected user {}", socket.owner());
        return Err(RendezvousError::NotOurs { what: socket.to_string(), why });
    }
    await_answer(socket, &connection, patience)?;
    // Received and registered in one step, so that no forked child keeps the file.
    let mut packet = None;
    let take = || {
        let (received, file): (Packet, OwnedFd) = receive(&**connection)?;
        packet = Some(received);
        Ok(file.into())
    };
    let file = OwnFile::open(take).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => RendezvousError::NotOurs { what: socket.to_string(), why: error.to_string() },
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            RendezvousError::TurnedAway(socket.to_string())
        }
        _ => socket.refused("receive from the host of")(error),
    })?;
    let Packet { generation, has_own_file } = packet.expect("received with the file");
    Ok(Answer { connection, file, generation, has_own_file })
}

fn dial(socket: &SocketName) -> Result<OwnFile, RendezvousError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let open = || Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?.into());
    let connected = OwnFile::open(open).map_err(socket.refused("make a socket for"))?;
    let address = socket.address(&socket.socket_name()).map_err(socket.refused("name"))?;
    match connect(&*connected, &address) {
        Ok(()) => Ok(connected),
        Err(Errno::NOENT | Errno::CONNREFUSED) => Err(RendezvousError::NotFound(socket.to_string())),
        Err(Errno::AGAIN) => Err(RendezvousError::TimedOut(socket.to_string())),
        Err(errno) => Err(socket.refused("connect to")(errno)),
    }
}

fn await_answer(socket: &SocketName, connection: &OwnFile, patience: Duration) -> Result<(), RendezvousError> {
    let begin = Instant::now();
    loop {
        let mut polled = [PollFd::new(&**connection, PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(patience.saturating_sub(begin.elapsed())))) {
            Ok(0) => return Err(RendezvousError::TimedOut(socket.to_string())),
            Ok(_) if polled[0].revents().contains(PollFlags::IN) => return Ok(()),
            Ok(_) => return Err(RendezvousError::TurnedAway(socket.to_string())),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(socket.refused("wait for the host of")(errno)),
        }
    }
}

/// The duration as the kernel wants it.
pub(super) fn timespec(duration: Duration) -> Timespec {
    let tv_sec = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: duration.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use rustix::net::{accept, bind, listen, send};

    use super::*;
    use crate::rendezvous::SocketDir;

    /// A name with a listener that answers no guest.
    fn unserved() -> (tempfile::TempDir, SocketName, OwnedFd) {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let socket =
            SocketDir::at(temporary.path().join("sockets")).make_socket_name("strange").expect("a new directory");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a socket");
        bind(&listener, &socket.address(&socket.socket_name()).expect("short")).expect("a free name");
        listen(&listener, 1).expect("bound");
        (temporary, socket, listener)
    }

    #[test]
    fn a_host_that_does_not_answer_is_given_up() {
        let (_temporary, socket, _listener) = unserved();
        let error = once(&socket, Duration::from_millis(1)).expect_err("nobody answers");
        assert!(matches!(error, RendezvousError::TimedOut(_)), "{error}");
        // Until the queue of the listener is full.
        let crowd: Vec<_> = (0..10).map(|_| once(&socket, Duration::ZERO).expect_err("nobody answers")).collect();
        assert!(crowd.iter().all(|error| matches!(error, RendezvousError::TimedOut(_))), "{crowd:?}");
    }

    #[test]
    fn a_host_that_talks_nonsense_is_not_trusted() {
        for nonsense in [&b"hello"[..], &[0; 24], &[0xff; 4096]] {
            let (_temporary, socket, listener) = unserved();
            let talking = std::thread::spawn(move || {
                let guest = accept(&listener).expect("a guest");
                send(&guest, nonsense, rustix::net::SendFlags::NOSIGNAL).expect("room");
            });
            let error = once(&socket, ANSWER_PATIENCE).expect_err("nonsense");
            assert!(matches!(error, RendezvousError::NotOurs { .. }), "{error}");
            talking.join().expect("no panic");
        }
    }

    #[test]
    fn a_host_that_hangs_up_turns_away() {
        let (_temporary, socket, listener) = unserved();
        let hanging_up = std::thread::spawn(move || drop(accept(&listener).expect("a guest")));
        let error = once(&socket, ANSWER_PATIENCE).expect_err("no answer");
        assert!(matches!(error, RendezvousError::TurnedAway(_)), "{error}");
        hanging_up.join().expect("no panic");
    }
}
