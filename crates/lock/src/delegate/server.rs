//! The thread that owns the data.

use std::convert::Infallible;
use std::ptr;

use corecast_base::sync::{Arc, AtomicBool, Ordering};
use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Wait, Waiter, WakeWord};

use super::line::Line;
use super::lines::Lines;
use crate::raw::Setup;
use crate::request::{Begun, Queue, chain};

/// Where clients and their server meet.
pub(super) struct Shared<T> {
    pub(super) lines: Lines<T>,
    /// For clients that find no line, or have a limit. Locked by the server until it ends.
    pub(super) queue: Queue<T>,
    /// The word that the server sleeps on.
    pub(super) bell: WakeWord,
    /// The clients are gone. Written by them, read by the server.
    is_over: AtomicBool,
}

// SAFETY: jobs are sent by their threads, and run by the one that has the queue; both may be any thread.
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// With a queue that is locked for the server to be.
    pub(super) fn served() -> Arc<Self> {
        let queue = Queue::new();
        assert!(queue.try_lock(), "nobody else has it yet");
        let (lines, bell) = (Lines::new(Setup::default().threads), WakeWord::new(Wait::Adaptive));
        Arc::new(Self { lines, queue, bell, is_over: AtomicBool::new(false) })
    }

    /// By which its closures are known.
    pub(super) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// For the clients, which send nothing more.
    pub(super) fn end(&self) {
        // ORDERING: Relaxed, the bell's fences order it before the server's last look
        self.is_over.store(true, Ordering::Relaxed);
        self.bell.notify();
    }
}

/// The findings of a server's round.
enum Found<'a, T> {
    Sent(&'a Line<T>),
    Pushed(Begun<T>),
    End,
}

/// How far a server is in its round: over the lines, and then as many of those that were pushed.
#[derive(Default)]
struct Round {
    lines: usize,
    pushed: usize,
}

impl Round {
    /// The next one that waits; `None` if nobody does.
    fn next<'a, T>(&mut self, shared: &'a Shared<T>) -> Option<Found<'a, T>> {
        loop {
            let is_whole = self.lines == 0 && self.pushed == 0;
            let used = shared.lines.used();
            while let Some(line) = used.get(self.lines) {
                self.lines += 1;
                if line.is_sent() {
                    return Some(Found::Sent(line));
                }
            }
            if self.pushed < shared.lines.most() {
                // SAFETY: the queue was locked for this server.
                if let Some(begun) = unsafe { shared.queue.begin_oldest() } {
                    self.pushed += 1;
                    return Some(Found::Pushed(begun));
                }
            }
            *self = Self::default();
            if is_whole {
                return None;
            }
        }
    }
}

/// Runs closures on this thread until the clients are gone.
pub(super) fn serve<T>(shared: &Shared<T>, data: &mut T) {
    let mut waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(2), None);
    let mut round = Round::default();
    chain::with(shared.address(), || {
        loop {
            let look = || {
                // ORDERING: Relaxed, the bell's fences order it after what the clients did
                round.next(shared).or_else(|| shared.is_over.load(Ordering::Relaxed).then_some(Found::End))
            };
            match waiter.until(&shared.bell, look, |_| Ok::<_, Infallible>(LONGEST_SLEEP)) {
                // SAFETY: this is the server, and the line was seen to be sent.
                Ok(Found::Sent(line)) => unsafe { line.serve(data) },
                Ok(Found::Pushed(begun)) => begun.run(data),
                Ok(Found::End) => return,
            }
        }
    });
}
