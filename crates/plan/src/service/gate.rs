//! Limits the number of searches that run at once; the others wait for their turn.

use std::sync::{Condvar, Mutex};

const UNPOISONED: &str = "nobody panics while holding the count";

/// A number of turns that clients take and give back.
#[derive(Debug)]
pub(super) struct Gate {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A turn; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Turn<'a>(&'a Gate);

impl Gate {
    /// With this many turns, at least one.
    pub(super) fn of(turns: usize) -> Self {
        Self { free: Mutex::new(turns.max(1)), freed: Condvar::new() }
    }

    /// Waits for a turn. That ends, since every search does.
    pub(super) fn enter(&self) -> Turn<'_> {
        let free = self.free.lock().expect(UNPOISONED);
        let mut free = self.freed.wait_while(free, |free| *free == 0).expect(UNPOISONED);
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().expect(UNPOISONED) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_turns_are_out_at_once() {
        let gate = Gate::of(2);
        let inside = Mutex::new((0, 0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _turn = gate.enter();
                        let mut count = inside.lock().expect("no panic");
                        *count = (count.0 + 1, count.1.max(count.0 + 1));
                        drop(count);
                        std::thread::yield_now();
                        inside.lock().expect("no panic").0 -= 1;
                    }
                });
            }
        });
        let (left, most) = *inside.lock().expect("no panic");
        assert!(left == 0 && (1..=2).contains(&most), "{left} {most}");
        assert_eq!(*gate.free.lock().expect("no panic"), 2);
    }
}
