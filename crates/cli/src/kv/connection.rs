//! One client: its bytes, its requests that are under way, and its replies.
//!
//! The operations of a pipeline are started in batches, up to the session's limit, before the first is waited for. A command of
//! another kind waits until those before it are done: it sees what they did, and its reply comes behind theirs.

use std::os::unix::net::UnixStream;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::EventFlags;
use rustix::io::{Errno, read};
use rustix::net::{SendFlags, send};

use super::command::{Command, tell_answer};
use super::deadline::Deadline;
use super::pipeline::Pipeline;
use super::replica::{Replica, Session};
use super::reply::Replies;
use super::request::{MAX_REQUEST_BYTES, RequestReader};

/// The bytes that one read asks for.
pub(super) const READ_BYTES: usize = 64 << 10;
/// The most that one read asks for, of a client that sends a long request.
const LONG_READ_BYTES: usize = 1 << 20;
/// A client that has this many bytes of replies to read has to, before more of its requests are carried out.
const UNSENT_BYTES: usize = 1 << 20;
/// A client may have sent this many bytes of requests that wait: one that sends all its requests before it reads a reply does not
/// block.
const UNREAD_BYTES: usize = 64 << 20;
const _: () = assert!(UNREAD_BYTES > MAX_REQUEST_BYTES, "the longest request could never be completed");
/// A client has had its turn once this many bytes of its requests are carried out: more than most reads bring.
const TURN_BYTES: usize = 4 * READ_BYTES;

/// A connection whose operations go through a session `S`.
#[derive(Debug)]
pub(super) struct Connection<S> {
    pub(super) stream: UnixStream,
    pub(super) number: u64,
    /// The operations that are under way.
    pub(super) pipeline: Pipeline<S>,
    /// The socket is watched for this.
    pub(super) watched: EventFlags,
    reader: RequestReader,
    input: Vec<u8>,
    /// The bytes of the input that were carried out.
    consumed: usize,
    /// The place in the input at which the client has had its turn.
    turn_end: usize,
    /// A command that waits for those.
    held: Option<Command>,
    replies: Replies,
    /// The bytes of the replies that were sent.
    sent: usize,
    /// No further request is read; the connection ends when its replies are sent.
    is_ending: bool,
    /// Requests wait until there is room to write, as the client does not read its replies, or has had its turn.
    is_stalled: bool,
    /// Nothing can be read or sent any more.
    is_broken: bool,
}

/// The sessions that no connection has at the moment.
pub(super) type Idle<S> = Vec<S>;

impl<S: Session> Connection<S> {
    pub(super) fn new(stream: UnixStream, number: u64) -> Self {
        Self {
            stream,
            number,
            pipeline: Pipeline::default(),
            watched: EventFlags::IN,
            reader: RequestReader::default(),
            input: Vec::new(),
            consumed: 0,
            turn_end: TURN_BYTES,
            held: None,
            replies: Replies::default(),
            sent: 0,
            is_ending: false,
            is_stalled: false,
            is_broken: false,
        }
    }

    /// Sends and reads as far as that is possible at once: the beginning of a turn.
    pub(super) fn exchange(&mut self, flags: EventFlags, scratch: &mut Vec<u8>) {
        if self.watched.contains(EventFlags::OUT) {
            self.flush();
        }
        // After any event but room to send the server reads: only a read tells that the client is gone.
        if self.watched.contains(EventFlags::IN) && flags != EventFlags::OUT {
            self.receive(scratch);
        }
        self.turn_end = self.consumed + TURN_BYTES;
    }

    /// The events for which the socket is to be watched.
    pub(super) fn interest(&self) -> EventFlags {
        let takes_more = !self.is_ending && self.input.len() - self.consumed < UNREAD_BYTES;
        let mut interest = if takes_more { EventFlags::IN } else { EventFlags::empty() };
        interest.set(EventFlags::OUT, self.needs_room());
        interest
    }

