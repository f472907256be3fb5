//! The traits of sending and receiving ends for bytes: those that a contender implements, and those that the harness calls.
//!
//! [`ByteSend`] and [`ByteRecv`] are small and generic, so that the harness's loops over them are compiled for each
//! contender; [`Outlet`] and [`Inlet`] are those loops behind one call through a trait object for many messages.

use std::hint::black_box;

use super::pattern;
use corecast_race::failure::Failure;
use corecast_race::harness::Stamps;

/// The end that sends one message to all receivers.
pub(crate) trait ByteSend: Send + 'static {
    /// Sends a message of the agreed length, whose bytes `write` writes.
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure>;

    /// Told after a block how many messages have been sent since the beginning; for ends whose receivers would otherwise
    /// wait for the last ones, which were lost.
    fn settle(&mut self, sent: u64) -> Result<(), Failure> {
        let _ = sent;
        Ok(())
    }
}

/// One receiver's end.
pub(crate) trait ByteRecv: Send + 'static {
    /// Takes in at least one message and at most `most`, those that were lost included, and tells `reader` in order.
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure>;
}

/// A reader of messages.
pub(crate) trait Reader {
    /// The next message.
    fn read(&mut self, bytes: &[u8]);

    /// This number of messages never arrived, and will not.
    fn miss(&mut self, messages: u64);
}

/// A sending end with its loop.
pub(crate) trait Outlet: Send {
    /// Sends the messages `first..first + count`.
    fn send(&mut self, first: u64, count: u64) -> Result<(), Failure>;

    /// As [`ByteSend::settle`].
    fn settle(&mut self, sent: u64) -> Result<(), Failure>;

    /// As [`Body::amend`](corecast_race::harness::Body::amend), for ends that only tell others what to send.
    fn amend(&mut self, timing: &mut Stamps) {
        let _ = timing;
    }
}

/// A receiving end with its loop.
pub(crate) trait Inlet: Send {
    /// Takes in the messages `first..first + count` and returns how many of them never arrived.
    fn receive(&mut self, first: u64, count: u64, reading: Reading) -> Result<u64, Failure>;

    /// As [`Outlet::amend`].
    fn amend(&mut self, timing: &mut Stamps) {
        let _ = timing;
    }
}

/// How a receiver reads a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Sums its bytes.
    Sum,
    /// Compares every byte with what was sent.
    Verify,
}

/// Gives a [`ByteSend`] its loop.
pub(crate) struct Sending<S>(pub(crate) S);

/// Gives a [`ByteRecv`] its loop.
pub(crate) struct Receiving<R>(pub(crate) R);

impl<S: ByteSend> Outlet for Sending<S> {
    fn send(&mut self, first: u64, count: u64) -> Result<(), Failure> {
        (first..first + count).try_for_each(|number| self.0.send(|bytes| pattern::write(bytes, number)))
    }

    fn settle(&mut self, sent: u64) -> Result<(), Failure> {
        self.0.settle(sent)
    }
}

impl<R: ByteRecv> Inlet for Receiving<R> {
    fn receive(&mut self, first: u64, count: u64, reading: Reading) -> Result<u64, Failure> {
        let mut looker = Looker { reading, next: first, sum: 0, missed: 0, wrong: None };
        while looker.next < first + count {
            self.0.recv(first + count - looker.next, &mut looker)?;
        }
        black_box(looker.sum);
        looker.wrong.map_or(Ok(looker.missed), |text| Err(Failure::Wrong(text)))
    }
}

/// Reads messages in either way: one reader, so that the loop over an end is compiled once. The way does not change within a
/// block, and so the branch costs next to nothing.
struct Looker {
    reading: Reading,
    next: u64,
    sum: u64,
    missed: u64,
    /// The first message that was not the one it should be.
    wrong: Option<String>,
}

impl Looker {
    #[cold]
    fn verify(&mut self, bytes: &[u8]) {
        if let Some(at) = pattern::first_difference(bytes, self.next) {
            let (number, len) = (self.next, bytes.len());
            self.wrong.get_or_insert_with(|| format!("message {number} of {len} bytes differs at byte {at}"));
        }
    }
}

impl Reader for Looker {
    #[inline(always)]
    fn read(&mut self, bytes: &[u8]) {
        match self.reading {
            Reading::Sum => self.sum = self.sum.wrapping_add(pattern::sum(bytes)),
            Reading::Verify => self.verify(bytes),
        }
        self.next += 1;
    }

    #[cold]
    fn miss(&mut self, messages: u64) {
        self.missed += messages;
        self.next += messages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out messages of 9 bytes with these numbers; `None` is one that was lost.
    struct Script(Vec<Option<u64>>);

    impl ByteRecv for Script {
        fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
            let Some(number) = self.0.remove(0) else {
                reader.miss(1);
                return Ok(());
            };
            let mut bytes = [0; 9];
            pattern::write(&mut bytes, number);
            reader.read(&bytes);
            Ok(())
        }
    }

    fn receive(script: &[Option<u64>], reading: Reading) -> Result<u64, Failure> {
        Receiving(Script(script.to_vec())).receive(0, script.len() as u64, reading)
    }

    #[test]
    fn the_check_finds_swapped_doubled_and_lost_messages() {
        assert_eq!(receive(&[Some(0), Some(1), Some(2)], Reading::Verify), Ok(0));
        assert_eq!(receive(&[Some(0), None, Some(2)], Reading::Verify), Ok(1));
        for script in [[Some(1), Some(0)], [Some(0), Some(0)], [Some(0), Some(2)]] {
            let error = receive(&script, Reading::Verify).expect_err("out of order");
            assert!(error.to_string().contains("of 9 bytes differs at byte 0"), "{error}");
            assert_eq!(receive(&script, Reading::Sum), Ok(0), "a receiver that only sums does not look");
        }
    }
}
