//! Replies to clients in the protocol of Redis.

use std::io::Write;

/// The replies of one client that were not sent yet.
#[derive(Debug, Default)]
pub(crate) struct Replies(pub(crate) Vec<u8>);

impl Replies {
    /// A short text without line breaks.
    pub(crate) fn simple(&mut self, text: &str) {
        self.0.push(b'+');
        self.line(text.as_bytes());
    }

    pub(crate) fn ok(&mut self) {
        self.0.extend_from_slice(b"+OK\r\n");
    }

    /// An error, which begins with its kind, such as `ERR`. Line breaks in it become spaces.
    pub(crate) fn error(&mut self, text: impl AsRef<[u8]>) {
        self.0.push(b'-');
        let plain = text.as_ref().iter().map(|&byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte });
        self.0.extend(plain);
        self.0.extend_from_slice(b"\r\n");
    }

    pub(crate) fn integer(&mut self, number: i64) {
        match number {
            0 => self.0.extend_from_slice(b":0\r\n"),
            1 => self.0.extend_from_slice(b":1\r\n"),
            _ => self.number(b':', number),
        }
    }

    pub(crate) fn count(&mut self, count: u64) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.number(b'$', bytes.len() as i64);
        self.line(bytes);
    }

    /// No value.
    pub(crate) fn nothing(&mut self) {
        self.0.extend_from_slice(b"$-1\r\n");
    }

    /// The head of an array, whose parts follow.
    pub(crate) fn array(&mut self, len: usize) {
        self.number(b'*', len as i64);
    }

    fn line(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(b"\r\n");
    }

    fn number(&mut self, kind: u8, number: i64) {
        write!(self.0, "{}{number}\r\n", char::from(kind)).expect("a vector takes all");
    }
}

#[cfg(test)]
mod tests {
    use redis_protocol::resp2::decode::decode;
    use redis_protocol::resp2::types::OwnedFrame;

    use super::*;

    #[test]
    fn replies_are_those_of_the_protocol() {
        let mut replies = Replies::default();
        replies.ok();
        replies.error("ERR a\r\nb");
        replies.array(3);
        replies.integer(-12);
        replies.bulk(b"a\r\nb");
        replies.nothing();
        replies.simple("PONG");
        let mut rest = &replies.0[..];
        let mut next = || {
            let (frame, len) = decode(rest).expect("a reply").expect("a whole one");
            rest = &rest[len..];
            frame
        };
        assert_eq!(next(), OwnedFrame::SimpleString(b"OK".to_vec()));
        assert_eq!(next(), OwnedFrame::Error("ERR a  b".to_owned()));
        let parts = [OwnedFrame::Integer(-12), OwnedFrame::BulkString(b"a\r\nb".to_vec()), OwnedFrame::Null];
        assert_eq!(next(), OwnedFrame::Array(parts.to_vec()));
        assert_eq!(next(), OwnedFrame::SimpleString(b"PONG".to_vec()));
    }
}
