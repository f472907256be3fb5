//! Whether the messages under way fit into the memory that is free, asked before a contender is made: a row with the reason
//! instead of a program that the kernel ends.

use std::fs;

use super::wire::Wire;
use corecast_race::failure::Failure;

/// Where Linux tells of the memory that can be had without swapping.
const MEMINFO: &str = "/proc/meminfo";

/// # Errors
/// If a ring of such messages, and a copy at every participant, take more memory than is free.
pub(super) fn check(wire: &Wire) -> Result<(), Failure> {
    let available = fs::read_to_string(MEMINFO).ok().and_then(|text| available(&text));
    available.map_or(Ok(()), |available| fits(wire, available))
}

fn fits(wire: &Wire, available: u64) -> Result<(), Failure> {
    let messages = wire.depth as u64 + 2 * (wire.receivers as u64 + 1);
    let needed = messages.saturating_mul(wire.bytes as u64);
    if needed <= available {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Failure::Refused(format!("messages under way take {} MiB, of which {} are free", mib(needed), mib(available))))
}

/// The bytes that are available by this text of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;

    use super::*;

    #[test]
    fn the_memory_is_asked_for_first() {
        assert_eq!(available("MemFree: 1 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemFree: 1 kB\n"), None);
        let wire = Wire::new(1 << 30, 1, false, Wait::Adaptive);
        assert!(fits(&wire, 8 << 30).is_ok());
        let refused = fits(&wire, 7 << 30).expect_err("too little").to_string();
        assert!(refused.contains("take 8192 MiB, of which 7168 are free"), "{refused}");
    }
}
