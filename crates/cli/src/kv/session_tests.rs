//! Clients of a server over sockets: replies, pipelines, garbage, limits.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::listener::BoundListener;
use super::local::Local;
use super::server::{Server, Stopper};

/// A server with a store of its own in a thread, which ends with it.
struct Served {
    bound: BoundListener,
    _folder: tempfile::TempDir,
    stopper: Option<Stopper>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(max_clients: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let bound = BoundListener::bind(&folder.path().join("s"), false).expect("bound");
        let listener = bound.listener().try_clone().expect("cloned");
        let (tx, rx) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let (server, stopper) = Server::new(Local::default(), vec![listener], max_clients).expect("made");
            tx.send(stopper).expect("awaited");
            server.run().expect("served");
        });
        let stopper = Some(rx.recv().expect("made"));
        Self { bound, _folder: folder, stopper, thread: Some(thread) }
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.bound.path()).expect("it listens")
    }

    /// Everything that comes back for these bytes until the server has closed the connection.
    fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("sent");
        stream.shutdown(Shutdown::Write).expect("ended");
        rest_of(stream)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stopper.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server ends well");
    }
}

fn rest_of(mut stream: UnixStream) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("read");
    String::from_utf8(text).expect("text")
}

#[test]
fn a_pipeline_is_answered_in_order() {
    let served = Served::new(10);
    let requests = "SET a 1\nINCR a\nINCRBY a 40\nGET a\nSETNX a 2\nCAS a 42 43\nCAS a 42 44\nAPPEND a 0\nSTRLEN a\n\
        MGET a b\nEXISTS a a b\nDBSIZE\nDEL a b\nGET a\nPING\nPING hi\nECHO ho\nDECR n\nDECRBY n 2\nSET n x XX\nSET n y NX\n\
        INCR n\nSELECT 0\nCLIENT ID\nCLIENT SETNAME me\nCOMMAND DOCS\nCONFIG GET save\nCONFIG GET appendonly\nCONFIG GET x\n\
        FOO bar\nQUIT\nGET a\n";
    let expected = "+OK|:2|:42|$2|42|:0|:1|:0|:3|:3|*2|$3|430|$-1|:2|:1|:1|$-1|+PONG|$2|hi|$2|ho|:-1|:-3|+OK|$-1|\
        -ERR value is not an integer or out of range|+OK|:1|+OK|*0|*2|$4|save|$0||*2|$10|appendonly|$2|no|*0|\
        -ERR unknown command 'FOO', with args beginning with: 'bar' |+OK|";
    assert_eq!(served.exchange(requests.as_bytes()).replace("\r\n", "|"), expected);
}

#[test]
fn a_long_pipeline_of_writes_and_reads_is_answered_whole() {
    let served = Served::new(10);
    let rounds = 20_000;
    let mut stream = served.connect();
    let reader = stream.try_clone().expect("cloned");
    let sender = thread::spawn(move || {
        let requests: String = (0..rounds).map(|at| format!("INCR n\nSET k{at} {at}\nGET k{at}\n")).collect();
        stream.write_all(requests.as_bytes()).expect("sent");
        stream.shutdown(Shutdown::Write).expect("ended");
    });
    let text = rest_of(reader);
    sender.join().expect("sent");
    let expected: String =
        (0..rounds).map(|at| format!(":{}\r\n+OK\r\n${}\r\n{at}\r\n", at + 1, at.to_string().len())).collect();
    assert!(text == expected, "{} of {} bytes", text.len(), expected.len());
}

#[test]
fn a_client_that_does_not_read_its_replies_holds_up_itself_only() {
    let served = Served::new(10);
    let mut lazy = served.connect();
    let value = "v".repeat(60_000);
    lazy.write_all(format!("SET big {value}\n").as_bytes()).expect("sent");
    let gets = 400;
    let mut sender = lazy.try_clone().expect("cloned");
    let thread = thread::spawn(move || {
        sender.write_all("GET big\n".repeat(gets).as_bytes()).expect("sent");
        sender.shutdown(Shutdown::Write).expect("ended");
    });
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
    thread.join().expect("sent");
    assert_eq!(served.exchange(b"STRLEN big\n"), ":60000\r\n");
    assert_eq!(rest_of(lazy).len(), 5 + gets * (8 + 60_000 + 2));
}

/// As clients do that have one thread and send their whole pipeline first: neither side may wait for the other.
#[test]
fn a_client_may_send_all_its_requests_before_it_reads() {
    let served = Served::new(10);
    let mut stream = served.connect();
    // A server that stops reading is an error here, and no test without an end.
    stream.set_write_timeout(Some(Duration::from_secs(30))).expect("a limit");
    let (gets, increments, value) = (40_000, 400_000, "v".repeat(100));
    let requests = format!("SET k {value}\n{}{}", "GET k\n".repeat(gets), "INCR n\n".repeat(increments));
    stream.write_all(requests.as_bytes()).expect("the server goes on reading");
    stream.shutdown(Shutdown::Write).expect("ended");
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
    let text = rest_of(stream);
    let numbers: String = (1..=increments).map(|number| format!(":{number}\r\n")).collect();
    let expected = format!("+OK\r\n{}{numbers}", format!("$100\r\n{value}\r\n").repeat(gets));
    assert!(text == expected, "{} of {} bytes", text.len(), expected.len());
}

