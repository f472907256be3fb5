//! Threads that sleep in the operating system until they are woken, by the address of the word on which they sleep.

use std::collections::VecDeque;

/// The sleeping threads, in the order in which they fell asleep.
#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    /// Addresses, threads, and the numbers of the turns in which they fell asleep: others have gone on since.
    queue: VecDeque<(usize, usize, u32)>,
}

impl Sleepers {
    pub(crate) fn push(&mut self, address: usize, thread: usize, turn: u32) {
        self.queue.push_back((address, thread, turn));
    }

    /// The first thread that sleeps on this word. Those that `sleeps` finds awake are forgotten.
    pub(crate) fn pop(&mut self, address: usize, sleeps: impl Fn(usize, u32) -> bool) -> Option<usize> {
        self.queue.retain(|&(_, thread, turn)| sleeps(thread, turn));
        let place = self.queue.iter().position(|&(word, ..)| word == address)?;
        self.queue.remove(place).map(|(_, thread, _)| thread)
    }
}
