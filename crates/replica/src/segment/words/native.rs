//! Words of sealed memory, or of the heap.

pub use corecast_base::region::SealedWords as ReadWords;