#[test]
fn values_of_many_lengths_come_back() {
    let served = Served::new(10);
    for len in [0, 1, 100, 65_535, 65_536, 1_000_000, 16 << 20] {
        let mut stream = served.connect();
        let value = vec![b'a' + (len % 26) as u8; len];
        stream.write_all(format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${len}\r\n").as_bytes()).expect("sent");
        stream.write_all(&value).expect("sent");
        stream.write_all(b"\r\nGET k\r\nQUIT\r\n").expect("sent");
        let text = rest_of(stream);
        let expected = format!("+OK\r\n${len}\r\n{}\r\n+OK\r\n", String::from_utf8(value).expect("text"));
        assert!(text == expected, "{len} bytes");
    }
}

#[test]
fn garbage_is_told_and_ends_the_connection() {
    let served = Served::new(10);
    let longer = (16 << 20) + 1;
    for (bytes, error) in [
        ("PING\r\n*1\r\n:1\r\nPING\r\n".to_owned(), "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n"),
        ("SET a 1\n*x\r\n".to_owned(), "+OK\r\n-ERR Protocol error: invalid multibulk length\r\n"),
        ("*1\r\n$1073741824\r\n".to_owned(), "-ERR Protocol error: invalid bulk length\r\n"),
        (format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${longer}\r\n"), "-ERR Protocol error: invalid bulk length\r\n"),
        ("GET 'a\n".to_owned(), "-ERR Protocol error: unbalanced quotes in request\r\n"),
    ] {
        let mut stream = served.connect();
        stream.write_all(bytes.as_bytes()).expect("sent");
        assert_eq!(rest_of(stream), error, "{bytes}");
    }
}

/// The server closes the connection before it has read all of it, so sending may fail; no client but this one notices.
#[test]
fn endless_bytes_are_cut_off() {
    let served = Served::new(10);
    let whole_request = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n";
    for (begin, piece) in [
        ("", "a".repeat(1 << 20)),
        ("", "*1\r\n".repeat(100_000)),
        ("", "*1".repeat(1 << 19)),
        ("*1\r\n$", "1".repeat(1 << 20)),
        ("*1048576\r\n", format!("$1017\r\n{}\r\n", "v".repeat(1017)).repeat(1 << 10)),
        (whole_request, "$".repeat(1 << 20)),
    ] {
        let mut stream = served.connect();
        let sent = stream.write_all(begin.as_bytes());
        let sent = sent.and_then(|()| (0..1024).try_for_each(|_| stream.write_all(piece.as_bytes())));
        assert!(sent.is_err(), "a gibibyte of {:?} was taken", &piece[..4]);
        let mut told = Vec::new();
        let read = stream.read_to_end(&mut told);
        let told = String::from_utf8(told).expect("text");
        let told = told.strip_prefix("+OK\r\n").unwrap_or(&told);
        assert!(read.is_err() || told.is_empty() || told.starts_with("-ERR Protocol error: "), "{told}");
    }
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
}

/// Parts of requests in any order: each reply is one of the protocol, and the server goes on.
#[test]
fn random_parts_of_requests_are_answered_by_whole_replies() {
    const PARTS: [&str; 24] = [
        "*1\r\n",
        "*2\r\n",
        "*3\r\n",
        "*-1\r\n",
        "*1048576\r\n",
        "$1\r\n",
        "$3\r\n",
        "$0\r\n",
        "$-1\r\n",
        "$1073741824\r\n",
        "SET\r\n",
        "GET\r\n",
        "k\r\n",
        "12\r\n",
        "\r\n",
        "\n",
        "\r",
        "'",
        "\"",
        "\\x",
        "INCR n\n",
        "GET k\n",
        "MGET k n\n",
        "\0",
    ];
    let served = Served::new(10);
    let seed = 18;
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..500 {
        let bytes: String = (0..random.usize(..30)).map(|_| PARTS[random.usize(..PARTS.len())]).collect();
        let told = served.exchange(bytes.as_bytes());
        let mut rest = told.as_bytes();
        while !rest.is_empty() {
            let reply = redis_protocol::resp2::decode::decode(rest);
            let Ok(Some((_, len))) = reply else { panic!("seed {seed}, round {round}: {bytes:?} is told {told:?}") };
            rest = &rest[len..];
        }
    }
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
}

#[test]
fn half_a_request_is_not_carried_out() {
    let served = Served::new(10);
    assert_eq!(served.exchange(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nval"), "");
    assert_eq!(served.exchange(b"GET k\n"), "$-1\r\n");
    drop(served.connect());
    let mut cut = served.connect();
    cut.write_all(b"*2\r\n$3\r\nGET\r\n$1\r\n").expect("sent");
    drop(cut);
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
}

#[test]
fn clients_beyond_the_limit_are_told() {
    let served = Served::new(2);
    let mut clients = [served.connect(), served.connect()];
    for client in &mut clients {
        client.write_all(b"PING\n").expect("sent");
        client.read_exact(&mut [0; 7]).expect("answered");
    }
    assert_eq!(rest_of(served.connect()), "-ERR max number of clients reached\r\n");
    let [first, mut second] = clients;
    first.shutdown(Shutdown::Both).expect("ended");
    rest_of(first);
    // The server has noticed the end before it answers a request that was sent later.
    second.write_all(b"PING\n").expect("sent");
    second.read_exact(&mut [0; 7]).expect("answered");
    assert_eq!(served.exchange(b"PING\n"), "+PONG\r\n");
}
