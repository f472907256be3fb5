//! Nodes that a thread keeps for its next acquisitions.

use std::any::Any;
use std::cell::RefCell;

/// A thread keeps no more.
const MOST: usize = 16;

corecast_base::per_thread! {
    static SPARE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// A node for the caller alone.
#[inline]
pub(super) fn take<N: Default + 'static>() -> Box<N> {
    if size_of::<N>() == 0 {
        return Box::default();
    }
    // A thread that ends has none any more.
    SPARE.try_with(|spare| take_of(&mut spare.borrow_mut())).ok().flatten().unwrap_or_default()
}

fn take_of<N: 'static>(spare: &mut Vec<Box<dyn Any>>) -> Option<Box<N>> {
    let last = spare.iter().rposition(|node| node.is::<N>())?;
    spare.swap_remove(last).downcast().ok()
}

/// Keeps a node that is in no queue, or frees it.
#[inline]
pub(super) fn give<N: 'static>(node: Box<N>) {
    if size_of::<N>() == 0 {
        return;
    }
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < MOST {
            spare.push(node);
        }
    });
}