    /// Reads what has come, once. `scratch` is an empty buffer that connections share, as most of them have nothing of a
    /// request left over.
    fn receive(&mut self, scratch: &mut Vec<u8>) {
        if self.input.is_empty() {
            std::mem::swap(&mut self.input, scratch);
        }
        self.input.reserve(self.input.len().clamp(READ_BYTES, LONG_READ_BYTES));
        match read(&self.stream, spare_capacity(&mut self.input)) {
            Ok(0) => self.is_ending = true,
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.is_broken = true,
        }
    }

    /// Carries requests out until one has to wait for operations that are under way. Returns true if there are such.
    pub(super) fn advance<R: Replica<Session = S>>(
        &mut self,
        replica: &R,
        idle: &mut Idle<S>,
        deadline: &Deadline,
    ) -> bool {
        self.is_stalled = false;
        while self.pipeline.has_room() {
            if self.has_to_wait() {
                self.is_stalled = true;
                break;
            }
            let Some(command) = self.held.take().or_else(|| self.next()) else { break };
            match command {
                Command::Write(op, told) if self.pipeline.gather(&op, told) => {}
                write @ Command::Write(..) => {
                    self.held = Some(write);
                    self.start(replica, idle, deadline);
                }
                other if !self.pipeline.is_empty() => {
                    self.held = Some(other);
                    break;
                }
                other => self.answer(other, replica, deadline),
            }
        }
        self.start(replica, idle, deadline);
        !self.pipeline.is_empty()
    }

    /// True if the client has to read its replies first, or to let others have their turn.
    fn has_to_wait(&mut self) -> bool {
        let is_turn_over = self.consumed >= self.turn_end && self.consumed < self.input.len();
        is_turn_over || self.unsent() >= UNSENT_BYTES && !self.has_sent_all()
    }

    /// Starts the operations that were gathered.
    fn start<R: Replica<Session = S>>(&mut self, replica: &R, idle: &mut Idle<S>, deadline: &Deadline) {
        if let Err(trouble) = self.pipeline.start(replica, idle, deadline) {
            self.settle(deadline);
            self.pipeline.fail(&trouble, &mut self.replies);
        }
    }

    /// Waits for the results of all operations that are under way, and replies to them.
    pub(super) fn settle(&mut self, deadline: &Deadline) {
        self.pipeline.settle(&mut self.replies, deadline);
    }

    /// The next command. Errors are replied to here, once those before have their replies.
    fn next(&mut self) -> Option<Command> {
        while !self.is_ending || self.consumed < self.input.len() {
            match self.reader.read(&self.input[self.consumed..]) {
                Ok(None) => return None,
                Ok(Some((request, len))) => {
                    self.consumed += len;
                    if request.len() == 0 {
                        continue;
                    }
                    match Command::parse(request) {
                        Ok(command) => return Some(command),
                        Err(error) => return Some(Command::Refuse(error)),
                    }
                }
                Err(error) => {
                    self.consumed = self.input.len();
                    return Some(Command::Garbage(error));
                }
            }
        }
        None
    }

    /// Replies to a command that changes nothing.
    fn answer<R: Replica>(&mut self, command: Command, replica: &R, deadline: &Deadline) {
        match command {
            Command::Read(query) => match replica.read(&query, deadline) {
                Ok(answer) => tell_answer(&answer, &mut self.replies),
                Err(trouble) => self.replies.error(format!("ERR {trouble}")),
            },
            other => self.answer_without_store(other, || replica.facts()),
        }
    }

