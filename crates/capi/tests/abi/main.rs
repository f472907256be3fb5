//! The C interface as C calls it.

mod acknowledged;
mod arguments;
mod atomic_stream;
mod calling;
mod cluster;
mod combination;
mod commit;
mod condvar;
mod ff;
mod gather;
mod group;
mod lock;
mod mcast;
mod members;
mod region;
mod replica;
mod replica_config;
mod rw_lock;
mod select;
mod shared_lock;
mod shrink;
mod split;
mod started;
mod tm;
mod ump;
