//! How a write-ahead log is kept.

/// When records become durable. [`Wal::sync`](super::Wal::sync) acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Before they are acknowledged: power loss loses nothing.
    #[default]
    Always,
    /// Once a second, if `sync` is called as often: power loss loses a second, the death of all processes nothing.
    EverySecond,
    /// When the kernel likes: the death of all processes loses nothing.
    Never,
}

/// How a write-ahead log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalOptions {
    /// The group whose commands these are: a log of another one is refused.
    pub group: u64,
    /// When records become durable.
    pub fsync: Fsync,
    /// A file is full at this length in bytes, which is allocated beforehand. A record that is longer has a file of its own.
    pub segment_bytes: u64,
}

impl WalOptions {
    /// Of a group: durable before acknowledged, files of 64 MiB.
    #[must_use]
    pub const fn new(group: u64) -> Self {
        Self { group, fsync: Fsync::Always, segment_bytes: 64 << 20 }
    }
}
