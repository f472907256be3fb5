//! The costs of this process.
//!
//! The model checker does not see the pointer: what it holds is neither exclusion nor progress, and in a model, where no time
//! passes, no lock ever looks at it. One Release publishes a value that is never written to again.

use std::ptr;

use corecast_base::sync::{AtomicPtr, Mutex, Ordering};

use super::Params;

static ASSUMED: Params = Params::ASSUMED;
/// Those in use, null for the assumed ones. Written by a thread that sets others, read by holders that decide.
static IN_USE: AtomicPtr<Params> = AtomicPtr::new(ptr::null_mut());
/// All that ever were: a holder may still look at any of them.
static KEPT: Mutex<Vec<&'static Params>> = Mutex::new(Vec::new());

pub(super) fn get() -> &'static Params {
    // ORDERING: Acquire, pairs with the Release in set [params-set]
    let in_use = IN_USE.load(Ordering::Acquire);
    // SAFETY: null, or of a value that is kept for ever and that nobody writes to.
    unsafe { in_use.as_ref() }.unwrap_or(&ASSUMED)
}

pub(super) fn set(params: Params) {
    let mut kept = KEPT.lock().expect("nobody panics while holding the list");
    let same = kept.iter().copied().find(|known| **known == params);
    let chosen = same.unwrap_or_else(|| {
        let new: &'static Params = Box::leak(Box::new(params));
        kept.push(new);
        new
    });
    // ORDERING: Release, pairs with the Acquire in get [params-set]
    IN_USE.store(ptr::from_ref(chosen).cast_mut(), Ordering::Release);
}
