//! Asking the host of a name for the region.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};

use super::connection::Connection;
use super::credentials::peer_uid;
use super::error::MeetError;
use super::packet::{Packet, receive};
use super::socket_dir::Place;
use crate::region::OwnFile;

/// How long a host that listens may take to answer: microseconds, unless it is stopped or the machine is swamped.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// How long to look for a host where one has died: its heirs need a few scheduler slices.
const HEIR_PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(2);

/// What the host gave.
#[derive(Debug)]
pub(super) struct Answer {
    /// Ends when the host does.
    pub(super) connection: Connection,
    /// The region.
    pub(super) file: OwnFile,
    pub(super) generation: u64,
    pub(super) has_own_file: bool,
}

/// Asks until there is an answer, or none is to be expected.
pub(super) fn patiently(place: &Place) -> Result<Answer, MeetError> {
    let begin = Instant::now();
    loop {
        match once(place, ANSWER_PATIENCE.saturating_sub(begin.elapsed())) {
            // Whoever takes over replaces the socket of the dead.
            Err(MeetError::NotFound(_) | MeetError::TurnedAway(_))
                if has_socket(place) && begin.elapsed() < HEIR_PATIENCE => {}
            // Too many ask at once.
            Err(MeetError::TimedOut(_)) if begin.elapsed() < ANSWER_PATIENCE => {}
            outcome => return outcome,
        }
        std::thread::sleep(PAUSE);
    }
}

fn has_socket(place: &Place) -> bool {
    rustix::fs::accessat(&place.handle, place.socket_name(), rustix::fs::Access::EXISTS, rustix::fs::AtFlags::empty())
        .is_ok()
}

/// Asks once.
pub(super) fn once(place: &Place, patience: Duration) -> Result<Answer, MeetError> {
    let connection = Connection::new(dial(place)?);
    let uid = peer_uid(&**connection).map_err(place.refused("ask who hosts"))?;
    if uid != place.owner() {
        let why = format!("it is user {uid}, expected user {}", place.owner());
        return Err(MeetError::NotOurs { what: place.to_string(), why });
    }
    await_answer(place, &connection, patience)?;
    // Received and registered in one step, so that no forked child keeps the file.
    let mut packet = None;
    let take = || {
        let (received, file): (Packet, OwnedFd) = receive(&**connection)?;
        packet = Some(received);
        Ok(file.into())
    };
    let file = OwnFile::open(take).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => MeetError::NotOurs { what: place.to_string(), why: error.to_string() },
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => MeetError::TurnedAway(place.to_string()),
        _ => place.refused("receive from the host of")(error),
    })?;
    let Packet { generation, has_own_file } = packet.expect("received with the file");
    Ok(Answer { connection, file, generation, has_own_file })
}

fn dial(place: &Place) -> Result<OwnFile, MeetError> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let open = || Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?.into());
    let socket = OwnFile::open(open).map_err(place.refused("make a socket for"))?;
    let address = place.address(&place.socket_name()).map_err(place.refused("name"))?;
    match connect(&*socket, &address) {
        Ok(()) => Ok(socket),
        Err(Errno::NOENT | Errno::CONNREFUSED) => Err(MeetError::NotFound(place.to_string())),
        Err(Errno::AGAIN) => Err(MeetError::TimedOut(place.to_string())),
        Err(errno) => Err(place.refused("connect to")(errno)),
    }
}

fn await_answer(place: &Place, connection: &OwnFile, patience: Duration) -> Result<(), MeetError> {
    let begin = Instant::now();
    loop {
        let mut polled = [PollFd::new(&**connection, PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(patience.saturating_sub(begin.elapsed())))) {
            Ok(0) => return Err(MeetError::TimedOut(place.to_string())),
            Ok(_) if polled[0].revents().contains(PollFlags::IN) => return Ok(()),
            Ok(_) => return Err(MeetError::TurnedAway(place.to_string())),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(place.refused("wait for the host of")(errno)),
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

    /// A place with a listener that nobody serves.
    fn unserved() -> (tempfile::TempDir, Place, OwnedFd) {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let place = SocketDir::at(temporary.path().join("sockets")).make_place("strange").expect("a new directory");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a socket");
        bind(&listener, &place.address(&place.socket_name()).expect("short")).expect("a free name");
        listen(&listener, 1).expect("bound");
        (temporary, place, listener)
    }

    #[test]
    fn a_host_that_does_not_answer_is_given_up() {
        let (_temporary, place, _listener) = unserved();
        let error = once(&place, Duration::from_millis(1)).expect_err("nobody answers");
        assert!(matches!(error, MeetError::TimedOut(_)), "{error}");
        // Until there is no room to wait in.
        let crowd: Vec<_> = (0..10).map(|_| once(&place, Duration::ZERO).expect_err("nobody answers")).collect();
        assert!(crowd.iter().all(|error| matches!(error, MeetError::TimedOut(_))), "{crowd:?}");
    }

    #[test]
    fn a_host_that_talks_nonsense_is_not_trusted() {
        for nonsense in [&b"hello"[..], &[0; 24], &[0xff; 4096]] {
            let (_temporary, place, listener) = unserved();
            let talking = std::thread::spawn(move || {
                let guest = accept(&listener).expect("a guest");
                send(&guest, nonsense, rustix::net::SendFlags::NOSIGNAL).expect("room");
            });
            let error = once(&place, ANSWER_PATIENCE).expect_err("nonsense");
            assert!(matches!(error, MeetError::NotOurs { .. }), "{error}");
            talking.join().expect("no panic");
        }
    }

    #[test]
    fn a_host_that_hangs_up_turns_away() {
        let (_temporary, place, listener) = unserved();
        let hanging_up = std::thread::spawn(move || drop(accept(&listener).expect("a guest")));
        let error = once(&place, ANSWER_PATIENCE).expect_err("no answer");
        assert!(matches!(error, MeetError::TurnedAway(_)), "{error}");
        hanging_up.join().expect("no panic");
    }
}
