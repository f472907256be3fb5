//! The buffers of a tree in which changes are tried: kept, since millions of trials need them.

/// Buffers that trials reuse.
#[derive(Clone, Debug)]
pub(super) struct TrialBuffers {
    /// By member: the last trial whose first path it was on.
    pub(super) on_path: Vec<u64>,
    /// The number of trials so far.
    pub(super) count: u64,
    /// Children with their tails, being sorted.
    pub(super) tails: Vec<(u64, u32)>,
    /// Members being visited.
    pub(super) members: Vec<u32>,
}

impl TrialBuffers {
    pub(super) fn new(len: usize) -> Self {
        Self { on_path: vec![0; len], count: 0, tails: Vec::new(), members: Vec::new() }
    }
}
