//! Memory on the heap, made piece by piece by the first thread that asks for each piece.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::ArenaError;
use crate::place::{PlaceSlice, Shareable};
use crate::sync::Mutex;

/// One piece: a type that is cheap to clone, and whose clones are the same memory.
type Piece = Box<dyn Any + Send + Sync>;

/// The pieces made so far, in the order in which every thread asks for them. The lock is taken only while ends are built.
#[derive(Clone)]
pub(super) struct Pieces(Arc<Mutex<Vec<Piece>>>);

impl Pieces {
    /// The `index`-th piece, a slice of `len` values.
    pub(super) fn slice<T: Shareable + Default>(&self, index: usize, len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        let slice = self.piece(index, || PlaceSlice::zeroed(len))?;
        if slice.len() == len { Ok(slice) } else { Err(ArenaError::Different { slice: index }) }
    }

    /// The `index`-th piece, made by the first caller.
    pub(super) fn piece<P>(&self, index: usize, make: impl FnOnce() -> P) -> Result<P, ArenaError>
    where
        P: Clone + Send + Sync + 'static,
    {
        let mut pieces = self.0.lock().expect("nobody panics while making a piece");
        debug_assert!(index <= pieces.len(), "a thread asks for the pieces in their order");
        if index == pieces.len() {
            pieces.push(Box::new(make()));
        }
        pieces[index].downcast_ref::<P>().cloned().ok_or(ArenaError::Different { slice: index })
    }
}

impl Default for Pieces {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pieces({:p})", Arc::as_ptr(&self.0))
    }
}
