//! Serves a replica's store to clients over sockets, in the protocol of Redis.
//!
//! One thread, which sleeps until some of its clients have sent something. It reads from each of these and starts its operations,
//! and only then waits for the first result, so operations of different clients are ordered in one run. Each client costs one
//! read and one write per turn, however many requests it has sent. The bytes of one client are in the cache while they are
//! parsed: reading from all of them first took a buffer for each, 3 MB for 50 clients.
//!
//! **Several replicas, one socket.** The processes of all replicas inherit the same listening socket. The leader's process takes
//! clients as they come, since operations are ordered there. The others look every [`TURN`] whether a client was left
//! waiting, as it is when the leader's process is stopped or has just died, and take it then: a client whose replica dies
//! connects once more, at the same path, and is served.

use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use super::connection::{Connection, Idle, READ_BYTES};
use super::deadline::Deadline;
use super::replica::{Replica, Session};

/// How often the server looks whether it is the leader, and for clients that nobody took.
const TURN: Duration = Duration::from_millis(50);
/// The most that are told of readiness at once.
const EVENTS: usize = 1024;
/// Events of the stopper and of the listeners carry these instead of a connection's place.
const STOP: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;

/// The server of one process.
pub(crate) struct Server<R: Replica> {
    replica: R,
    listeners: Vec<UnixListener>,
    /// How long this turn may take. Its socket ends when the stopper is dropped; the epoll set watches it.
    deadline: Deadline,
    epoll: OwnedFd,
    /// Connections by place; places are taken again.
    connections: Vec<Option<Connection<R::Session>>>,
    free: Vec<usize>,
    max_clients: usize,
    /// The number of connections so far.
    accepted: u64,
    /// Clients are taken as they come.
    is_listening: bool,
    idle: Idle<R::Session>,
    /// A buffer for reading that connections share.
    scratch: Vec<u8>,
}

