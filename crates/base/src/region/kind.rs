//! The kinds of contents that corecast puts into regions. A directory entry names its kind by one of these numbers.

/// A byte ring with one sender and one receiver.
pub const KIND_UMP: u32 = 1;
/// A ring of 8-byte words with one sender and one receiver.
pub const KIND_FF: u32 = 2;
/// A ring that several receivers read.
pub const KIND_MCAST: u32 = 3;
/// The memory of a group of processes.
pub const KIND_GROUP: u32 = 4;
/// A lock among processes.
pub const KIND_LOCK: u32 = 5;

/// The name of a kind; "unknown" for a number that corecast does not use.
#[must_use]
pub fn kind_name(kind: u32) -> &'static str {
    match kind {
        KIND_UMP => "ump",
        KIND_FF => "ff",
        KIND_MCAST => "mcast",
        KIND_GROUP => "group",
        KIND_LOCK => "lock",
        _ => "unknown",
    }
}
