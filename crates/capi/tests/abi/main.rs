//! The C interface as C calls it.

mod acknowledged;
mod arguments;
mod atomic_stream;
mod calling;
mod combination;
mod commit;
mod ff;
mod gather;
mod group;
mod header;
mod lock;
mod mcast;
mod members;
mod region;
mod select;
mod shrink;
mod split;
mod started;
mod ump;
