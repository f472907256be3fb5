//! Whether a node says that it is a member.

/// The state of a node, as it says itself. The log decides; this tells others where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u64)]
pub enum NodeState {
    /// It has a segment and asks to be taken in.
    #[default]
    Joining = 0,
    /// It has applied its own `Join`.
    Member = 1,
    /// It has gone, or was put out.
    Left = 2,
    /// The log no longer has what it needs: it takes the state of a member, and has none to give.
    Lagging = 3,
}

impl NodeState {
    /// Of the number; `None` for a number that stands for none.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::Joining,
            1 => Self::Member,
            2 => Self::Left,
            3 => Self::Lagging,
            _ => return None,
        })
    }
}
