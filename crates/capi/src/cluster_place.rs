//! Where a member is among the nodes of its group.

/// The nodes and members of a group.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ClusterPlace {
    /// How many nodes there are.
    pub nodes: u32,
    /// This member's node, from 0.
    pub node: u32,
    /// How many members this node has.
    pub members_here: u32,
    /// The member's rank among them; member 0 leads.
    pub rank_here: u32,
}
