//! The errors of segments and of the control page.

use corecast_base::ArenaError;

/// The reason why words are not a segment, or not the control page, of this group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// There are fewer words than the sizes ask for.
    #[error("{words} words, expected {expected}")]
    Size {
        /// The words there are.
        words: usize,
        /// The words there must be.
        expected: usize,
    },
    /// The first words are not those of such memory.
    #[error("not the memory of a replicated group, or not written yet")]
    NotOurs,
    /// Another version of the program wrote it.
    #[error("version {found}, expected {expected}")]
    Version {
        /// The version found.
        found: u64,
        /// The version of this program.
        expected: u64,
    },
    /// The sizes in it are no sizes of a group, or not those of this one.
    #[error("its sizes are not those of the group")]
    Sizes,
    /// It is the segment of another node.
    #[error("the segment of another node")]
    Node,
}

/// The reason why a control page could not be made or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The page is not one of a group, or of another version.
    #[error("the control page: {0}")]
    Layout(#[from] LayoutError),
    /// There is no room for it, or it is not in this process.
    #[error("the control page: {0}")]
    Memory(#[from] ArenaError),
    /// The system does not grant this process the fences that the group uses.
    #[error("the fences of the group are not granted to this process")]
    Fences,
}
