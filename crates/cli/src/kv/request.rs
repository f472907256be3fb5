//! Requests of clients in the protocol of Redis, as they come in, piece by piece.
//!
//! A request is `*N` and N bulk strings, or a line of words (*inline*). The crate `redis-protocol` reads the bulk strings.
//! This file has what a server must add to it: the head of the request, limits, the errors that Redis gives, and a memory of
//! how far an incomplete request was read. The crate reads a whole request, too, but sets no limit to lengths or to arrays in
//! arrays, by which four bytes each a client could exhaust the stack, and begins anew whenever more bytes have come. Bulk strings
//! of up to 99 bytes that have come whole, which nearly all are, need no general parser and are read here: the crate took a
//! tenth of the server's time where clients set short values in pipelines.
//!
//! Nothing is set aside for a length that was only announced.

use std::ops::Range;

use corecast::replica::kv::MAX_VALUE_BYTES;
use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;

/// The longest line: a length, or an inline request. As Redis has it.
const MAX_LINE_BYTES: usize = 64 << 10;
/// The largest number of arguments. As Redis had it before it allowed more.
const MAX_ARGUMENTS: i64 = 1 << 20;
/// The longest argument.
const MAX_ARGUMENT_BYTES: usize = MAX_VALUE_BYTES;
/// The longest request: three arguments of the greatest length and some.
pub(super) const MAX_REQUEST_BYTES: usize = 3 * MAX_ARGUMENT_BYTES + (64 << 10);

/// Why a client's bytes are no request. The client is told, and its connection closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProtocolError {
    #[error("too big inline request")]
    LongInline,
    #[error("unbalanced quotes in request")]
    Quotes,
    #[error("too big mbulk count string")]
    LongCount,
    #[error("invalid multibulk length")]
    Count,
    #[error("expected '$', got '{}'", char::from(*.0))]
    NoBulk(u8),
    #[error("too big bulk count string")]
    LongLength,
    #[error("invalid bulk length")]
    Length,
    #[error("too big request")]
    LongRequest,
}

/// How far the request at the beginning of a buffer was read. The arguments of a whole one are ranges of the buffer.
#[derive(Debug, Default)]
pub(crate) struct RequestReader {
    arguments: Vec<Range<usize>>,
    /// Arguments that are still missing.
    missing: usize,
    /// The bytes that were read.
    read: usize,
    /// Words of an inline request, whose quotes are undone.
    words: Vec<u8>,
}

/// The arguments of a request, of which there may be none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range<usize>],
}

impl<'a> Arguments<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// An argument; 0 is the command's name. The caller knows that there is one.
    pub(crate) fn get(&self, at: usize) -> &'a [u8] {
        &self.bytes[self.ranges[at].clone()]
    }

    /// The arguments from this one on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = &'a [u8]> {
        let (bytes, ranges) = (self.bytes, self.ranges);
        ranges.iter().skip(first).map(move |range| &bytes[range.clone()])
    }
}

