//! The C interface as C calls it.

mod arguments;
mod calling;
mod ff;
mod group;
mod header;
mod mcast;
mod region;
mod select;
mod ump;
