//! No sections: models have no regions. Pieces of any type instead, as not all that a model watches can lie in a slice.

use super::{Arena, ArenaError, Memory};
use crate::place::{PlaceSlice, Shareable};

/// Nothing.
#[derive(Debug, Clone)]
pub(super) enum Carved {}

impl Carved {
    pub(super) fn slice<T: Shareable>(&self, _offset: usize, _len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        match *self {}
    }
}

impl Arena {
    /// The next piece, made by whoever comes first. Its clones are the same memory.
    #[track_caller]
    pub fn piece<P: Clone + Send + Sync + 'static>(&mut self, make: impl FnOnce() -> P) -> P {
        let piece = match &self.memory {
            Memory::Heap(pieces) => pieces.piece(self.slices, make),
            Memory::Carved(carved) => match *carved {},
        };
        self.slices += 1;
        piece
    }
}
