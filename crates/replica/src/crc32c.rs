//! CRC-32C (Castagnoli) of bytes that arrive in pieces: eight bytes a step, by tables.
//!
//! Files and bodies of megabytes go through it. The checksum of `corecast_base::region` takes words, a byte a step, and is
//! for the few hundred bytes of a header; the processor's own instruction needs `unsafe`, which this crate forbids.
//! Source: Kounavis and Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation, 2008.

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]` is the effect of byte `b` with `k` bytes after it.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut after = 1;
    while after < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[after - 1][byte];
            tables[after][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        after += 1;
    }
    tables
}

/// A checksum in the making.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crc32c(u32);

impl Crc32c {
    /// Of no bytes yet.
    pub(crate) const fn new() -> Self {
        Self(!0)
    }

    /// Takes these bytes in, after those before.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let mut crc = self.0;
        let mut eights = bytes.chunks_exact(8);
        for eight in &mut eights {
            let word = u64::from_le_bytes(eight.try_into().expect("eight bytes")) ^ u64::from(crc);
            crc = (0..8).fold(0, |sum, at| sum ^ TABLES[7 - at][(word >> (8 * at) & 0xff) as usize]);
        }
        for byte in eights.remainder() {
            crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize];
        }
        self.0 = crc;
    }

    /// The same with these bytes taken in.
    pub(crate) fn and(mut self, bytes: &[u8]) -> Self {
        self.update(bytes);
        self
    }

    /// The checksum of the bytes so far.
    pub(crate) const fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        // RFC 3720, B.4, and the check value of the catalogue of CRCs.
        assert_eq!(Crc32c::new().and(&[0; 32]).value(), 0x8a91_36aa);
        assert_eq!(Crc32c::new().and(&[0xff; 32]).value(), 0x62a8_ab43);
        assert_eq!(Crc32c::new().and(b"123456789").value(), 0xe306_9283);
    }

    #[test]
    fn pieces_give_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..100_u8).map(|at| at.wrapping_mul(37)).collect();
        let whole = Crc32c::new().and(&bytes).value();
        for cut in 0..=bytes.len() {
            assert_eq!(Crc32c::new().and(&bytes[..cut]).and(&bytes[cut..]).value(), whole, "cut at {cut}");
        }
    }
}
