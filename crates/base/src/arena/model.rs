//! Models have no regions, and so no sections. Memory that a model watches and that cannot lie in a slice is shared.

use super::ArenaError;
use crate::place::{PlaceSlice, Shareable};

/// A section, of which a model has none.
#[derive(Debug, Clone)]
pub(super) enum SectionMemory {}

impl SectionMemory {
    pub(super) fn slice<T: Shareable>(&self, _offset: usize, _len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        match *self {}
    }

    pub(super) fn part(&self, _offset: usize, _bytes: usize) -> Result<Self, ArenaError> {
        match *self {}
    }

    pub(super) fn len(&self) -> usize {
        match *self {}
    }
}
