//! A file descriptor that becomes readable when a channel of a [`Select`] has a message: for epoll, tokio, asyncio.
//!
//! Senders do not know about it. A thread of the notifier sleeps on the parkers on behalf of the event loop, and writes to
//! an eventfd when it is woken. It sleeps only between [`Notifier::arm`] and the wake-up that follows, so that a loop that
//! is busy receiving pays nothing.
//!
//! A forked child has no such thread, and shares the descriptor with its parent: it makes a notifier of its own.

use std::fmt;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use corecast_base::wait::{LONGEST_SLEEP, Parker};
use rustix::event::{EventfdFlags, eventfd};

use super::{Select, Selectable, Subset};

/// The result of [`Notifier::arm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// A channel has a message already: receive it and arm again.
    Ready,
    /// The descriptor becomes readable when a channel has a message.
    Waiting,
}

/// The descriptor and the thread that makes it readable.
pub struct Notifier {
    event: Arc<OwnedFd>,
    /// The parkers to sleep on next; hanging up ends the thread.
    orders: Option<Sender<Vec<(Parker, u32)>>>,
    parkers: Vec<Parker>,
    thread: Option<JoinHandle<()>>,
    /// The process to which the thread belongs.
    pid: u32,
}

impl Notifier {
    fn new() -> io::Result<Self> {
        let event = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (orders, taken) = channel();
        let theirs = Arc::clone(&event);
        let watch = move || watch(&taken, &theirs);
        let thread = std::thread::Builder::new().name("corecast-notifier".to_owned()).spawn(watch)?;
        Ok(Self { event, orders: Some(orders), parkers: Vec::new(), thread: Some(thread), pid: process::id() })
    }

    /// Makes the descriptor readable as soon as a channel of `select` has a message. Call it each time before waiting for
    /// the descriptor; it also clears what an earlier wake-up left there.
    ///
    /// In a forked child it only looks.
    pub fn arm<R: Selectable>(&mut self, select: &mut Select<R>) -> Armed {
        if self.is_copy() {
            return if select.scan.find(Subset::everything()).is_some() { Armed::Ready } else { Armed::Waiting };
        }
        self.clear();
        let seen = select.wake_words.counts();
        self.parkers = seen.iter().map(|(parker, _)| parker.clone()).collect();
        select.wake_words.arm(Subset::everything());
        if select.scan.find(Subset::everything()).is_some() {
            return Armed::Ready;
        }
        let orders = self.orders.as_ref().expect("taken only when the notifier is dropped");
        orders.send(seen).expect("the thread listens until the notifier hangs up");
        Armed::Waiting
    }

    /// True in a forked child of the process that made it.
    fn is_copy(&self) -> bool {
        process::id() != self.pid
    }

    fn clear(&self) {
        // Usually there is nothing to read.
        let _ = rustix::io::read(&*self.event, &mut [0_u8; 8]);
    }
}

impl AsFd for Notifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl AsRawFd for Notifier {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        if self.is_copy() {
            // The thread belongs to the parent, and the fork may have interrupted it while it took an order.
            mem::forget((self.orders.take(), self.thread.take()));
            return;
        }
        drop(self.orders.take());
        // The thread that sleeps there looks around and finds that it shall end.
        self.parkers.iter().for_each(Parker::unpark);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the notifier's thread does not panic");
        }
    }
}

impl<R: Selectable> Select<R> {
    /// A descriptor for an event loop.
    ///
    /// # Errors
    /// Those of creating an eventfd and a thread.
    pub fn notifier(&self) -> io::Result<Notifier> {
        Notifier::new()
    }
}

/// Sleeps on the parkers of the last order until one of them is woken, or until the notifier hangs up.
fn watch(orders: &Receiver<Vec<(Parker, u32)>>, event: &OwnedFd) {
    while let Ok(mut seen) = orders.recv() {
        while seen.iter().all(|(parker, seen)| parker.now() == *seen) {
            Parker::wait_any(&seen, LONGEST_SLEEP);
            match orders.try_recv() {
                Ok(newer) => seen = newer,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return,
            }
            // A process that dies wakes no thread, so the loop has to look.
            if seen.iter().any(|(parker, _)| parker.is_shared()) {
                break;
            }
        }
        // The counter is at its end after 2^64 - 1 wake-ups that nobody read.
        let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
    }
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notifier({})", self.event.as_raw_fd())
    }
}
