//! Memory on the heap, made piece by piece by whoever comes first.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use crate::place::{PlaceSlice, Shareable};
use crate::sync::Mutex;

/// One piece: a type that is cheap to clone, and whose clones are the same memory.
type Piece = Box<dyn Any + Send + Sync>;

/// The pieces made so far, in the order in which all ask for them. Locked while ends are built only.
#[derive(Clone)]
pub(super) struct Pieces(Arc<Mutex<Vec<Piece>>>);

impl Pieces {
    /// The `index`-th piece, which is `len` values.
    #[track_caller]
    pub(super) fn slice<T: Shareable + Default>(&self, index: usize, len: usize) -> PlaceSlice<T> {
        let slice = self.piece(index, || PlaceSlice::zeroed(len));
        let found = slice.len();
        assert!(found == len, "slice {index} has {found} values of {} and not {len}: {RULE}", type_name::<T>());
        slice
    }

    /// The `index`-th piece, made by whoever asks first.
    #[track_caller]
    pub(super) fn piece<P: Clone + Send + Sync + 'static>(&self, index: usize, make: impl FnOnce() -> P) -> P {
        let mut pieces = self.0.lock().expect("nobody panics while making a piece");
        debug_assert!(index <= pieces.len(), "whoever asks for a piece has asked for all before it");
        if index == pieces.len() {
            pieces.push(Box::new(make()));
        }
        let piece = pieces[index].downcast_ref::<P>().cloned();
        // Before a panic, which is the caller's alone.
        drop(pieces);
        piece.unwrap_or_else(|| panic!("piece {index} is no {}: {RULE}", type_name::<P>()))
    }
}

const RULE: &str = "all must lay out the same slices in the same order";

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