/// Stops the server when it is dropped.
#[derive(Debug)]
pub(crate) struct Stopper(#[allow(dead_code, reason = "its end is what counts")] UnixStream);

impl<R: Replica> Server<R> {
    /// A server for clients of these sockets, which do not block.
    pub(crate) fn new(replica: R, listeners: Vec<UnixListener>, max_clients: usize) -> io::Result<(Self, Stopper)> {
        let (stop, stopper) = UnixStream::pair()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &stop, epoll::EventData::new_u64(STOP), epoll::EventFlags::IN)?;
        for listener in &listeners {
            listener.set_nonblocking(true)?;
        }
        let server = Self {
            replica,
            listeners,
            deadline: Deadline::new(stop),
            epoll,
            connections: Vec::new(),
            free: Vec::new(),
            max_clients,
            accepted: 0,
            is_listening: false,
            idle: Vec::new(),
            scratch: Vec::with_capacity(READ_BYTES),
        };
        Ok((server, Stopper(stopper)))
    }

    /// Serves until the stopper is dropped. An error also where the replica does no more.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let (mut events, mut ready) = (Vec::with_capacity(EVENTS), Vec::with_capacity(EVENTS));
        let mut turn = Instant::now();
        self.take_turn()?;
        loop {
            self.wait(&mut events)?;
            let now = Instant::now();
            self.deadline.begin(now);
            let mut is_waiting = false;
            for event in &events {
                match event.data.u64() {
                    STOP => return Ok(()),
                    LISTENER => self.accept_all()?,
                    place => {
                        is_waiting |= self.hear(place as usize, event.flags);
                        ready.push(place as usize);
                    }
                }
            }
            self.serve(&ready, is_waiting);
            self.finish(&mut ready);
            if now - turn >= TURN {
                self.take_turn()?;
                turn = now;
            }
        }
    }

    /// Waits for something to do, for one turn at most.
    fn wait(&self, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        events.clear();
        let longest = Timespec { tv_sec: 0, tv_nsec: TURN.subsec_nanos().into() };
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&longest)) {
            Err(rustix::io::Errno::INTR) => Ok(()),
            result => Ok(result.map(drop)?),
        }
    }

    /// Reads from a connection, or sends what it had no room for, and starts its operations. True if it waits for results.
    fn hear(&mut self, place: usize, flags: epoll::EventFlags) -> bool {
        let Some(connection) = &mut self.connections[place] else { return false };
        connection.exchange(flags, &mut self.scratch);
        let is_waiting = connection.advance(&self.replica, &mut self.idle, &self.deadline);
        connection.tidy_input(&mut self.scratch);
        is_waiting
    }

    /// Carries out all further requests that these connections have, as far as they read their replies.
    fn serve(&mut self, ready: &[usize], mut is_waiting: bool) {
        while std::mem::take(&mut is_waiting) {
            for &place in ready {
                if let Some(connection) = &mut self.connections[place] {
                    connection.settle(&self.deadline);
                }
            }
            for &place in ready {
                if let Some(connection) = &mut self.connections[place] {
                    is_waiting |= connection.advance(&self.replica, &mut self.idle, &self.deadline);
                }
            }
        }
    }

    /// Sends the replies, and closes the connections that are over, and those that cannot be watched any more.
    fn finish(&mut self, ready: &mut Vec<usize>) {
        for place in ready.drain(..) {
            let Some(connection) = &mut self.connections[place] else { continue };
            connection.tidy_input(&mut self.scratch);
            connection.flush();
            let interest = connection.interest();
            let mut is_over = connection.is_over();
            if !is_over && interest != connection.watched {
                connection.watched = interest;
                let data = epoll::EventData::new_u64(place as u64);
                is_over = epoll::modify(&self.epoll, &connection.stream, data, interest).is_err();
            }
            if is_over {
                self.close(place);
            }
        }
    }

    /// The socket leaves the epoll set as it is closed.
    fn close(&mut self, place: usize) {
        if let Some(connection) = self.connections[place].take() {
            self.idle.extend(connection.pipeline.into_session());
            self.free.push(place);
        }
    }

    /// Listens all the time where this replica leads, and takes those that were left waiting where another one does.
    fn take_turn(&mut self) -> io::Result<()> {
        let standing = self.replica.standing();
        if let Some(why) = standing.ended {
            return Err(io::Error::other(why));
        }
        self.listen(standing.is_leader)?;
        if !self.is_listening { self.accept_all() } else { Ok(()) }
    }

    fn listen(&mut self, is_listening: bool) -> io::Result<()> {
        if is_listening == self.is_listening {
            return Ok(());
        }
        self.is_listening = is_listening;
        for listener in &self.listeners {
            if is_listening {
                let data = epoll::EventData::new_u64(LISTENER);
                epoll::add(&self.epoll, listener, data, epoll::EventFlags::IN | epoll::EventFlags::EXCLUSIVE)?;
            } else {
                epoll::delete(&self.epoll, listener)?;
            }
        }
        Ok(())
    }

    /// Takes all clients that wait.
    fn accept_all(&mut self) -> io::Result<()> {
        for listener in 0..self.listeners.len() {
            loop {
                match self.listeners[listener].accept() {
                    Ok((stream, _)) => self.admit(stream),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if is_of_client(&error) => {}
                    // Out of descriptors or memory: not again before the next turn, or this would be all that is done.
                    Err(_) => return self.listen(false),
                }
            }
        }
        Ok(())
    }

    /// Takes a client, or tells it why not.
    fn admit(&mut self, stream: UnixStream) {
        let place = self.free.last().copied().unwrap_or(self.connections.len());
        // A client that does not get an error sees that the connection is closed.
        if self.connections.len() - self.free.len() >= self.max_clients {
            let _ = (&stream).write_all(b"-ERR max number of clients reached\r\n");
            return;
        }
        if let Err(error) = self.watch(&stream, place) {
            let _ = (&stream).write_all(format!("-ERR no more clients can be watched: {error}\r\n").as_bytes());
            return;
        }
        self.free.pop();
        self.accepted += 1;
        let connection = Some(Connection::new(stream, self.accepted));
        match self.connections.get_mut(place) {
            Some(free) => *free = connection,
            None => self.connections.push(connection),
        }
    }

    fn watch(&self, stream: &UnixStream, place: usize) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let data = epoll::EventData::new_u64(place as u64);
        Ok(epoll::add(&self.epoll, stream.as_fd(), data, epoll::EventFlags::IN)?)
    }
}

/// True for an error of one client, after which others can be taken.
fn is_of_client(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted)
}

impl<R: Replica> std::fmt::Debug for Server<R>
where
    R::Session: Session,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("accepted", &self.accepted).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::local::Local;
    use super::*;

    fn client_of(server: &mut Server<Local>) -> UnixStream {
        let (theirs, ours) = UnixStream::pair().expect("sockets");
        server.admit(ours);
        theirs
    }

    /// As where the system lets the user watch no more descriptors.
    #[test]
    fn a_client_that_cannot_be_watched_is_the_only_one_to_suffer() {
        let (mut server, _stopper) = Server::new(Local::default(), Vec::new(), 2).expect("made");
        let unfit: OwnedFd = UnixStream::pair().expect("sockets").0.into();
        let epoll = std::mem::replace(&mut server.epoll, unfit);
        let mut told = String::new();
        client_of(&mut server).read_to_string(&mut told).expect("the connection is closed");
        assert!(told.starts_with("-ERR no more clients can be watched: "), "{told}");
        server.epoll = epoll;
        let (mut first, _second) = (client_of(&mut server), client_of(&mut server));
        assert_eq!((server.accepted, server.connections.len()), (2, 2));
        let connection = server.connections[0].as_mut().expect("it was admitted");
        epoll::delete(&server.epoll, &connection.stream).expect("it is watched");
        connection.watched = epoll::EventFlags::OUT;
        server.finish(&mut vec![0]);
        assert_eq!(first.read(&mut [0]).expect("closed"), 0);
        assert!(server.connections[1].is_some());
    }
}
