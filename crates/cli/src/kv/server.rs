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
    /// Ends when the stopper is dropped.
    #[allow(dead_code, reason = "the epoll set watches it")]
    stop: UnixStream,
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
            stop,
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
            self.finish(&mut ready)?;
            if turn.elapsed() >= TURN {
                self.take_turn()?;
                turn = Instant::now();
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
        if flags.contains(epoll::EventFlags::OUT) || connection.awaits_room {
            connection.flush();
        } else {
            connection.receive(&mut self.scratch);
        }
        let is_waiting = connection.advance(&self.replica, &mut self.idle);
        connection.tidy_input(&mut self.scratch);
        is_waiting
    }

    /// Carries out all further requests that these connections have, as far as they read their replies.
    fn serve(&mut self, ready: &[usize], mut is_waiting: bool) {
        while std::mem::take(&mut is_waiting) {
            for &place in ready {
                if let Some(connection) = &mut self.connections[place] {
                    connection.settle();
                }
            }
            for &place in ready {
                if let Some(connection) = &mut self.connections[place] {
                    is_waiting |= connection.advance(&self.replica, &mut self.idle);
                }
            }
        }
    }

    /// Sends the replies, and closes the connections that are over.
    fn finish(&mut self, ready: &mut Vec<usize>) -> io::Result<()> {
        for place in ready.drain(..) {
            let Some(connection) = &mut self.connections[place] else { continue };
            connection.tidy_input(&mut self.scratch);
            connection.flush();
            if connection.is_over() {
                self.close(place);
            } else if connection.needs_room() != connection.awaits_room {
                connection.awaits_room = !connection.awaits_room;
                let interest = if connection.awaits_room { epoll::EventFlags::OUT } else { epoll::EventFlags::IN };
                epoll::modify(&self.epoll, &connection.stream, epoll::EventData::new_u64(place as u64), interest)?;
            }
        }
        Ok(())
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
                    Ok((stream, _)) => self.admit(stream)?,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if is_of_client(&error) => {}
                    // Out of descriptors or memory: not again before the next turn, or this would be all that is done.
                    Err(_) => return self.listen(false),
                }
            }
        }
        Ok(())
    }

    fn admit(&mut self, stream: UnixStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        if self.connections.len() - self.free.len() >= self.max_clients {
            // A client that does not get it sees that the connection is closed.
            let _ = (&stream).write_all(b"-ERR max number of clients reached\r\n");
            return Ok(());
        }
        let place = self.free.pop().unwrap_or(self.connections.len());
        let data = epoll::EventData::new_u64(place as u64);
        epoll::add(&self.epoll, stream.as_fd(), data, epoll::EventFlags::IN)?;
        self.accepted += 1;
        let connection = Some(Connection::new(stream, self.accepted));
        match self.connections.get_mut(place) {
            Some(free) => *free = connection,
            None => self.connections.push(connection),
        }
        Ok(())
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
