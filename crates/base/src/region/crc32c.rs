//! CRC-32C (Castagnoli), by table: it covers some hundred bytes once per attachment.

const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The CRC-32C of the words' bytes, in little-endian order. It shows damage, and not its cause.
pub fn of_words(words: impl IntoIterator<Item = u64>) -> u32 {
    !words.into_iter().flat_map(u64::to_le_bytes).fold(!0, |crc, byte| {
        let index = (crc ^ u32::from(byte)) & 0xff;
        crc >> 8 ^ TABLE[index as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksums() {
        // RFC 3720, B.4: 32 bytes of zeroes, of ones, and counting up.
        assert_eq!(of_words([0; 4]), 0x8a91_36aa);
        assert_eq!(of_words([u64::MAX; 4]), 0x62a8_ab43);
        let counting = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918];
        assert_eq!(of_words(counting), 0x46dd_794e);
    }
}
