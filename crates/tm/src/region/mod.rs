//! The memory that all participants share: values, statuses, the allocator of variables, and what a killed one leaves.
//!
//! | part | written by | read by |
//! |---|---|---|
//! | header: poison, stop, allocator | whoever finds a death; anybody who stops; allocating participants | all |
//! | a line for each participant: status, key | its owner; the status also by those that abort it | servers, requesters |
//! | values: a word for each variable | the holder of its write lock, while it persists | holders of its read lock |
//! | free list: a word for each variable | participants that free | participants that allocate |
//! | locks of the shared form: a word of locks for each variable | requesters, by an exchange; conflicts also the holder of the bucket's lock | the same |
//! | logs: what a participant is about to store | its owner before it persists | the one that completes it |
//!
//! - `layout`: where the parts lie;
//! - `memory`: the parts as places, with the words that everybody reads;
//! - `allocator`: variables that are free;
//! - `recovery`: participants that died.

mod allocator;
mod layout;
mod memory;
mod recovery;

pub(crate) use allocator::class_of;
pub(crate) use layout::{CLASSES, Layout};
pub(crate) use memory::{Memory, OwnLine};
