//! `redis-server` and `memcached`: servers over Unix sockets, asked one request after the other by each client.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::super::host::{Client, Entrance, Host, Setting, Value};
use crate::server::Server;
use corecast_race::failure::Failure;

/// The words of a server's protocol.
#[derive(Debug, Clone, Copy)]
enum Protocol {
    Redis,
    Memcached,
}

/// A server that this process has started, or that of another one.
struct Served {
    protocol: Protocol,
    socket: PathBuf,
    _server: Option<Server>,
}

/// Starts `redis-server`, which keeps nothing in files.
pub(in crate::replica) fn open_redis(_setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    let server = Server::start(Path::new("redis-server"), redis_words, "apt-get install redis-server")?;
    Ok(Box::new(Served { protocol: Protocol::Redis, socket: server.socket().to_owned(), _server: Some(server) }))
}

/// The arguments of a server without a port and without files.
pub(in crate::replica) fn redis_words(socket: &Path) -> Vec<String> {
    let path = socket.display().to_string();
    ["--port", "0", "--unixsocket", &path, "--save", "", "--appendonly", "no"].map(str::to_owned).to_vec()
}

/// Starts `memcached` with a thread for each CPU.
pub(in crate::replica) fn open_memcached(setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    let threads = setting.cpus.len().clamp(1, 64).to_string();
    // It refuses to be started by root unless it is told a user; others may not choose one, and it looks at none of theirs.
    let words =
        |socket: &Path| ["-u", "root", "-t", &threads, "-s", &socket.display().to_string()].map(str::to_owned).to_vec();
    let server = Server::start(Path::new("memcached"), words, "apt-get install memcached")?;
    Ok(Box::new(Served { protocol: Protocol::Memcached, socket: server.socket().to_owned(), _server: Some(server) }))
}

/// Comes to the `redis-server` of another process.
pub(in crate::replica) fn join_redis(_setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    join(Protocol::Redis, entrance)
}

/// Comes to the `memcached` of another process.
pub(in crate::replica) fn join_memcached(_setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    join(Protocol::Memcached, entrance)
}

fn join(protocol: Protocol, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    let socket = entrance.path.ok_or_else(|| Failure::Refused("no path of a server came".to_owned()))?;
    Ok(Box::new(Served { protocol, socket, _server: None }))
}

impl Host for Served {
    fn client(&self, _rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        let connected = UnixStream::connect(&self.socket).map_err(Failure::while_doing("connect to a server"))?;
        let input = BufReader::new(connected.try_clone().map_err(Failure::while_doing("use a socket"))?);
        let wire = Wire { output: connected, input, line: String::new(), request: Vec::new() };
        Ok(match self.protocol {
            Protocol::Redis => Box::new(Redis(wire)),
            Protocol::Memcached => Box::new(Memcached(wire)),
        })
    }

    fn entrance(&self) -> Result<Entrance, Failure> {
        Ok(Entrance { fd: None, path: Some(self.socket.clone()) })
    }
}

/// A connection.
struct Wire {
    output: UnixStream,
    input: BufReader<UnixStream>,
    line: String,
    request: Vec<u8>,
}

struct Redis(Wire);
struct Memcached(Wire);

impl Wire {
    /// Sends the request, and reads the first line of the reply.
    fn ask(&mut self) -> Result<&str, Failure> {
        self.output.write_all(&self.request).map_err(Failure::while_doing("ask a server"))?;
        self.read_line()
    }

    fn read_line(&mut self) -> Result<&str, Failure> {
        self.line.clear();
        self.input.read_line(&mut self.line).map_err(Failure::while_doing("hear a server"))?;
        Ok(self.line.trim_end())
    }

    /// The 16 bytes of a value, and the end of its line.
    fn read_value(&mut self) -> Result<Value, Failure> {
        let mut bytes = [0; 18];
        self.input.read_exact(&mut bytes).map_err(Failure::while_doing("hear a server"))?;
        Ok(*bytes.first_chunk().expect("16 of 18 bytes"))
    }

    fn unexpected(&self) -> Failure {
        Failure::Refused(format!("a server replied '{}'", self.line.trim_end()))
    }

    fn expect(&mut self, expected: &str) -> Result<(), Failure> {
        if self.ask()? == expected { Ok(()) } else { Err(self.unexpected()) }
    }
}

impl Client for Redis {
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        let Self(wire) = self;
        wire.request.clear();
        wire.request.extend_from_slice(b"*2\r\n$3\r\nGET\r\n$8\r\n");
        wire.request.extend_from_slice(&key.to_le_bytes());
        wire.request.extend_from_slice(b"\r\n");
        match wire.ask()? {
            "$-1" => Ok(None),
            "$16" => wire.read_value().map(Some),
            _ => Err(wire.unexpected()),
        }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        let Self(wire) = self;
        wire.request.clear();
        wire.request.extend_from_slice(b"*3\r\n$3\r\nSET\r\n$8\r\n");
        wire.request.extend_from_slice(&key.to_le_bytes());
        wire.request.extend_from_slice(b"\r\n$16\r\n");
        wire.request.extend_from_slice(&value);
        wire.request.extend_from_slice(b"\r\n");
        wire.expect("+OK")
    }
}

/// Keys are text there.
impl Client for Memcached {
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        let Self(wire) = self;
        wire.request.clear();
        // A Vec takes all.
        let _ = write!(wire.request, "get {key:08x}\r\n");
        if wire.ask()? == "END" {
            return Ok(None);
        }
        if !wire.line.starts_with("VALUE ") {
            return Err(wire.unexpected());
        }
        let value = wire.read_value()?;
        if wire.read_line()? == "END" { Ok(Some(value)) } else { Err(wire.unexpected()) }
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        let Self(wire) = self;
        wire.request.clear();
        // A Vec takes all.
        let _ = write!(wire.request, "set {key:08x} 0 0 16\r\n");
        wire.request.extend_from_slice(&value);
        wire.request.extend_from_slice(b"\r\n");
        wire.expect("STORED")
    }
}
