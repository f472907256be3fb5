//! A line on which one client at a time sends a closure to the server, and gets its result back.
//!
//! A closure and a result of a few words travel in the line; others stay in the frame of their caller, and the line tells where.
//! The word that says how far they are is on the same line, so a call moves one line there and back.

use std::mem::MaybeUninit;

use corecast_base::sync::{AtomicU32, Ordering, Scope, UnsafeCell, futex_wait, futex_wake};
use corecast_base::wait::{LONGEST_SLEEP, Spinner};
use corecast_base::{CacheLine, LINE_BYTES};

use crate::request::{AnyJob, Job};
use crate::three_states::IS_MODEL;

/// No client has it.
const FREE: u32 = 0;
/// A client has it, and writes to it or reads from it. Set by that client.
const CLAIMED: u32 = 1;
/// There is a closure for the server, which has the line now. Set by the client.
const SENT: u32 = 2;
/// It has run, and the client has the line again. Set by the server.
const DONE: u32 = 3;
/// With one of the others: the client may sleep on this word. Set by the client.
const ASLEEP: u32 = 1 << 2;

/// The rest of a line beside the word and the job.
const ROOM: usize = LINE_BYTES - 3 * size_of::<u64>();

pub(super) struct Line<T> {
    state: AtomicU32,
    /// Written by the client that has claimed the line, read by the server.
    job: UnsafeCell<MaybeUninit<AnyJob<T>>>,
    /// Where a small job lies. Written by both.
    room: UnsafeCell<MaybeUninit<[u64; ROOM / size_of::<u64>()]>>,
}

#[cfg(all(target_pointer_width = "64", not(loom)))]
const _: () = assert!(size_of::<Line<()>>() == LINE_BYTES);

/// A line that the caller has to itself.
pub(super) struct Claim<'a, T>(&'a Line<T>);

impl<T> Line<T> {
    pub(super) fn new() -> CacheLine<Self> {
        CacheLine::new(Self {
            state: AtomicU32::new(FREE),
            job: UnsafeCell::new(MaybeUninit::uninit()),
            room: UnsafeCell::new(MaybeUninit::uninit()),
        })
    }

    /// For a client, unless another one has it.
    #[inline]
    pub(super) fn claim(&self) -> Option<Claim<'_, T>> {
        // ORDERING: Acquire, pairs with the Release in Claim::drop; Relaxed where it fails, as nothing was taken [delegate-free]
        let claimed = self.state.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed);
        // Lazily: a claim that is dropped frees the line.
        claimed.is_ok().then(|| Claim(self))
    }

    /// For the server: whether it has something to run here.
    #[inline]
    pub(super) fn is_sent(&self) -> bool {
        // ORDERING: Relaxed, serve looks again
        self.state.load(Ordering::Relaxed) & !ASLEEP == SENT
    }

    /// Runs what was sent, and tells the client.
    ///
    /// # Safety
    /// - The caller is the server, and has seen that it [is sent](Self::is_sent).
    pub(super) unsafe fn serve(&self, data: &mut T) {
        // ORDERING: Acquire, pairs with the Release in Claim::run [delegate-sent]
        self.state.load(Ordering::Acquire);
        self.job.with(|job| {
            // SAFETY: the client has left the line to the server.
            let job = unsafe { &*job };
            // SAFETY: it was written before it was sent.
            let job = unsafe { job.assume_init_ref() };
            // SAFETY: it stays until it is done, and was sent once.
            unsafe { job.run(data) };
        });
        // ORDERING: Release, pairs with the Acquire in Claim::wait [delegate-done]
        if self.state.swap(DONE, Ordering::Release) & ASLEEP != 0 {
            // One client sleeps here; after it has gone perhaps another one, which looks and sleeps again.
            futex_wake(&self.state, u32::MAX, Scope::Process);
        }
    }
}

impl<T> Claim<'_, T> {
    /// Has the server run `f`, waits until it has, and returns what `f` returned, or its panic. Calls `sent` when it is sent.
    #[inline]
    pub(super) fn run<R, F: FnOnce(&mut T) -> R>(self, f: F, sent: impl FnOnce()) -> std::thread::Result<R> {
        let job = Job::new(f);
        if !has_room::<Job<F, R>>() {
            self.send(job.forget_type());
            sent();
            self.wait();
            return job.into_result();
        }
        let place = self.0.room.with_mut(<*mut _>::cast::<Job<F, R>>);
        // SAFETY: it has room, and is the caller's until the job is sent.
        unsafe { place.write(job) };
        // SAFETY: it was just written.
        self.send(unsafe { &*place }.forget_type());
        sent();
        self.wait();
        // SAFETY: it was written above, and is the caller's again.
        unsafe { place.read() }.into_result()
    }

    fn send(&self, job: AnyJob<T>) {
        self.0.job.with_mut(|place| {
            // SAFETY: the caller has the line.
            unsafe { (*place).write(job) };
        });
        // ORDERING: Release, pairs with the Acquire in serve [delegate-sent]
        self.0.state.store(SENT, Ordering::Release);
    }

    fn wait(&self) {
        let state = &self.0.state;
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, the server's result is acquired behind the loop
        while state.load(Ordering::Relaxed) & !ASLEEP != DONE {
            if IS_MODEL || spinner.is_spent() {
                self.sleep();
            } else {
                spinner.pause();
            }
        }
        // ORDERING: Acquire, pairs with the Release in serve [delegate-done]
        state.load(Ordering::Acquire);
    }

    #[cold]
    fn sleep(&self) {
        let state = &self.0.state;
        // ORDERING: Relaxed, a woken thread looks again
        let seen = state.fetch_or(ASLEEP, Ordering::Relaxed) | ASLEEP;
        if seen & !ASLEEP != DONE {
            futex_wait(state, seen, LONGEST_SLEEP, Scope::Process);
        }
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        // ORDERING: Release, pairs with the Acquire in claim [delegate-free]
        self.0.state.store(FREE, Ordering::Release);
    }
}

/// Whether a job of this type can lie in a line. In a model it cannot: jobs are watched where their callers have them.
const fn has_room<J>() -> bool {
    !IS_MODEL && size_of::<J>() <= ROOM && align_of::<J>() <= align_of::<u64>()
}
