//! A client of a store, for the subcommands: sends requests and reads the replies.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::types::OwnedFrame;

use super::reply::Replies;

/// How long a server may take for a reply. A change of the leader takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("no store is served at {}: {error}", path.display())]
    NotServed { path: PathBuf, error: io::Error },
    #[error("the store did not answer: {0}")]
    Io(#[from] io::Error),
    #[error("the store refuses: {0}")]
    Refused(String),
    #[error("the server at that socket does not speak the protocol: {0}")]
    Protocol(String),
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    requests: Replies,
    input: Vec<u8>,
    read: usize,
}

impl Client {
    /// Connects to the server at a socket.
    pub(crate) fn connect(path: &Path) -> Result<Self, ClientError> {
        let failed = |error| ClientError::NotServed { path: path.to_owned(), error };
        let stream = UnixStream::connect(path).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, requests: Replies::default(), input: Vec::new(), read: 0 })
    }

    /// Adds a request to those that [`flush`](Self::flush) sends.
    pub(crate) fn add(&mut self, request: &[&[u8]]) {
        self.requests.array(request.len());
        request.iter().for_each(|argument| self.requests.bulk(argument));
    }

    /// Sends the requests that were added.
    pub(crate) fn flush(&mut self) -> Result<(), ClientError> {
        self.stream.write_all(&self.requests.0)?;
        self.requests.0.clear();
        Ok(())
    }

    /// The next reply; an error that the server replies is one.
    pub(crate) fn reply(&mut self) -> Result<OwnedFrame, ClientError> {
        loop {
            match decode(&self.input[self.read..]) {
                Ok(Some((OwnedFrame::Error(error), len))) => {
                    self.read += len;
                    return Err(ClientError::Refused(error));
                }
                Ok(Some((reply, len))) => {
                    self.read += len;
                    return Ok(reply);
                }
                Ok(None) => self.receive()?,
                Err(error) => return Err(ClientError::Protocol(error.to_string())),
            }
        }
    }

    fn receive(&mut self) -> Result<(), ClientError> {
        self.input.drain(..self.read);
        self.read = 0;
        let mut piece = vec![0; self.input.len().clamp(16 << 10, 1 << 20)];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(len) => {
                self.input.extend_from_slice(&piece[..len]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends one request and waits for its reply.
    pub(crate) fn ask(&mut self, request: &[&[u8]]) -> Result<OwnedFrame, ClientError> {
        self.add(request);
        self.flush()?;
        self.reply()
    }
}
