//! Servers from packages, with clients that check what they get.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use corecast_testing::launched::end_of;

use super::object::preloaded;
use super::programs::is_installed;

const LOCKS: [&str; 5] = ["pthread", "auto", "mcs", "ticket", "word"];
const CLIENTS: u32 = 6;
const ROUNDS: u32 = 300;

/// A server that ends with its test.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = end_of(&mut self.0);
    }
}

/// A connection to this socket, once it is there.
fn connect(socket: &Path) -> BufReader<UnixStream> {
    let start = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => {
                stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
                return BufReader::new(stream);
            }
            Err(error) => assert!(start.elapsed() < Duration::from_secs(60), "{error}"),
        }
        thread::yield_now();
    }
}

/// Sends this, and expects these lines.
#[track_caller]
fn ask(server: &mut BufReader<UnixStream>, request: &str, answer: &[&str]) {
    server.get_mut().write_all(request.as_bytes()).expect("the server lives");
    for expected in answer {
        let mut line = String::new();
        server.read_line(&mut line).expect("the server answers");
        assert_eq!(line.trim_end(), *expected, "{request}");
    }
}

/// Lets clients ask at the same time.
fn clients(socket: &Path, ask_all: fn(&mut BufReader<UnixStream>, u32, u32)) {
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut server = connect(socket);
                (0..ROUNDS).for_each(|round| ask_all(&mut server, client, round));
            });
        }
    });
}

#[test]
fn memcached() {
    if !is_installed("memcached") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for lock in LOCKS {
        let socket = folder.path().join(lock);
        let mut command = preloaded("memcached", lock);
        let _server = Server::start(command.args(["-t", "4", "-u", "root", "-s"]).arg(&socket));
        clients(&socket, |server, client, round| {
            let (key, value) = (format!("{client}-{}", round % 17), format!("{round:08}"));
            ask(server, &format!("set {key} 0 0 8\r\n{value}\r\n"), &["STORED"]);
            ask(server, &format!("get {key}\r\n"), &[&format!("VALUE {key} 0 8"), &value, "END"]);
        });
    }
}

#[test]
fn redis() {
    if !is_installed("redis-server") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for lock in LOCKS {
        let socket = folder.path().join(lock);
        let mut command = preloaded("redis-server", lock);
        command.args([
            "--port",
            "0",
            "--save",
            "",
            "--io-threads",
            "4",
            "--io-threads-do-reads",
            "yes",
            "--unixsocket",
        ]);
        let _server = Server::start(command.arg(&socket).current_dir(folder.path()));
        clients(&socket, |server, client, round| {
            ask(server, &format!("SET k{client} {round}\r\n"), &["+OK"]);
            ask(server, &format!("INCR k{client}\r\n"), &[&format!(":{}", round + 1)]);
        });
        let mut server = connect(&socket);
        ask(&mut server, "DBSIZE\r\n", &[&format!(":{CLIENTS}")]);
    }
}
