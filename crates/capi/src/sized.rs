//! Bytes of any length, packed into values of a few fixed types.
//!
//! The library's operations are of types; C's are of bytes. A value here is a word that says how many bytes there are, and
//! room for the most there can be: one cache line with its header, one message, or the largest event. Unused room travels
//! too.

/// The words of a value that travels in one cache line with its header.
pub(crate) const LINE_WORDS: usize = 7;
/// Those of the longest message of an edge.
pub(crate) const MESSAGE_WORDS: usize = 63;
/// Those of the largest event of an acknowledged broadcast.
pub(crate) const LARGE_WORDS: usize = 512;

/// The bytes that go into them.
pub(crate) const LINE_BYTES: usize = most_bytes(LINE_WORDS);
/// The same.
pub(crate) const MESSAGE_BYTES: usize = most_bytes(MESSAGE_WORDS);
/// The same.
pub(crate) const LARGE_BYTES: usize = most_bytes(LARGE_WORDS);

const fn most_bytes(words: usize) -> usize {
    (words - 1) * size_of::<u64>()
}

/// Packs these bytes into a value; `None` if they do not fit.
pub(crate) fn pack<const WORDS: usize>(bytes: &[u8]) -> Option<[u64; WORDS]> {
    let mut value = [0; WORDS];
    value[0] = bytes.len() as u64;
    if bytes.len() > most_bytes(WORDS) {
        return None;
    }
    for (word, chunk) in value[1..].iter_mut().zip(bytes.chunks(size_of::<u64>())) {
        let mut whole = [0; size_of::<u64>()];
        whole[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_ne_bytes(whole);
    }
    Some(value)
}

/// The bytes of a value. If another process has damaged its length, that is cut to the room there is.
pub(crate) fn unpack<const WORDS: usize>(value: &[u64; WORDS]) -> &[u8] {
    let len = usize::try_from(value[0]).unwrap_or(usize::MAX).min(most_bytes(WORDS));
    &as_bytes(&value[1..])[..len]
}

/// The bytes of some words.
pub(crate) fn as_bytes(words: &[u64]) -> &[u8] {
    // SAFETY: words are plain bytes, `size_of_val` of them.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in 0..=LINE_BYTES {
            let value = pack::<LINE_WORDS>(&bytes[..len]).expect("there is room");
            assert_eq!(unpack(&value), &bytes[..len]);
        }
        assert_eq!(pack::<LINE_WORDS>(&bytes[..LINE_BYTES + 1]), None);
        assert_eq!((LINE_BYTES, MESSAGE_BYTES, LARGE_BYTES), (48, 496, 4088));
    }

    #[test]
    fn a_length_that_cannot_be_is_cut() {
        assert_eq!(unpack(&[u64::MAX; LINE_WORDS]).len(), LINE_BYTES);
    }
}
