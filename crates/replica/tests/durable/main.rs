//! Files that survive power loss: damage, versions, and a process that dies between two steps.

mod crash;
mod snapshot;
mod toy;
mod wal;
