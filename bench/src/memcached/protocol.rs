//! One connection to memcached in its text protocol: requests in batches, and answers whose length is known before.
//!
//! All values have the same length, and begin with their key, so that an answer to another question is noticed.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use corecast_race::failure::Failure;

/// The length of a key, and of a value.
pub(super) const KEY_BYTES: usize = 20;
pub(super) const VALUE_BYTES: usize = 400;

const STORED: &[u8] = b"STORED\r\n";
const MISS: &[u8] = b"END\r\n";
const END: &[u8] = b"\r\nEND\r\n";
/// A server that does not answer for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Get(u32),
    Set(u32),
}

/// A client's end of a connection.
pub(super) struct Connection {
    stream: UnixStream,
    /// The requests without an answer.
    asked: Vec<Request>,
    out: Vec<u8>,
    answers: Vec<u8>,
}

impl Connection {
    pub(super) fn open(socket: &Path) -> Result<Self, Failure> {
        let stream = UnixStream::connect(socket).map_err(Failure::while_doing("connect to memcached"))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(Failure::while_doing("set a time-out"))?;
        Ok(Self { stream, asked: Vec::new(), out: Vec::new(), answers: Vec::new() })
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends requests, to which answers are to be read before the next ones are sent.
    pub(super) fn ask(&mut self, requests: impl Iterator<Item = Request>) -> Result<(), Failure> {
        self.out.clear();
        for request in requests {
            write(&mut self.out, request);
            self.asked.push(request);
        }
        self.stream.write_all(&self.out).map_err(Failure::while_doing("send to memcached"))
    }

    /// Waits for the answers to all requests, and returns how many there were.
    pub(super) fn hear(&mut self) -> Result<usize, Failure> {
        let expected: usize = self.asked.iter().map(|request| answer_bytes(*request)).sum();
        self.answers.resize(expected, 0);
        let mut heard = 0;
        while heard < expected {
            let read = match self.stream.read(&mut self.answers[heard..]) {
                // As a process that was stopped goes on, a read with a limit of time comes back so.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.map_err(Failure::while_doing("hear memcached"))?,
            };
            heard += read;
            if read == 0 || is_refusal(&self.answers[..heard]) {
                return Err(refused(&self.answers[..heard]));
            }
        }
        let mut rest = self.answers.as_slice();
        for &request in &self.asked {
            let (answer, behind) = rest.split_at(answer_bytes(request));
            if !is_answer(request, answer) {
                return Err(Failure::Wrong(format!("{request:?} was answered {}", shown(answer))));
            }
            rest = behind;
        }
        let count = self.asked.len();
        self.asked.clear();
        Ok(count)
    }
}

/// The key of this number, in `KEY_BYTES`.
fn key(number: u32) -> [u8; KEY_BYTES] {
    let mut key = *b"corecast-bench-00000";
    let mut rest = number;
    for digit in key.iter_mut().rev().take(5) {
        *digit = b'0' + u8::try_from(rest % 10).expect("a digit");
        rest /= 10;
    }
    key
}

fn write(out: &mut Vec<u8>, request: Request) {
    match request {
        Request::Get(number) => {
            out.extend(b"get ");
            out.extend(key(number));
            out.extend(b"\r\n");
        }
        Request::Set(number) => {
            out.extend(b"set ");
            out.extend(key(number));
            out.extend(b" 0 0 400\r\n");
            out.extend(key(number));
            out.resize(out.len() + VALUE_BYTES - KEY_BYTES, b'x');
            out.extend(b"\r\n");
        }
    }
}

/// The line before a value.
const HEAD_BYTES: usize = "VALUE ".len() + KEY_BYTES + " 0 400\r\n".len();

const fn answer_bytes(request: Request) -> usize {
    match request {
        Request::Get(_) => HEAD_BYTES + VALUE_BYTES + END.len(),
        Request::Set(_) => STORED.len(),
    }
}

fn is_answer(request: Request, answer: &[u8]) -> bool {
    match request {
        Request::Set(_) => answer == STORED,
        Request::Get(number) => {
            let key = key(number);
            let named = &answer["VALUE ".len()..][..KEY_BYTES];
            let value = &answer[HEAD_BYTES..][..VALUE_BYTES];
            answer.starts_with(b"VALUE ") && named == key && value.starts_with(&key) && answer.ends_with(END)
        }
    }
}

/// True of words that are shorter than the answer that is waited for. Only the first of a batch is looked at: the others end in
/// a time-out.
fn is_refusal(answer: &[u8]) -> bool {
    answer.starts_with(MISS)
        || [&b"ERROR"[..], b"SERVER_ERROR", b"CLIENT_ERROR"].iter().any(|word| answer.starts_with(word))
}

fn refused(answer: &[u8]) -> Failure {
    match answer {
        [] => Failure::Ended("memcached has closed the connection".to_owned()),
        answer if answer.starts_with(MISS) => Failure::Wrong("a key that was stored is not there".to_owned()),
        answer => Failure::Wrong(format!("memcached says {}", shown(answer))),
    }
}

fn shown(answer: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(&answer[..answer.len().min(80)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_have_their_form() {
        let mut out = Vec::new();
        write(&mut out, Request::Get(7));
        assert_eq!(out, b"get corecast-bench-00007\r\n");
        out.clear();
        write(&mut out, Request::Set(99_999));
        assert!(out.starts_with(b"set corecast-bench-99999 0 0 400\r\ncorecast-bench-99999xx"), "{out:?}");
        assert_eq!(out.len(), "set  0 0 400\r\n\r\n".len() + KEY_BYTES + VALUE_BYTES);
        let value = [&key(7)[..], &[b'x'; VALUE_BYTES - KEY_BYTES]].concat();
        let answer = [b"VALUE ", &key(7)[..], b" 0 400\r\n", &value, END].concat();
        assert_eq!(answer.len(), answer_bytes(Request::Get(7)));
        assert!(is_answer(Request::Get(7), &answer) && !is_answer(Request::Get(8), &answer));
        assert!(is_answer(Request::Set(1), STORED));
        assert_eq!(
            [is_refusal(b"END\r\n"), is_refusal(b"SERVER_ERROR out of memory"), is_refusal(b"VALUE")],
            [true, true, false]
        );
    }

    #[test]
    fn a_server_that_answers_something_else_is_noticed() {
        let (ours, mut theirs) = UnixStream::pair().expect("two ends");
        let mut connection = Connection { stream: ours, asked: Vec::new(), out: Vec::new(), answers: Vec::new() };
        connection.ask([Request::Set(1), Request::Set(2)].into_iter()).expect("sent");
        theirs.write_all(b"STORED\r\nSTORED\r\n").expect("sent");
        assert_eq!(connection.hear(), Ok(2));
        connection.ask([Request::Get(1)].into_iter()).expect("sent");
        theirs.write_all(MISS).expect("sent");
        assert_eq!(connection.hear(), Err(Failure::Wrong("a key that was stored is not there".to_owned())));
        drop(theirs);
        let mut closed = Connection { asked: vec![Request::Set(1)], ..connection };
        assert!(matches!(closed.hear(), Err(Failure::Ended(_) | Failure::Refused(_))));
    }
}