impl RequestReader {
    /// Reads on in `buffer`, which begins with the request and has at least the bytes of the last call. `None` if more bytes
    /// have to come; else the request and its length, after which the next one begins.
    pub(crate) fn read<'a>(&'a mut self, buffer: &'a [u8]) -> Result<Option<(Arguments<'a>, usize)>, ProtocolError> {
        let mut is_inline = false;
        if self.read == 0 {
            is_inline = buffer.first().is_some_and(|&first| first != b'*');
            let is_begun = if is_inline { self.begin_inline(buffer)? } else { self.begin(buffer)? };
            if !is_begun {
                return Ok(None);
            }
        }
        while self.missing > 0 {
            if !self.read_argument(buffer)? {
                return Ok(None);
            }
        }
        let len = std::mem::take(&mut self.read);
        let bytes = if is_inline { &self.words } else { buffer };
        Ok(Some((Arguments { bytes, ranges: &self.arguments }, len)))
    }

    /// Reads `*N`. A request of no arguments is whole and has none.
    fn begin(&mut self, buffer: &[u8]) -> Result<bool, ProtocolError> {
        self.arguments.clear();
        if let [b'*', count @ b'1'..=b'9', b'\r', b'\n', ..] = *buffer {
            (self.missing, self.read) = (usize::from(count - b'0'), 4);
            return Ok(true);
        }
        let Some((line, len)) = line(buffer, ProtocolError::LongCount)? else { return Ok(false) };
        let count = number(&line[1..]).filter(|count| *count <= MAX_ARGUMENTS).ok_or(ProtocolError::Count)?;
        self.missing = usize::try_from(count).unwrap_or(0);
        self.read = len;
        Ok(true)
    }

    /// Reads a bulk string.
    fn read_argument(&mut self, buffer: &[u8]) -> Result<bool, ProtocolError> {
        let rest = &buffer[self.read..];
        if let Some(bulk) = short_bulk(rest) {
            return self.take_argument(bulk.start, bulk.end, bulk.end + 2).map(|()| true);
        }
        match rest.first() {
            None => return Ok(false),
            Some(b'$') => {}
            Some(&other) => return Err(ProtocolError::NoBulk(other)),
        }
        match decode_range(rest) {
            Ok(Some((RangeFrame::BulkString((start, end)), len))) if end - start <= MAX_ARGUMENT_BYTES => {
                self.take_argument(start, end, len).map(|()| true)
            }
            Ok(None) => self.check_announced(rest).map(|()| false),
            // A length that is none, negative or too large.
            _ => Err(ProtocolError::Length),
        }
    }

    /// Takes the argument at `start..end` of the bytes that were not read, and reads on behind `len` of them.
    #[inline]
    fn take_argument(&mut self, start: usize, end: usize, len: usize) -> Result<(), ProtocolError> {
        // Arguments that come in one by one were never announced without their bytes.
        if self.read + len > MAX_REQUEST_BYTES {
            return Err(ProtocolError::LongRequest);
        }
        self.arguments.push(self.read + start..self.read + end);
        self.read += len;
        self.missing -= 1;
        Ok(())
    }

    /// Checks the length of an argument that has not come in whole.
    fn check_announced(&self, rest: &[u8]) -> Result<(), ProtocolError> {
        let Some((line, _)) = line(rest, ProtocolError::LongLength)? else { return Ok(()) };
        let announced = number(&line[1..]).and_then(|len| usize::try_from(len).ok());
        match announced.filter(|len| *len <= MAX_ARGUMENT_BYTES) {
            None => Err(ProtocolError::Length),
            Some(len) if self.read + len > MAX_REQUEST_BYTES => Err(ProtocolError::LongRequest),
            Some(_) => Ok(()),
        }
    }

    /// Reads a line of words.
    #[cold]
    fn begin_inline(&mut self, buffer: &[u8]) -> Result<bool, ProtocolError> {
        let Some(end) = buffer.iter().take(MAX_LINE_BYTES).position(|&byte| byte == b'\n') else {
            return if buffer.len() >= MAX_LINE_BYTES { Err(ProtocolError::LongInline) } else { Ok(false) };
        };
        let line = &buffer[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.arguments.clear();
        self.words.clear();
        split_words(line, &mut self.words, &mut self.arguments).ok_or(ProtocolError::Quotes)?;
        self.missing = 0;
        self.read = end + 1;
        Ok(true)
    }
}

/// The place of the bulk string at the beginning, if its length has one or two digits and it has come whole with the end of its
/// line. `None` says nothing about the others.
#[inline]
fn short_bulk(rest: &[u8]) -> Option<Range<usize>> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| usize::from(byte - b'0'));
    let (start, len) = match *rest {
        [b'$', one, b'\r', b'\n', ..] => (4, digit(one)?),
        [b'$', ten, one, b'\r', b'\n', ..] => (5, digit(ten)? * 10 + digit(one)?),
        _ => return None,
    };
    let end = start + len;
    (rest.get(end..end + 2)? == b"\r\n").then_some(start..end)
}