    #[cold]
    fn answer_without_store(&mut self, command: Command, facts: impl FnOnce() -> Vec<(&'static str, String)>) {
        let replies = &mut self.replies;
        match command {
            Command::Ping => replies.simple("PONG"),
            Command::Echo(bytes) => replies.bulk(&bytes),
            Command::Accept => replies.ok(),
            Command::Nothing | Command::Setting(None) => replies.array(0),
            Command::Setting(Some((name, value))) => {
                replies.array(2);
                replies.bulk(name.as_bytes());
                replies.bulk(value.as_bytes());
            }
            Command::Number => replies.count(self.number),
            Command::Info => {
                let lines = facts().into_iter().map(|(name, value)| format!("{name}:{value}\r\n"));
                replies.bulk(lines.collect::<String>().as_bytes());
            }
            Command::Refuse(error) => replies.error(error.to_string()),
            Command::Garbage(error) => {
                replies.error(format!("ERR Protocol error: {error}"));
                self.is_ending = true;
            }
            Command::Quit => {
                replies.ok();
                self.consumed = self.input.len();
                self.is_ending = true;
            }
            Command::Write(..) | Command::Read(_) => unreachable!("those need the store"),
        }
    }

    /// Forgets the input that was carried out, but keeps it while more than half is left, as the rest has to be moved. The buffer
    /// goes back if nothing is left of it.
    pub(super) fn tidy_input(&mut self, scratch: &mut Vec<u8>) {
        if self.consumed < self.input.len() {
            if self.consumed < self.input.len() / 2 {
                return;
            }
            self.input.drain(..self.consumed);
        } else {
            self.input.clear();
            if self.input.capacity() <= 2 * READ_BYTES && scratch.capacity() == 0 {
                std::mem::swap(&mut self.input, scratch);
            } else {
                self.input = Vec::new();
            }
        }
        self.turn_end = self.turn_end.saturating_sub(self.consumed);
        self.consumed = 0;
    }

    /// Sends replies as far as there is room.
    pub(super) fn flush(&mut self) {
        while self.unsent() > 0 {
            match send(&self.stream, &self.replies.0[self.sent..], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => self.sent += sent,
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.is_broken = true;
                    return;
                }
            }
        }
        self.sent = 0;
        if self.replies.0.capacity() > UNSENT_BYTES {
            self.replies.0 = Vec::new();
        }
        self.replies.0.clear();
    }

    fn has_sent_all(&mut self) -> bool {
        self.flush();
        self.unsent() == 0
    }

    /// True if the connection goes on once there is room to write.
    fn needs_room(&self) -> bool {
        self.is_stalled || self.unsent() > 0
    }

    /// Bytes of replies that were not sent yet.
    fn unsent(&self) -> usize {
        self.replies.0.len() - self.sent
    }

    /// True if the connection has nothing left to do and ends.
    pub(super) fn is_over(&self) -> bool {
        self.is_broken || self.is_ending && !self.needs_room()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Instant;

    use super::super::local::{Local, LocalSession};
    use super::*;

    /// One turn of a client whose bytes were read before, as the server gives it. Returns the bytes that it leaves.
    fn turn(connection: &mut Connection<LocalSession>, replica: &Local, deadline: &Deadline) -> usize {
        let (mut scratch, mut idle) = (Vec::new(), Vec::new());
        connection.exchange(EventFlags::OUT, &mut scratch);
        let mut is_waiting = connection.advance(replica, &mut idle, deadline);
        connection.tidy_input(&mut scratch);
        while is_waiting {
            connection.settle(deadline);
            is_waiting = connection.advance(replica, &mut idle, deadline);
        }
        connection.tidy_input(&mut scratch);
        connection.flush();
        connection.input.len() - connection.consumed
    }

    /// The second turn forgets the input of the first one in its middle, which moves its end.
    #[test]
    fn a_client_that_has_sent_much_has_several_turns() {
        let (ours, mut theirs) = UnixStream::pair().expect("sockets");
        let (stop, _stopper) = UnixStream::pair().expect("sockets");
        let (replica, deadline) = (Local::default(), Deadline::new(stop));
        deadline.begin(Instant::now());
        let request = format!("SET k {}\n", "x".repeat(1024 - "SET k \n".len()));
        let left_over = LocalSession::OUTSTANDING * request.len();
        let requests = (2 * TURN_BYTES + left_over) / request.len();
        let mut connection = Connection::new(ours, 1);
        connection.input = request.repeat(requests).into_bytes();
        for left in [TURN_BYTES + left_over, left_over] {
            assert_eq!(turn(&mut connection, &replica, &deadline), left);
            assert!(connection.interest().contains(EventFlags::OUT), "it goes on although nothing more comes");
        }
        assert_eq!(turn(&mut connection, &replica, &deadline), 0);
        assert_eq!(connection.interest(), EventFlags::IN);
        drop(connection);
        let mut told = String::new();
        theirs.read_to_string(&mut told).expect("replies");
        assert_eq!(told, "+OK\r\n".repeat(requests));
    }
}
