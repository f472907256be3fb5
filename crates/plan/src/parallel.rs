//! Work spread over the CPUs of this process, with the threads of the standard library.
//!
//! Rayon did the same, brought six more crates, and compiled generic code for every use. The calls here last
//! milliseconds, so starting helper threads for each call costs little. Where the system refuses a thread, the caller
//! does the work with the helpers it got.

use std::cell::Cell;
use std::sync::Mutex;
use std::thread;

thread_local! {
    /// True while this thread works on the items of a call: a call from within it gets no helpers of its own.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// `item(0)`, `item(1)`, ... in this order, whichever thread computed them.
pub(crate) fn map<T: Send>(count: usize, item: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    run(count, &|at| {
        let value = item(at);
        *slots[at].lock().expect("one thread locks each slot, once") = Some(value);
    });
    let taken = slots.into_iter().map(|slot| slot.into_inner().expect("a panic ends the call before this"));
    taken.map(|value| value.expect("every item was computed")).collect()
}

/// Runs `work` without helpers.
pub(crate) fn alone(work: impl FnOnce()) {
    let before = IS_BUSY.replace(true);
    work();
    IS_BUSY.set(before);
}

/// Calls `work` with every number below `count`, once each.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let helpers = if IS_BUSY.get() { 0 } else { helpers(count) };
    if helpers == 0 {
        return (0..count).for_each(work);
    }
    let next = Mutex::new(0..count);
    let take = || next.lock().expect("nothing panics under this lock").next();
    let help = || {
        IS_BUSY.set(true);
        while let Some(at) = take() {
            work(at);
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            if thread::Builder::new().spawn_scoped(scope, help).is_err() {
                break;
            }
        }
        help();
        IS_BUSY.set(false);
    });
}

/// The number of threads beside the caller that can work at once.
fn helpers(count: usize) -> usize {
    match count {
        0 | 1 => 0,
        _ => thread::available_parallelism().map_or(1, usize::from).min(count) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order() {
        for count in [0, 1, 2, 3, 100] {
            assert_eq!(map(count, |at| at * at), (0..count).map(|at| at * at).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_call_within_a_call_works() {
        let sums = map(5, |outer| map(outer, |inner| inner).into_iter().sum::<usize>());
        assert_eq!(sums, [0, 0, 1, 3, 6]);
    }
}
