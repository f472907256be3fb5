//! Which of the 56 bytes that lie beside a lock are equal to one: by SSE2 where a processor has it, else by words.

#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words;

#[cfg(target_arch = "x86_64")]
pub(super) use sse2::{in_all, in_first_32};
#[cfg(not(target_arch = "x86_64"))]
pub(super) use words::{in_all, in_first_32};

/// With a lock of up to 8 bytes and a slice they fill a line and a quarter; with a lock of 56 bytes two lines.
pub(super) const BYTES: usize = 56;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn bytes(seed: u64) -> [u8; BYTES] {
        let mut random = fastrand::Rng::with_seed(seed);
        std::array::from_fn(|_| [0, 1, 0x7f, 0x80, 0x81, 0xfe, 0xff, random.u8(..)][random.usize(..8)])
    }

    #[test]
    fn equal_bytes_are_found_wherever_they_are() {
        for seed in 0..50 {
            let bytes = bytes(seed);
            for byte in 0..=u8::MAX {
                let bit = |(at, &other): (usize, &u8)| u64::from(other == byte) << at;
                let all: u64 = bytes.iter().enumerate().map(bit).sum();
                assert_eq!((in_all(&bytes, byte), words::in_all(&bytes, byte)), (all, all), "{bytes:?} {byte}");
                let first = all & u64::from(u32::MAX);
                assert_eq!((in_first_32(&bytes, byte), words::in_first_32(&bytes, byte)), (first, first));
            }
        }
    }
}