/// The line at the beginning without its end, and its length with it; `None` if it has not come in whole.
fn line(buffer: &[u8], too_long: ProtocolError) -> Result<Option<(&[u8], usize)>, ProtocolError> {
    match buffer.iter().take(MAX_LINE_BYTES).position(|&byte| byte == b'\r') {
        Some(end) if buffer.len() > end + 1 => Ok(Some((&buffer[..end], end + 2))),
        None if buffer.len() >= MAX_LINE_BYTES => Err(too_long),
        _ => Ok(None),
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Splits a line at spaces, but not between quotes, as redis-cli does; `None` if quotes do not close, or something follows them
/// at once.
fn split_words(mut line: &[u8], words: &mut Vec<u8>, ranges: &mut Vec<Range<usize>>) -> Option<()> {
    loop {
        line = line.trim_ascii_start();
        if line.is_empty() {
            return Some(());
        }
        let start = words.len();
        while let Some((&byte, rest)) = line.split_first() {
            line = match byte {
                b'"' => double_quoted(rest, words)?,
                b'\'' => single_quoted(rest, words)?,
                byte if byte.is_ascii_whitespace() => break,
                byte => {
                    words.push(byte);
                    rest
                }
            };
        }
        ranges.push(start..words.len());
    }
}

/// Undoes double quotes, the first of which was read; returns the rest of the line.
fn double_quoted<'a>(mut line: &'a [u8], words: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        line = match line {
            [b'"', rest @ ..] => return is_border(rest).then_some(rest),
            [b'\\', b'x', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
                words.push(digit(*high) << 4 | digit(*low));
                rest
            }
            [b'\\', escaped, rest @ ..] => {
                words.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest
            }
            [byte, rest @ ..] => {
                words.push(*byte);
                rest
            }
            [] => return None,
        }
    }
}

/// The same for single quotes, between which only `\'` stands for something else.
fn single_quoted<'a>(mut line: &'a [u8], words: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        line = match line {
            [b'\'', rest @ ..] => return is_border(rest).then_some(rest),
            [b'\\', b'\'', rest @ ..] => {
                words.push(b'\'');
                rest
            }
            [byte, rest @ ..] => {
                words.push(*byte);
                rest
            }
            [] => return None,
        }
    }
}

