//! A client: it writes to the host that leads, and asks the others when that one is gone.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::network::{MAX_BYTES, Reply, Request, frame};
use crate::state::Put;

/// The time after which a client asks again: the leader may have lost the others.
const REPLY: Duration = Duration::from_secs(2);
/// The time between attempts while no host leads.
const PAUSE: Duration = Duration::from_millis(20);
/// The time after which a client gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client of the hosts.
#[derive(Debug)]
pub(crate) struct Client {
    addresses: Vec<SocketAddr>,
    /// The host that is asked first, from 0.
    host: usize,
    stream: Option<TcpStream>,
}

impl Client {
    /// A client of the hosts at these addresses.
    pub(crate) fn new(addresses: Vec<SocketAddr>) -> Self {
        Self { addresses, host: 0, stream: None }
    }

    /// The host that answered last, from 0.
    pub(crate) const fn host(&self) -> usize {
        self.host
    }

    /// Writes a text. A write whose reply is lost is sent again, which changes nothing: it sets the same text. Returns the entry
    /// of Raft's log.
    pub(crate) fn write(&mut self, name: &str, text: &str) -> Outcome<u64> {
        let put = Put { name: name.to_owned(), text: text.to_owned() };
        match self.ask(&Request::Write(put))? {
            Reply::Written(entry) => Ok(entry),
            other => Err(format!("{other:?}").into()),
        }
    }

    /// The text of a name, with every write that was acknowledged before.
    pub(crate) fn read(&mut self, name: &str) -> Outcome<Option<String>> {
        match self.ask(&Request::Read(name.to_owned()))? {
            Reply::Text(text) => Ok(text),
            other => Err(format!("{other:?}").into()),
        }
    }

    /// Asks until a host that leads has answered.
    pub(crate) fn ask(&mut self, request: &Request) -> Outcome<Reply> {
        let begin = Instant::now();
        let mut last = String::new();
        while begin.elapsed() < PATIENCE {
            match self.exchange(request) {
                Ok(Reply::Elsewhere(Some(id))) if id != self.host as u64 + 1 => self.turn_to(id as usize - 1),
                Ok(Reply::Elsewhere(_)) => self.turn_to_next(),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    last = error.to_string();
                    self.turn_to_next();
                }
            }
        }
        Err(format!("no host leads after {} s: {last}", PATIENCE.as_secs()).into())
    }

    fn turn_to(&mut self, host: usize) {
        (self.host, self.stream) = (host % self.addresses.len(), None);
    }

    fn turn_to_next(&mut self) {
        thread::sleep(PAUSE);
        self.turn_to(self.host + 1);
    }

    fn exchange(&mut self, request: &Request) -> io::Result<Reply> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect_timeout(&self.addresses[self.host], REPLY)?,
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY))?;
        stream.write_all(&frame(request)?)?;
        let mut len = [0; 4];
        stream.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len) as usize;
        let mut bytes = vec![0; len.min(MAX_BYTES)];
        stream.read_exact(&mut bytes)?;
        self.stream = Some(stream);
        Ok(serde_json::from_slice(&bytes)?)
    }
}
