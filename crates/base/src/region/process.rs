//! The identity of this process, in words that another process can compare.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::os::linux::fs::MetadataExt;
use std::sync::OnceLock;

use crate::small_file;

/// The facts that a region keeps about its creator, for people who ask where it came from. Evidence of life is elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    pub(super) uid: u32,
    pub(super) pid: u32,
    /// In clock ticks since boot; 0 if it cannot be read.
    pub(super) start_time: u64,
    /// A hash of the kernel's boot id; 0 if it cannot be read.
    pub(super) boot: u64,
    /// The inode of the namespace that the pid belongs to; 0 if it cannot be read.
    pub(super) pid_namespace: u64,
}

impl Identity {
    pub(super) fn of_this_process() -> Self {
        Self {
            uid: own_uid(),
            pid: std::process::id(),
            start_time: own_start_time().unwrap_or(0),
            boot: boot_hash(),
            pid_namespace: fs::metadata("/proc/self/ns/pid").map_or(0, |data| data.st_ino()),
        }
    }
}

/// The user as whom this process makes and opens files.
pub(crate) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The start time of this process, in clock ticks since boot.
pub(super) fn own_start_time() -> Option<u64> {
    state_of("/proc/self/stat").map(|(_, start_time)| start_time)
}

/// True if the process with this number, which began at `start_time`, is stopped by a signal or a debugger. False if another
/// process has the number, and where the system does not tell.
pub(super) fn is_stopped(pid: u32, start_time: u64) -> bool {
    let found = state_of(&format!("/proc/{pid}/stat"));
    found.is_some_and(|(state, begun)| begun == start_time && ["T", "t"].contains(&state.as_str()))
}

/// The letter of a process's state, and its start time.
fn state_of(path: &str) -> Option<(String, u64)> {
    let stat = small_file::read(path.as_ref(), 4096).ok()?;
    // The name of the program may contain spaces and parentheses; it ends at the last one. Then come fields 3, 4, ...
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((state, fields.nth(22 - 4)?.parse().ok()?))
}

/// A hash of the kernel's boot id, which differs after each boot; 0 if it cannot be read.
pub(super) fn boot_hash() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    *HASH.get_or_init(|| {
        let text = small_file::read("/proc/sys/kernel/random/boot_id".as_ref(), 100).unwrap_or_default();
        if text.is_empty() { 0 } else { fnv(0xcbf2_9ce4_8422_2325, &text.bytes().map(u64::from).collect::<Vec<_>>()) }
    })
}

/// A random word that is not 0.
pub(super) fn random_word() -> u64 {
    // std seeds each state from the system's random numbers.
    RandomState::new().build_hasher().finish() | 1
}

/// FNV-1a, word by word.
pub(super) fn fnv(start: u64, words: &[u64]) -> u64 {
    words.iter().fold(start, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        mixed ^ mixed >> 29
    })
}
