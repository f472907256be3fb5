//! Groups of nodes that run: among threads here, among processes in `tests/processes`.

#[path = "nodes/counter.rs"]
mod counter;
#[path = "nodes/files.rs"]
mod files;
#[path = "nodes/learning.rs"]
mod learning;
#[path = "nodes/local_reads.rs"]
mod local_reads;
#[path = "nodes/places.rs"]
mod places;
#[path = "nodes/threads.rs"]
mod threads;
