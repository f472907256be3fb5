//! A writer that counts bytes and computes their checksum on the way.

use std::io::{self, Write};

use crate::crc32c::Crc32c;

/// Passes bytes on to `W`, and knows how many there were and their CRC-32C.
///
/// ```
/// use std::io::Write;
/// use corecast_replica::snapshot::Checksummed;
///
/// # fn main() -> std::io::Result<()> {
/// let mut to = Checksummed::new(Vec::new());
/// to.write_all(b"123456789")?;
/// assert_eq!((to.len_bytes(), to.crc()), (9, 0xe306_9283));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Checksummed<W> {
    inner: W,
    crc: Crc32c,
    len_bytes: u64,
}

impl<W> Checksummed<W> {
    /// Nothing passed yet.
    pub const fn new(inner: W) -> Self {
        Self { inner, crc: Crc32c::new(), len_bytes: 0 }
    }

    /// The bytes that have passed.
    pub const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// The CRC-32C of the bytes that have passed.
    pub const fn crc(&self) -> u32 {
        self.crc.value()
    }

    /// The writer below.
    pub const fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The writer below.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.crc.update(&bytes[..written]);
        self.len_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
