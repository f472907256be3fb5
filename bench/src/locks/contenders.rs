//! The locks to race: those of corecast's registry, and what people use today.

use corecast::lock::{Algorithm, Combine, Delegate, Domains, Mutex, for_each_lock};
use spin::mutex::TicketMutex;

use super::c_locks::{Foreign, KINDS};
use super::crates::HandedOn;
use super::crowd::{Crowd, Turn, crowd};
use super::distance::{Handed, Turns, handed};
use super::flips::{Flipped, Flips, flips};
use super::guarded::{BareCas, Guarded, Line, Pthread};
use super::interleaved::Trusted;
use super::pair::pair_ns;
use crate::coherence::Group;
use corecast_race::failure::Failure;

/// One lock.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) ours: bool,
    /// Whether threads that have waited for long sleep.
    pub(super) sleeps: bool,
    /// Whether it is a lock of the registry with something left out, raced only when it is asked for.
    pub(super) is_ablation: bool,
    /// Nanoseconds to take and free it, alone.
    pub(super) pair_ns: fn(u32, &Domains) -> Result<f64, Failure>,
    /// A few threads in turns, for a number of turns.
    pub(super) handed: fn(&Group, Turns, &Domains) -> Result<Vec<Handed>, Failure>,
    /// Many threads at once.
    pub(super) crowd: fn(&Crowd<'_>) -> Result<Turn, Failure>,
    /// Threads at one lock that change what they do.
    pub(super) flips: fn(&Flips<'_>) -> Result<Vec<Flipped>, Failure>,
}

pub(super) fn contender<G: Guarded>(name: &'static str, ours: bool, sleeps: bool) -> Contender {
    let (pair_ns, handed, crowd, flips) = (pair_ns::<G>, handed::<G>, crowd::<G>, flips::<G>);
    Contender { name, ours, sleeps, is_ablation: false, pair_ns, handed, crowd, flips }
}

impl Trusted for Contender {
    fn trusted(&self) -> Option<&str> {
        self.ours.then_some(self.name)
    }
}

/// That of a C library, by its number among [`KINDS`].
fn c_lock<const KIND: usize>() -> Contender {
    contender::<Foreign<KIND>>(KINDS[KIND].name, false, Foreign::<KIND>::GIVES_WAY)
}

/// All of them, but for [ablations](super::ablations).
pub(super) fn contenders() -> Vec<Contender> {
    let mut all = Vec::new();
    macro_rules! ours {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            $({
                let facts = Algorithm::$variant.facts();
                all.push(contender::<Mutex<Line, $lock>>(facts.name, true, facts.parks));
            })*
        };
    }
    for_each_lock!(ours);
    all.push(contender::<std::sync::Mutex<Line>>("std", false, true));
    all.push(contender::<parking_lot::Mutex<Line>>("parking_lot", false, true));
    all.push(contender::<HandedOn>("parking_lot_fair", false, true));
    all.push(contender::<Pthread<{ libc::PTHREAD_MUTEX_NORMAL }>>("pthread", false, true));
    all.push(contender::<Pthread<{ libc::PTHREAD_MUTEX_ADAPTIVE_NP }>>("pthread_adaptive", false, true));
    all.push(contender::<TicketMutex<Line>>(SPIN_TICKET, false, false));
    all.push(contender::<mcslock::raw::spins::Mutex<Line>>(MCSLOCK, false, false));
    all.push(contender::<clhlock::raw::spins::Mutex<Line>>(CLHLOCK, false, false));
    all.extend([c_lock::<0>(), c_lock::<1>(), c_lock::<2>(), c_lock::<3>(), c_lock::<4>()]);
    all
}

/// The ticket lock of crate `spin`.
pub(super) const SPIN_TICKET: &str = "spin_ticket";
/// The queue of crate `mcslock`.
pub(super) const MCSLOCK: &str = "mcslock";
/// The queue of crate `clhlock`.
pub(super) const CLHLOCK: &str = "clhlock";

/// The lock whose holder runs the closures of the waiters.
pub(super) const COMBINE: &str = "combine";
/// The lock whose closures are all run by one thread.
pub(super) const DELEGATE: &str = "delegate";

/// The locks that closures are sent to, raced where many threads want one piece of data.
pub(super) fn combining() -> Vec<Contender> {
    vec![contender::<Combine<Line>>(COMBINE, true, true), contender::<Delegate<Line>>(DELEGATE, true, true)]
}

/// The one exchange that every lock needs.
pub(super) fn yardstick() -> Contender {
    contender::<BareCas>("bare-cas", false, false)
}
