//! Planned trees as members use them: the edges of one member, and the chunks in which long slices travel beside them.

mod chunks;
mod edges;

pub(crate) use chunks::{CHUNK_BYTES, Chunks};
pub(crate) use edges::{TreeEdges, TreeLayout};
