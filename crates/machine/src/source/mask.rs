//! Sets as bitmaps in text: the kernel's `00000000,00000101` and hwloc's `0x00000008,0x0`.

use corecast_base::{CpuId, CpuSet, MAX_CPU_ID};

const BITS: u32 = 32;

/// The set written in `text`: words of 32 bits in hexadecimal, the highest first; an empty word is zero. `None` if it
/// is anything else, including hwloc's infinite sets (`0xf...f`).
pub(super) fn parse(text: &str) -> Option<CpuSet> {
    let words: Vec<&str> = text.trim().split(',').collect();
    if text.trim().is_empty() || words.len() as u32 > MAX_CPU_ID / BITS + 1 {
        return None;
    }
    let mut cpus = Vec::new();
    for (index, word) in (0..).zip(words.into_iter().rev()) {
        let bits = parse_word(word)?;
        cpus.extend((0..BITS).filter(|bit| bits >> bit & 1 == 1).map(|bit| CpuId::new(index * BITS + bit)));
    }
    Some(cpus.into_iter().collect())
}

fn parse_word(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    match digits {
        "" => Some(0),
        _ if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => None,
        _ => u32::from_str_radix(digits, 16).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_dialects() {
        for (mask, list) in [
            ("3\n", "0-1"),
            ("00000000,00000101", "0,8"),
            ("80000000,00000000", "63"),
            ("0x00000008,0x0", "35"),
            ("0x1,,0x2", "1,64"),
            ("0", ""),
        ] {
            assert_eq!(parse(mask), Some(list.parse().expect("a list")), "{mask}");
        }
    }

    #[test]
    fn refuses_what_is_no_finite_bitmap() {
        for mask in ["", "\n", "0xf...f", "0xg", "+1", "-1", "123456789", &"0,".repeat(3000)] {
            assert_eq!(parse(mask), None, "{mask}");
        }
    }
}
