//! The ticket locks of SSYNC's figure 3: plain, with proportional back-off, and with `prefetchw` before each look.
//!
//! `corecast bench locks --contenders ticket,ticket-plain,ticket-backoff,ticket-prefetchw --locks 1 --hold 0 --placement pinned`
//! is the figure; corecast's own is beside them. As in SSYNC's code, both numbers lie in one line and a thread that waits never
//! gives up its CPU. A fetch for writing takes the line from its owner once, where a load that finds the number would be followed
//! by the owner's upgrade; on processors with one owner per line (SSYNC's Opteron) that made up to twice the difference.
//! Source: T. David, R. Guerraoui, V. Trigonakis, Everything You Always Wanted to Know About Synchronization but Were Afraid to
//! Ask, 2013, section 5.3.

use std::hint::spin_loop;
use std::time::Duration;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU32, Ordering, UnsafeCell, spin_for};
use corecast::lock::Setup;

use super::contenders::{Contender, contender};
use super::guarded::{Guarded, Line};

/// How a thread waits between two looks.
const PLAIN: u8 = 0;
const BACK_OFF: u8 = 1;
const PREFETCH: u8 = 2;
/// The wait for each thread ahead: 512 no-operations in SSYNC's code.
const EACH_AHEAD: Duration = Duration::from_nanos(100);

/// All three.
pub(super) fn ticket_variants() -> Vec<Contender> {
    vec![
        variant::<PLAIN>("ticket-plain"),
        variant::<BACK_OFF>("ticket-backoff"),
        variant::<PREFETCH>("ticket-prefetchw"),
    ]
}

fn variant<const WAIT: u8>(name: &'static str) -> Contender {
    Contender { is_ablation: true, ..contender::<Ticket<WAIT>>(name, false, false) }
}

#[derive(Default)]
struct Numbers {
    /// The next to draw. Written by newcomers.
    next: AtomicU32,
    /// The one that is called. Written by the holder.
    called: AtomicU32,
}

#[derive(Default)]
struct Ticket<const WAIT: u8> {
    numbers: CacheLine<Numbers>,
    line: UnsafeCell<Line>,
}

// SAFETY: one thread at a time has the number that is called.
unsafe impl<const WAIT: u8> Sync for Ticket<WAIT> {}

impl<const WAIT: u8> Ticket<WAIT> {
    #[inline]
    fn await_call(&self, ticket: u32) {
        loop {
            if WAIT == PREFETCH {
                fetch_to_write(&self.numbers.called);
            }
            // ORDERING: Acquire, pairs with the Release in with [variant-called]
            let ahead = ticket.wrapping_sub(self.numbers.called.load(Ordering::Acquire));
            match (ahead, WAIT) {
                (0, _) => return,
                (_, PLAIN) => spin_loop(),
                _ => spin_for(EACH_AHEAD * ahead),
            }
        }
    }
}

impl<const WAIT: u8> Guarded for Ticket<WAIT> {
    const GIVES_WAY: bool = false;

    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        // ORDERING: Relaxed, the last holder's writes come with the number that is called
        let ticket = self.numbers.next.fetch_add(1, Ordering::Relaxed);
        self.await_call(ticket);
        // SAFETY: this thread's number is called.
        let result = self.line.with_mut(|line| work(unsafe { &mut *line }));
        // ORDERING: Release, pairs with the Acquire in await_call [variant-called]
        self.numbers.called.store(ticket.wrapping_add(1), Ordering::Release);
        result
    }
}

/// Fetches the line for writing, which does not fault.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch_to_write(word: &AtomicU32) {
    // SAFETY: it changes nothing but where the line is.
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) word, options(nostack, preserves_flags)) };
}

/// Fetches the line for writing, which does not fault.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn fetch_to_write(word: &AtomicU32) {
    // SAFETY: it changes nothing but where the line is.
    unsafe { std::arch::asm!("prfm pstl1keep, [{}]", in(reg) word, options(nostack, preserves_flags)) };
}

/// No instruction for it is known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn fetch_to_write(_word: &AtomicU32) {}
