//! The bytes of a message: written by the sender, each of them, and summed or verified by every receiver.

/// Tells one message from the next in every word, and one word from its neighbours. Odd, so that it can be undone.
const BY_NUMBER: u64 = 0x9e37_79b9_7f4a_7c15;
const BY_WORD: u64 = 0x2545_f491_4f6c_dd1d;

/// Writes message `number` over all of `bytes`.
#[inline(always)]
pub(crate) fn write(bytes: &mut [u8], number: u64) {
    let mut word = first_word(number);
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(BY_WORD);
    }
    let rest = chunks.into_remainder();
    rest.copy_from_slice(&word.to_le_bytes()[..rest.len()]);
}

/// The sum of all bytes, read word by word.
#[inline(always)]
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let words = (&mut chunks).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes")));
    let sum = words.fold(0u64, u64::wrapping_add);
    chunks.remainder().iter().fold(sum, |sum, &byte| sum.wrapping_add(u64::from(byte)))
}

/// Where `bytes` first differ from message `number`.
#[inline]
pub(crate) fn first_difference(bytes: &[u8], number: u64) -> Option<usize> {
    let mut word = first_word(number);
    let mut chunks = bytes.chunks_exact(8);
    let mut difference = 0;
    for chunk in &mut chunks {
        difference |= word ^ u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
        word = word.wrapping_add(BY_WORD);
    }
    let rest = chunks.remainder();
    if difference == 0 && *rest == word.to_le_bytes()[..rest.len()] {
        return None;
    }
    locate_difference(bytes, number)
}

#[cold]
fn locate_difference(bytes: &[u8], number: u64) -> Option<usize> {
    let mut word = first_word(number);
    for (i, chunk) in bytes.chunks(8).enumerate() {
        let expected = word.to_le_bytes();
        if chunk != &expected[..chunk.len()] {
            return chunk.iter().zip(expected).position(|(&found, expected)| found != expected).map(|at| 8 * i + at);
        }
        word = word.wrapping_add(BY_WORD);
    }
    None
}

fn first_word(number: u64) -> u64 {
    number.wrapping_mul(BY_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_itself_and_no_other() {
        for len in [0, 1, 7, 8, 9, 64, 1001] {
            let mut bytes = vec![0; len];
            write(&mut bytes, 41);
            assert_eq!(first_difference(&bytes, 41), None, "{len}");
            assert_eq!(first_difference(&bytes, 42), (len > 0).then_some(0), "even one byte tells neighbours apart");
            if let Some(last) = bytes.last_mut() {
                *last ^= 1;
                assert_eq!(first_difference(&bytes, 41), Some(len - 1));
            }
        }
    }

    #[test]
    fn the_sum_sees_every_byte() {
        let mut bytes = vec![0; 29];
        write(&mut bytes, 3);
        let whole = sum(&bytes);
        for i in 0..bytes.len() {
            bytes[i] ^= 0x40;
            assert_ne!(sum(&bytes), whole, "byte {i}");
            bytes[i] ^= 0x40;
        }
    }
}
