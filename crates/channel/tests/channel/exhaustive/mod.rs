//! Every interleaving of the channels' protocols, explored as explicit states, and of protocols that must fail.
//!
//! loom checks the code under the memory model, at rings and message counts that it can afford. These models check the
//! protocols: sequentially consistent (but for the store buffers of [`wake`]), one shared access a step, with more
//! messages, with ends that die at any step, and with the question that loom does not ask: can the end still be reached
//! from everywhere? Each protocol stands beside slips that are easily made, and the checker must find every one.
//! The findings are in `docs/design/multi-sender.md`.
mod ack_line;
mod checker;
mod mcast;
mod slot_clear;
mod wake;
mod zimp;
