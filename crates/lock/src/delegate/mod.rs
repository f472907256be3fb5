//! Data that one thread owns, which runs the closures of all others.
//!
//! Take it where a thread can be spared for data that many want for moments: the data never leaves that thread's cache, and
//! callers only exchange their closure and its result with it. Not where data is wanted seldom, as each call then wakes a thread,
//! and not for more pieces of data than there are CPUs to spare; [`Combine`](crate::Combine) needs no thread.
//!
//! **How it works.** A client writes its closure to a line that it has to itself, wakes the server if that sleeps, and waits.
//! The server looks at one line after the other, runs what it finds, and leaves the result on the line. A closure and a result
//! of up to some 24 bytes travel there, others stay in the frame of the caller. A client that finds no line, as there are more
//! clients than lines (two for each CPU, 16 to 64), and one with a limit pushes its closure to a stack, from which the server
//! runs as many in each round as there are lines. A server that finds nothing spins, yields, and sleeps. It ends when the
//! clients' side is dropped. [`Delegate`] has a thread of its own; with [`serve`] it is the caller's, pinned say.
//!
//! The rules for closures are those of [`Combine`](crate::Combine), but that it always runs on the server's thread.
//!
//! There is no try, as nothing runs on the caller's thread. The source answers 15 clients at once, on a line of their
//! own: then one is told late, when others' closures have run, and a closure that waits for something which its thread would do
//! next waits for ever.
//!
//! **Progress:** blocking; the server goes round, so a client with a line waits for one closure of each other line, and for as
//! many
//! pushed ones as there are lines. A waiter, and a server that has nothing to do, sleeps after a while. **Memory ordering:**
//! what happened before a call of [`Clients::run`] is visible in its closure, and what happened in a closure is visible in later
//! ones, and to its caller when the call returns.
//! Source: S. Roghanchi, J. Eriksson, N. Basu, ffwd: Delegation Is (Much) Faster Than You Think, 2017.
//!
//! ```
//! use corecast_lock::Delegate;
//!
//! # fn main() -> std::io::Result<()> {
//! let counts: Delegate<Vec<u32>> = Delegate::new(vec![0; 3])?;
//! std::thread::scope(|scope| {
//!     for thread in 0..3 {
//!         scope.spawn({ let counts = &counts; move || (0..100).for_each(|_| counts.run(|counts| counts[thread] += 1)) });
//!     }
//! });
//! assert_eq!(counts.into_inner(), vec![100; 3]);
//! # Ok(())
//! # }
//! ```

mod line;
mod lines;
mod server;

use std::fmt;
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use corecast_base::sync::Arc;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::request::{Outcome, chain, returned, send};
use server::Shared;

/// The callers' end of a server. See the [module](self).
pub struct Clients<T> {
    shared: Arc<Shared<T>>,
}

/// Makes the calling thread the server of `value`, until the clients are dropped, and returns it. `start` gets the clients, to
/// hand them to other threads.
///
/// # Panics
/// If `start` does, once the clients are gone.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
///
/// use corecast_lock::delegate;
///
/// let mut threads = Vec::new();
/// let total = delegate::serve(0, |clients| {
///     let clients = Arc::new(clients);
///     threads.extend((1..=3).map(|number| {
///         let clients = Arc::clone(&clients);
///         thread::spawn(move || clients.run(|total| *total += number))
///     }));
/// });
/// assert_eq!(total, 6);
/// # threads.into_iter().for_each(|thread| thread.join().unwrap());
/// ```
pub fn serve<T: Send>(mut value: T, start: impl FnOnce(Clients<T>)) -> T {
    let shared = Shared::served();
    let clients = Clients { shared: Arc::clone(&shared) };
    // Nobody would run what is sent to a server that waits for it.
    let started = chain::with(shared.address(), || catch_unwind(AssertUnwindSafe(|| start(clients))));
    server::serve(&shared, &mut value);
    returned(started);
    value
}

impl<T: Send> Clients<T> {
    /// Runs `f` on the server's thread, and returns what it returns.
    ///
    /// # Panics
    /// If `f` does, or if this is called by the thread of the server.
    #[track_caller]
    pub fn run<R: Send>(&self, f: impl FnOnce(&mut T) -> R + Send) -> R {
        self.expect_other_thread();
        let shared = &self.shared;
        if let Some(line) = shared.lines.claim() {
            return returned(line.run(f, || shared.bell.notify()));
        }
        match self.push(f, None) {
            Outcome::Done(result) => returned(result),
            _ => unreachable!("there is no limit, and a server has the queue"),
        }
    }

    /// As [`run`](Self::run), but takes `f` back when `limit` has passed and it has not begun, perhaps a little later. One that
    /// has begun is waited for.
    ///
    /// Each closure that is given up leaves some 200 bytes until the holder of the data finds them: so wait once for long,
    /// and not often for moments.
    ///
    /// # Errors
    /// `f`, if it has not run.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn run_timeout<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, limit: Duration, f: F) -> Result<R, F> {
        self.expect_other_thread();
        match self.push(f, Instant::now().checked_add(limit)) {
            Outcome::Done(result) => Ok(returned(result)),
            Outcome::Withdrawn(f) => Err(f),
            Outcome::Locked(_) => unreachable!("a server has the queue"),
        }
    }

    #[track_caller]
    fn expect_other_thread(&self) {
        assert!(!chain::has(self.shared.address()), "the thread of a server must not wait for itself");
    }

    fn push<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, f: F, deadline: Option<Instant>) -> Outcome<F, R> {
        let shared = &self.shared;
        send(&shared.queue, f, deadline, || shared.bell.notify(), || ())
    }
}

impl<T> Drop for Clients<T> {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl<T> fmt::Debug for Clients<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").finish_non_exhaustive()
    }
}

/// Data that a thread of its own serves, which ends when this is dropped. Calls are those of [`Clients`]. See the [module](self).
pub struct Delegate<T> {
    /// `None` only while this is dropped.
    clients: Option<Clients<T>>,
    /// `None` once it has ended.
    thread: Option<JoinHandle<T>>,
}

impl Delegate<()> {
    /// The description for users.
    pub const FACTS: Facts = Facts {
        name: "delegate",
        about: "a thread owns the data and runs the closures of all",
        order: AcquisitionOrder::Rounds,
        node: NodeKind::Pooled,
        parks: true,
        source: "Roghanchi, Eriksson, Basu 2017",
    };
}

impl<T: Send + 'static> Delegate<T> {
    /// `value`, with a thread that serves it.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn new(value: T) -> io::Result<Self> {
        let shared = Shared::served();
        let clients = Clients { shared: Arc::clone(&shared) };
        let serve = move || {
            let mut value = value;
            server::serve(&shared, &mut value);
            value
        };
        let thread = Builder::new().name("delegate".to_owned()).spawn(serve)?;
        Ok(Self { clients: Some(clients), thread: Some(thread) })
    }
}

impl<T> Delegate<T> {
    /// Ends the thread, and returns the data.
    pub fn into_inner(mut self) -> T {
        self.end().expect("it has not ended before")
    }

    fn end(&mut self) -> Option<T> {
        self.clients = None;
        Some(self.thread.take()?.join().expect("a server keeps the panics of closures for their callers"))
    }
}

impl<T> Deref for Delegate<T> {
    type Target = Clients<T>;

    fn deref(&self) -> &Clients<T> {
        self.clients.as_ref().expect("only a drop takes it")
    }
}

impl<T> Drop for Delegate<T> {
    fn drop(&mut self) {
        drop(self.end());
    }
}

impl<T> fmt::Debug for Delegate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delegate").finish_non_exhaustive()
    }
}
