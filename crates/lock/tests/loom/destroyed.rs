//! Models of locks whose memory is used otherwise as soon as the last section is over, as POSIX allows with a mutex: an unlock
//! touches nothing of the lock once another thread can have it.

use corecast_base::sync::{Arc, UnsafeCell};
use corecast_lock::{Clh, Qword, RawLock, Setup};
use loom::thread;

/// A lock that ends before the threads do that have used it.
struct Ending<L> {
    lock: *mut L,
    /// The sections so far. Behind the lock.
    sections: UnsafeCell<u32>,
}

// SAFETY: the lock orders what is done to the number, and ends behind the last section, which the model checks.
unsafe impl<L> Sync for Ending<L> {}
// SAFETY: as above.
unsafe impl<L> Send for Ending<L> {}

impl<L: RawLock> Ending<L> {
    /// One section of `threads`; the last one uses the lock's memory otherwise.
    fn pass(&self, threads: u32, use_otherwise: fn(&mut L)) {
        let node = L::Node::default();
        // SAFETY: the lock is used otherwise behind the last section only.
        let lock = unsafe { &*self.lock };
        // SAFETY: the node serves this section only, and stays where it is.
        unsafe { lock.lock(&node) };
        let sections = self.sections.with_mut(|sections| {
            // SAFETY: behind the lock, and not beyond this closure.
            let sections = unsafe { &mut *sections };
            *sections += 1;
            *sections
        });
        // SAFETY: locked with this node.
        unsafe { lock.unlock(&node) };
        if sections == threads {
            // SAFETY: nobody else uses it any more, which the model checks.
            use_otherwise(unsafe { &mut *self.lock });
        }
    }
}

fn the_last_ends_it<L: RawLock + 'static>(threads: u32, use_otherwise: fn(&mut L)) {
    loom::model(move || {
        let lock = Box::into_raw(Box::new(L::new(&Setup::of_threads(threads as usize))));
        let shared = Arc::new(Ending { lock, sections: UnsafeCell::new(0) });
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let theirs = Arc::clone(&shared);
                thread::spawn(move || theirs.pass(threads, use_otherwise))
            })
            .collect();
        shared.pass(threads, use_otherwise);
        for other in others {
            other.join().expect("it passes");
        }
        // SAFETY: from a box, and used by nobody any more.
        drop(unsafe { Box::from_raw(lock) });
    });
}

#[test]
fn clh_is_left_by_two() {
    the_last_ends_it(2, Clh::use_otherwise);
}

#[test]
fn clh_is_left_by_three() {
    the_last_ends_it(3, Clh::use_otherwise);
}

#[test]
fn qword_is_left_by_two() {
    the_last_ends_it(2, Qword::use_otherwise);
}

#[test]
fn qword_is_left_by_three() {
    the_last_ends_it(3, Qword::use_otherwise);
}
