//! The pool of a model, made anew in every run.

use corecast_base::CacheLine;
use corecast_base::sync::{Mutex, UnsafeCell};

use super::PoolNode;

/// More than the threads of any model use.
const NODES: u32 = 6;

corecast_base::sync::in_each_run! {
    static ref ALL: Vec<CacheLine<PoolNode>> = (0..NODES).map(|_| PoolNode::new()).collect();
    /// Written by the thread that takes a node, read by the one that links itself behind it: the model fails if the write does
    /// not happen before the read. A node's words could not show it, as a store in a model is never lost behind an older one.
    static ref PREPARED: Vec<UnsafeCell<()>> = (0..NODES).map(|_| UnsafeCell::new(())).collect();
    static ref FREE: Mutex<Vec<u32>> = Mutex::new((0..NODES).rev().collect());
}

/// The node with this number, which [`take`] has returned.
pub(crate) fn node(number: u32) -> &'static PoolNode {
    &ALL[number as usize]
}

/// The node with this number, for the thread behind to hang itself in.
pub(crate) fn node_before(number: u32) -> &'static PoolNode {
    PREPARED[number as usize].with(|_| ());
    node(number)
}

/// A node for the caller alone.
pub(crate) fn take() -> u32 {
    let number = FREE.lock().expect("nobody panics while holding the pool").pop().expect("a model has nodes enough");
    PREPARED[number as usize].with_mut(|_| ());
    number
}

/// Gives a node back, to the next thread that takes one.
pub(crate) fn give(number: u32) {
    FREE.lock().expect("nobody panics while holding the pool").push(number);
}
