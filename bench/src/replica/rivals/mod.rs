//! Stores that others have made: one file for each kind.
//!
//! - `maps`: of one process; `node_replication`: replicas of threads; `robust`, `lmdb`: in memory that processes share;
//! - `sockets`: servers that clients ask over a socket.
//!
//! Without its feature `lmdb` refuses everything (`lmdb_not_built`).

#[cfg(feature = "lmdb")]
pub(super) mod lmdb;
#[cfg(not(feature = "lmdb"))]
#[path = "lmdb_not_built.rs"]
pub(super) mod lmdb;
pub(super) mod maps;
pub(super) mod node_replication;
pub(super) mod robust;
pub(super) mod sockets;
