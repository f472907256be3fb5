//! A state as bytes in a growing file: one process writes it, and another one reads it meanwhile.
//!
//! The writer says where the file lies before it writes, and at the end how many bytes there are and their checksum. Giver and
//! taker so work at the same time, and neither holds the bytes in memory of its own. Tried before, with 64 MiB: a vector, copied
//! into mapped memory, and read when it was whole; each page was filled with zeroes twice and faulted three times.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use corecast_base::region::{Announcement, GrowingFile, GrowingFileReader};

use crate::NodeId;
use crate::segment::Gift;
use crate::shm::Shm;

/// The time between two looks for more bytes.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

/// Writes bytes and their checksum.
#[derive(Debug)]
pub(super) struct GiftWriter {
    pub(super) file: GrowingFile,
    sum: Sum,
}

impl GiftWriter {
    pub(super) fn new(file: GrowingFile) -> Self {
        Self { file, sum: Sum::default() }
    }

    /// The file, the number of bytes, and their checksum.
    pub(super) fn finish(self) -> (GrowingFile, u64, u64) {
        let (bytes, sum) = (self.file.len(), self.sum.end());
        (self.file, bytes, sum)
    }
}

impl Write for GiftWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads the bytes that a node is writing.
pub(super) struct GiftReader<'a> {
    shm: &'a Shm,
    giver: NodeId,
    /// The number of the gift.
    number: u64,
    file: GrowingFileReader,
    at: u64,
    sum: Sum,
    /// The gift, once the giver says that it is whole.
    whole: Option<Gift>,
    /// When it gives up, and how long it waits for more bytes.
    until: Instant,
    silence: Duration,
}

impl<'a> GiftReader<'a> {
    /// # Errors
    /// If the file cannot be opened.
    pub(super) fn open(
        shm: &'a Shm,
        (giver, gift): (NodeId, &Gift),
        (until, silence): (Instant, Duration),
    ) -> io::Result<Self> {
        let pid = shm.peers.get(giver).map_or(0, |peer| peer.record.pid);
        let place = Announcement { pid, fd: gift.fd, identity: gift.identity };
        let file = GrowingFileReader::open_announced(place).map_err(io::Error::other)?;
        let number = gift.number;
        Ok(Self { shm, giver, number, file, at: 0, sum: Sum::default(), whole: None, until, silence })
    }

    /// Reads the rest, and compares length and checksum with those of the giver.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if they differ.
    pub(super) fn finish(mut self) -> io::Result<()> {
        io::copy(&mut self, &mut io::sink())?;
        let is_right = self.whole.is_some_and(|gift| gift.bytes == self.at && gift.crc == self.sum.end());
        if is_right { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, "a state that was damaged")) }
    }

    /// Waits until there are more bytes, or the giver says that there are no more. The number read is 0 only then.
    #[cold]
    fn await_bytes(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let last = Instant::now();
        loop {
            let found = self.shm.segment(self.giver).and_then(|one| one.gift());
            if found.is_some_and(|gift| gift.number != self.number) {
                return Err(io::Error::other("the giver has begun another one"));
            }
            self.whole = found.filter(|gift| !gift.is_open());
            // It looks once more, as bytes may have come before the giver said so.
            let count = self.file.read(to)?;
            if count > 0 || self.whole.is_some() {
                return Ok(count);
            }
            let now = Instant::now();
            if now >= self.until || now - last >= self.silence || self.shm.peers.is_dead(self.giver) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Read for GiftReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut count = self.file.read(to)?;
        if count == 0 && !to.is_empty() && self.whole.is_none() {
            count = self.await_bytes(to)?;
        }
        self.sum.update(&to[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

const BLOCK: usize = 32;

/// A checksum of bytes, however they are cut: of each fourth word, as a processor multiplies four times in the time of one result.
#[derive(Debug, Default)]
struct Sum {
    lanes: [u64; 4],
    /// The bytes behind the last whole block.
    rest: [u8; BLOCK],
    held: usize,
}

impl Sum {
    fn update(&mut self, mut bytes: &[u8]) {
        if self.held > 0 {
            let (first, behind) = bytes.split_at(bytes.len().min(BLOCK - self.held));
            self.rest[self.held..][..first.len()].copy_from_slice(first);
            self.held += first.len();
            bytes = behind;
            if self.held < BLOCK {
                return;
            }
            self.held = 0;
            let block = self.rest;
            self.lanes = mixed(self.lanes, &block);
        }
        let blocks = bytes.chunks_exact(BLOCK);
        let rest = blocks.remainder();
        self.lanes = blocks.fold(self.lanes, |lanes, block| mixed(lanes, block.try_into().expect("a block")));
        self.rest[..rest.len()].copy_from_slice(rest);
        self.held = rest.len();
    }

    /// The checksum of all bytes; those that fill the last block are zero, and the number of bytes is compared by itself.
    fn end(&self) -> u64 {
        let mut block = [0; BLOCK];
        block[..self.held].copy_from_slice(&self.rest[..self.held]);
        mixed(self.lanes, &block).iter().fold(0, |sum, &lane| mixed_word(sum, lane))
    }
}

#[inline(always)]
fn mixed(lanes: [u64; 4], block: &[u8; BLOCK]) -> [u64; 4] {
    std::array::from_fn(|at| {
        let word = block[8 * at..][..8].try_into().expect("8 of 32 bytes");
        mixed_word(lanes[at], u64::from_le_bytes(word))
    })
}

#[inline(always)]
fn mixed_word(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn the_checksum_does_not_depend_on_the_cuts() {
        let mut random = Rng::with_seed(7);
        for len in [0, 1, 31, 32, 33, 1000, 4099] {
            let bytes: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
            let mut whole = Sum::default();
            whole.update(&bytes);
            let (mut cut, mut rest) = (Sum::default(), &bytes[..]);
            while !rest.is_empty() {
                let (part, behind) = rest.split_at(random.usize(1..=80).min(rest.len()));
                cut.update(part);
                rest = behind;
            }
            assert_eq!(cut.end(), whole.end(), "{len} bytes");
        }
    }

    #[test]
    fn each_changed_bit_changes_the_checksum() {
        let sum_of = |bytes: &[u8]| {
            let mut sum = Sum::default();
            sum.update(bytes);
            sum.end()
        };
        let mut bytes = [0x5a; 100];
        let right = sum_of(&bytes);
        for bit in 0..800 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum_of(&bytes), right, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
