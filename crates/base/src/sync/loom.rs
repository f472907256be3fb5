//! The model's side: loom's atomics, and a mutex with a condition variable in the place of the futex.

use std::time::Duration;

use loom::sync::Condvar;

use super::Scope;

pub use loom::cell::UnsafeCell;
/// Statics that each run of a model makes anew.
pub use loom::lazy_static as in_each_run;
pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub use loom::sync::{Arc, Mutex, MutexGuard};

/// Lets the model run another thread: a poll before any other thread has moved shows nothing new.
pub fn spin_hint() {
    loom::skip_branch();
    loom::thread::yield_now();
}

/// As [`spin_hint`]: no time passes in a model.
pub fn spin_for(_duration: Duration) {
    spin_hint();
}

/// Adds, and lets no later access come before the addition.
pub fn fetch_add_and_fence(word: &AtomicU64, count: u64) -> u64 {
    // ORDERING: Relaxed, the fence orders it
    let before = word.fetch_add(count, Ordering::Relaxed);
    // ORDERING: SeqCst, pairs with a fence behind what others write; forbids that both sides miss each other's [add-fence]
    fence(Ordering::SeqCst);
    before
}

/// Does nothing: no thread of a model is killed.
pub fn keep_order() {}

/// Lets the model run another thread.
pub fn yield_now() {
    spin_hint();
}

/// The pair of fences; in the model both sides are equally strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// Both sides know that. The models of other crates use this pair only. The agreement about fences has models of its
    /// own; its states, times those of a barrier, would be too many.
    Full,
    /// Sleepers and publishers have to agree to do without the heavy side.
    Private,
}

impl Fences {
    /// The pair of all models that do not ask for the other one.
    #[must_use]
    pub fn of(_scope: Scope) -> Self {
        Self::Full
    }

    /// The light side.
    pub fn light(self) {
        // ORDERING: SeqCst, pairs with heavy; forbids that both sides miss each other's store [asymmetric]
        fence(Ordering::SeqCst);
    }

    /// The fence of both sides while they have agreed to do without the heavy side.
    pub fn equal(self) {
        // ORDERING: SeqCst, pairs with itself on the other side; forbids that both sides miss each other's store [asymmetric]
        fence(Ordering::SeqCst);
    }

    /// True if the heavy side costs more than the light one.
    #[must_use]
    pub fn is_asymmetric(self) -> bool {
        self != Self::Full
    }

    /// The heavy side.
    pub fn heavy(self) {
        // ORDERING: SeqCst, pairs with light; forbids that both sides miss each other's store [asymmetric]
        fence(Ordering::SeqCst);
    }
}

/// The queue of each word's sleepers, by the address of the word.
type Queues = Vec<(usize, std::sync::Arc<Condvar>)>;

loom::lazy_static! {
    /// The queues of the kernel.
    static ref KERNEL: Mutex<Queues> = Mutex::new(Vec::new());
}

/// The queue of this word, made when it is first asked for.
fn queue_of(queues: &mut Queues, word: &AtomicU32) -> std::sync::Arc<Condvar> {
    let address = std::ptr::from_ref(word).addr();
    if let Some((_, queue)) = queues.iter().find(|(word, _)| *word == address) {
        return std::sync::Arc::clone(queue);
    }
    let queue = std::sync::Arc::new(Condvar::new());
    queues.push((address, std::sync::Arc::clone(&queue)));
    queue
}

/// Sleeps while the word is `seen`. There is no time limit here, so a lost wake-up shows as a deadlock.
pub fn futex_wait(word: &AtomicU32, seen: u32, _longest: Duration, _scope: Scope) {
    let mut kernel = KERNEL.lock().expect("no thread of a model panics while it holds the kernel");
    // ORDERING: Relaxed, a thread that changes the word takes the kernel's lock before it wakes
    if word.load(Ordering::Relaxed) == seen {
        let queue = queue_of(&mut kernel, word);
        drop(queue.wait(kernel).expect("no thread of a model panics while it holds the kernel"));
    }
}

/// Wakes one of the threads that sleep on the word, or all.
pub fn futex_wake(word: &AtomicU32, at_most: u32, _scope: Scope) {
    let mut kernel = KERNEL.lock().expect("no thread of a model panics while it holds the kernel");
    let queue = queue_of(&mut kernel, word);
    if at_most == 1 {
        queue.notify_one();
    } else {
        queue.notify_all();
    }
}

/// The event count of the model. A wait has no time limit here, so a lost wake-up shows as a deadlock.
#[derive(Debug)]
pub struct EventCount {
    count: Mutex<u32>,
    moved: Condvar,
}

impl Default for EventCount {
    fn default() -> Self {
        Self::new()
    }
}

impl EventCount {
    /// A count of zero.
    #[must_use]
    pub fn new() -> Self {
        Self { count: Mutex::new(0), moved: Condvar::new() }
    }

    /// The count now.
    pub fn now(&self) -> u32 {
        *self.count.lock().expect("no thread of a model panics while it holds the count")
    }

    /// Moves the count on and wakes every thread that sleeps on it.
    pub fn advance(&self, _scope: Scope) {
        *self.count.lock().expect("no thread of a model panics while it holds the count") += 1;
        self.moved.notify_all();
    }

    /// Sleeps until the count differs from `seen`; it does then.
    pub fn wait(&self, seen: u32, _longest: Duration, _scope: Scope) -> bool {
        let mut count = self.count.lock().expect("no thread of a model panics while it holds the count");
        while *count == seen {
            count = self.moved.wait(count).expect("no thread of a model panics while it holds the count");
        }
        true
    }
}

impl EventCount {
    /// The model waits for the first of several counts only: its sleepers use one memory.
    pub fn wait_any(counts: &[(&Self, u32, Scope)], longest: Duration) -> bool {
        counts.first().is_some_and(|&(first, seen, scope)| first.wait(seen, longest, scope))
    }
}
