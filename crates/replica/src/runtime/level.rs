//! How fresh the answer to a read has to be.

use crate::Index;

/// How fresh the answer to a read has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It shows every operation whose result any client has seen before the read began.
    Linearizable,
    /// It shows the command at this index, and all before it.
    AtLeast(Index),
    /// It shows what this replica has applied; waits for no other node.
    Local,
}
