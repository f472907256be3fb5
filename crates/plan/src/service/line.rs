//! Lines over a socket, of bounded length and within a deadline, whatever the other side does.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::event::PollFlags;

use super::readiness::{Stopper, Woken, wait};

/// The longest request or answer, in bytes without its end: room for a model of 1024 CPUs.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Lines to and from one peer.
#[derive(Debug)]
pub(super) struct Lines {
    stream: UnixStream,
    /// Read, and not yet handed out.
    pending: Vec<u8>,
}

/// The limits of a wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience<'a> {
    /// The deadline.
    pub(super) until: Option<Instant>,
    /// The wait also ends when this service ends.
    pub(super) stopper: Option<&'a Stopper>,
}

/// Why there is no line.
#[derive(Debug)]
pub(super) enum LineError {
    /// It is longer than [`MAX_LINE_BYTES`]; the rest was not read.
    TooLong,
    /// The peer closed the stream in the middle of it.
    Truncated,
    /// It did not arrive, or could not be sent, in time.
    TimedOut,
    /// The service ends.
    Stopped,
    /// The peer is gone, or the system refuses.
    Gone,
}

impl Lines {
    pub(super) fn over(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, pending: Vec::new() })
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// The next line without its end; `None` if the peer has no more.
    pub(super) fn next(&mut self, patience: Patience<'_>) -> Result<Option<Vec<u8>>, LineError> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.pending[searched..].iter().position(|&byte| byte == b'\n') {
                return Ok(Some(self.take(searched + end)));
            }
            searched = self.pending.len();
            if searched > MAX_LINE_BYTES {
                return Err(LineError::TooLong);
            }
            if self.read_some(patience)? == 0 {
                return if searched == 0 { Ok(None) } else { Err(LineError::Truncated) };
            }
        }
    }

    /// Sends a line, which has its end.
    pub(super) fn send(&mut self, line: &str, patience: Patience<'_>) -> Result<(), LineError> {
        let mut left = line.as_bytes();
        while !left.is_empty() {
            match self.stream.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) => self.or_wait(error, PollFlags::OUT, patience)?,
            }
        }
        Ok(())
    }

    fn read_some(&mut self, patience: Patience<'_>) -> Result<usize, LineError> {
        let before = self.pending.len();
        loop {
            self.pending.resize(before + CHUNK_BYTES, 0);
            let outcome = self.stream.read(&mut self.pending[before..]);
            self.pending.truncate(before + *outcome.as_ref().unwrap_or(&0));
            match outcome {
                Ok(read) => return Ok(read),
                Err(error) => self.or_wait(error, PollFlags::IN, patience)?,
            }
        }
    }

    /// Waits if the error only means that the socket is not ready.
    fn or_wait(&self, error: io::Error, what: PollFlags, patience: Patience<'_>) -> Result<(), LineError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock => match wait(&self.stream, what, patience.until, patience.stopper) {
                Ok(Woken::Ready) => Ok(()),
                Ok(Woken::Stopped) => Err(LineError::Stopped),
                Ok(Woken::TimedOut) => Err(LineError::TimedOut),
                Err(_) => Err(LineError::Gone),
            },
            _ => Err(LineError::Gone),
        }
    }

    /// The first `len` bytes and their line break leave; what follows stays, in memory of its own size.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let rest = self.pending.split_off(len + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        line.truncate(len);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Shutdown;

    fn pair() -> (Lines, UnixStream) {
        let (near, far) = UnixStream::pair().expect("sockets");
        (Lines::over(near).expect("settable"), far)
    }

    #[test]
    fn lines_come_one_by_one_however_they_were_sent() {
        let (mut lines, mut far) = pair();
        far.write_all(b"one\n\ntwo\nthr").expect("sent");
        let mut next = || lines.next(Patience::default()).expect("a line");
        assert_eq!([next(), next(), next()].map(|line| line.expect("sent")), [&b"one"[..], b"", b"two"]);
        far.write_all(b"ee\n").expect("sent");
        assert_eq!(next().expect("sent"), b"three");
        far.shutdown(Shutdown::Both).expect("closed");
        assert_eq!(next(), None);
    }

    #[test]
    fn half_a_line_is_no_line() {
        let (mut lines, mut far) = pair();
        far.write_all(b"half").expect("sent");
        let soon = Patience { until: Some(Instant::now()), stopper: None };
        assert!(matches!(lines.next(soon), Err(LineError::TimedOut)));
        drop(far);
        assert!(matches!(lines.next(Patience::default()), Err(LineError::Truncated)));
    }

    #[test]
    fn an_endless_line_is_given_up_at_the_limit() {
        let (mut lines, mut far) = pair();
        let sending = std::thread::spawn(move || while far.write_all(&[b'x'; 1 << 16]).is_ok() {});
        assert!(matches!(lines.next(Patience::default()), Err(LineError::TooLong)));
        assert!(lines.pending.len() <= MAX_LINE_BYTES + CHUNK_BYTES, "{}", lines.pending.len());
        drop(lines);
        sending.join().expect("the sender sees the end");
    }

    #[test]
    fn a_peer_that_never_reads_holds_no_thread() {
        let (mut lines, _far) = pair();
        let soon = Patience { until: Some(Instant::now()), stopper: None };
        let line = "x".repeat(MAX_LINE_BYTES);
        assert!(matches!(lines.send(&line, soon), Err(LineError::TimedOut)));
    }
}
