//! The pool of a model, made anew in every run.

use corecast_base::CacheLine;
use corecast_base::sync::Mutex;

use super::PoolNode;

/// More than the threads of any model use.
const NODES: u32 = 6;

corecast_base::sync::in_each_run! {
    static ref ALL: Vec<CacheLine<PoolNode>> = (0..NODES).map(|_| PoolNode::new()).collect();
    static ref FREE: Mutex<Vec<u32>> = Mutex::new((0..NODES).rev().collect());
}

/// The node with this number, which [`take`] has returned.
pub(crate) fn node(number: u32) -> &'static PoolNode {
    &ALL[number as usize]
}

/// A node for the caller alone.
pub(crate) fn take() -> u32 {
    FREE.lock().expect("nobody panics while holding the pool").pop().expect("a model has nodes enough")
}

/// Gives a node back, to whoever takes one next.
pub(crate) fn give(number: u32) {
    FREE.lock().expect("nobody panics while holding the pool").push(number);
}