/// True if a word may end here.
fn is_border(rest: &[u8]) -> bool {
    rest.first().is_none_or(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All requests in these bytes, and why the rest is none.
    fn read_all(bytes: &[u8]) -> (Vec<Vec<Vec<u8>>>, Result<usize, ProtocolError>) {
        let (mut reader, mut requests, mut at) = (RequestReader::default(), Vec::new(), 0);
        loop {
            match reader.read(&bytes[at..]) {
                Ok(Some((arguments, len))) => {
                    requests.push(arguments.from(0).map(<[u8]>::to_vec).collect());
                    at += len;
                }
                Ok(None) => return (requests, Ok(bytes.len() - at)),
                Err(error) => return (requests, Err(error)),
            }
        }
    }

    fn words(words: &[&str]) -> Vec<Vec<u8>> {
        words.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn requests_follow_each_other() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*0\r\nPING\r\n*-1\r\n*1\r\n$0\r\n\r\n\r\n*1\r\n$4\r\nQU";
        let (requests, rest) = read_all(bytes);
        assert_eq!(
            requests,
            [words(&["GET", "a"]), words(&[]), words(&["PING"]), words(&[]), words(&[""]), words(&[])]
        );
        assert_eq!(rest, Ok(10));
    }

    #[test]
    fn pieces_of_any_length_make_the_same_requests() {
        let bytes = b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nva\r\nl\r\nSET \"a b\" 'c'\r\n*1\r\n$4\r\nPING\r\n";
        let expected = [words(&["SET", "key", "va\r\nl"]), words(&["SET", "a b", "c"]), words(&["PING"])];
        for piece in 1..bytes.len() {
            let (mut reader, mut buffer, mut requests) = (RequestReader::default(), Vec::new(), Vec::new());
            for come in bytes.chunks(piece) {
                buffer.extend_from_slice(come);
                while let Some((arguments, len)) = reader.read(&buffer).expect("requests") {
                    requests.push(arguments.from(0).map(<[u8]>::to_vec).collect::<Vec<_>>());
                    buffer.drain(..len);
                }
            }
            assert_eq!(requests, expected, "pieces of {piece} bytes");
            assert!(buffer.is_empty() && reader.read == 0);
        }
    }

    #[test]
    fn bulk_strings_of_all_lengths_are_read_alike() {
        for len in [0, 1, 9, 10, 98, 99, 100, 101, 300] {
            let argument: String = (0..len).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
            for head in [format!("${len}"), format!("$0{len}")] {
                let bytes = format!("*2\r\n$3\r\nGET\r\n{head}\r\n{argument}\r\n");
                assert_eq!(read_all(bytes.as_bytes()), (vec![words(&["GET", &argument])], Ok(0)), "{head}");
                for cut in 14..bytes.len() {
                    assert_eq!(read_all(&bytes.as_bytes()[..cut]), (vec![], Ok(cut)), "{head}, {cut} bytes");
                }
            }
        }
    }

    #[test]
    fn inline_words_may_be_quoted() {
        let read = |line: &str| read_all(format!("{line}\n").as_bytes());
        assert_eq!(read("  SET  k \"\\x41\\n\\\"\\q\" 'it\\'s' \r").0, [words(&["SET", "k", "A\n\"q", "it's"])]);
        for line in ["SET \"k", "SET 'k", "SET \"k\"v", "SET 'k'v", "SET \"k\\"] {
            assert_eq!(read(line).1, Err(ProtocolError::Quotes), "{line}");
        }
    }

    #[test]
    fn garbage_is_refused_as_redis_does() {
        let refused = |bytes: &[u8]| read_all(bytes).1.expect_err("no request").to_string();
        assert_eq!(refused(b"*x\r\n"), "invalid multibulk length");
        assert_eq!(refused(b"*1048577\r\n"), "invalid multibulk length");
        assert_eq!(refused(b"*99999999999999999999\r\n"), "invalid multibulk length");
        assert_eq!(refused(b"*1\r\n:1\r\n"), "expected '$', got ':'");
        assert_eq!(refused(b"*1\r\n*1\r\n$1\r\na\r\n"), "expected '$', got '*'");
        for length in ["-1", "x", "", "16777217", "1073741824", "9223372036854775807", "18446744073709551616"] {
            assert_eq!(refused(format!("*1\r\n${length}\r\n").as_bytes()), "invalid bulk length", "{length}");
        }
        assert_eq!(refused(&[b'a'; MAX_LINE_BYTES]), "too big inline request");
        assert_eq!(refused(&[b"*".as_slice(), &[b'1'; MAX_LINE_BYTES]].concat()), "too big mbulk count string");
        assert_eq!(refused(&[b"*1\r\n$".as_slice(), &[b'1'; MAX_LINE_BYTES]].concat()), "too big bulk count string");
    }

    #[test]
    fn the_longest_argument_is_taken_and_a_longer_one_refused_at_once() {
        let mut bytes = format!("*1\r\n${MAX_ARGUMENT_BYTES}\r\n").into_bytes();
        bytes.resize(bytes.len() + MAX_ARGUMENT_BYTES, b'a');
        assert_eq!(read_all(&bytes), (Vec::new(), Ok(bytes.len())));
        bytes.extend_from_slice(b"\r\n");
        assert_eq!(read_all(&bytes).0[0][0].len(), MAX_ARGUMENT_BYTES);
        let mut many = b"*5\r\n".to_vec();
        for _ in 0..3 {
            many.extend_from_slice(&bytes[4..]);
        }
        many.extend_from_slice(format!("${MAX_ARGUMENT_BYTES}\r\n").as_bytes());
        assert_eq!(read_all(&many).1, Err(ProtocolError::LongRequest));
    }

    #[test]
    fn many_arguments_are_together_no_longer_than_a_request() {
        let argument = [b"$1017\r\n".as_slice(), &[b'a'; 1017], b"\r\n"].concat();
        let mut bytes = b"*1048576\r\n".to_vec();
        (0..MAX_REQUEST_BYTES / argument.len()).for_each(|_| bytes.extend_from_slice(&argument));
        let mut reader = RequestReader::default();
        assert!(matches!(reader.read(&bytes), Ok(None)), "it may become a request");
        bytes.extend_from_slice(&argument);
        assert_eq!(reader.read(&bytes).err(), Some(ProtocolError::LongRequest));
    }

    #[test]
    fn random_bytes_never_panic() {
        let seed = 7;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..20_000 {
            let alphabet = b"*$:+-0123456789\r\n\r\n\"' \\xaGET";
            let bytes: Vec<u8> = (0..random.usize(..60)).map(|_| alphabet[random.usize(..alphabet.len())]).collect();
            let (requests, rest) = read_all(&bytes);
            let taken: usize = requests.iter().flatten().map(Vec::len).sum();
            assert!(taken <= bytes.len() && rest.unwrap_or(0) <= bytes.len(), "seed {seed}, round {round}: {bytes:?}");
        }
    }
}
