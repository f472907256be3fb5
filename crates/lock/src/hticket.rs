//! [`Hticket`]: when to take it, how it works, and its code.

use std::cell::Cell;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, Ordering};

use crate::domains::Domains;
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};
use crate::ticket::Ticket;

/// Tickets for each domain and one line of tickets for all: the first of a domain draws there for those behind it.
///
/// Take it to compare, on machines with several clusters where each thread has a CPU; `hmcs` has the same aim and writes fewer
/// lines that many poll. Not on a machine of one domain, and not with more threads than CPUs. It must be made for the
/// domains of the machine ([`Setup::domains`]): by default there is one.
///
/// An unlock hands over within its domain, if somebody waits there and that did not happen [`Setup::hand_overs`] times in
/// turn. A try draws the ticket of all alone.
///
/// It is built with the feature `hierarchical` only: locks that are handed over within a domain in this way are described in US
/// patent 8,694,706. Whether that concerns you is a question for a lawyer.
///
/// **Progress:** blocking, first in first out within a domain, and among domains. **Memory ordering:** that of [`RawLock`].
/// Source: T. David, R. Guerraoui, V. Trigonakis, Everything You Always Wanted to Know About Synchronization but Were
/// Afraid to Ask, 2013; D. Dice, V. Marathe, N. Shavit, Lock Cohorting, 2012.
#[derive(Debug)]
pub struct Hticket {
    all: CacheLine<Ticket>,
    near: Box<[CacheLine<Near>]>,
    domains: Domains,
    /// How often in turn it is handed over within a domain at most.
    hand_overs: u32,
}

/// The tickets of a domain.
#[derive(Debug)]
struct Near {
    ticket: Ticket,
    /// How often in turn it was handed over here: then the thread called here has the ticket of all, too. Read and written by the
    /// thread that is called.
    turn: AtomicU32,
}

impl Near {
    fn turn(&self) -> u32 {
        // ORDERING: Relaxed, the ticket lets one thread at a time come here
        self.turn.load(Ordering::Relaxed)
    }

    fn set_turn(&self, turn: u32) {
        // ORDERING: Relaxed, as in turn
        self.turn.store(turn, Ordering::Relaxed);
    }
}

// SAFETY: the thread with the ticket of all holds the lock, and a domain's holders have it one after another.
unsafe impl RawLock for Hticket {
    /// The domain in which a ticket was drawn; `None` for a try.
    type Node = Cell<Option<usize>>;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "hticket",
        about: "tickets of each domain and of all, handed over within a domain for a while",
        order: AcquisitionOrder::Bounded,
        node: NodeKind::Value,
        parks: false,
        source: "David, Guerraoui, Trigonakis 2013; Dice, Marathe, Shavit 2012",
    };

    fn new(setup: &Setup) -> Self {
        let near = |_| CacheLine::new(Near { ticket: Ticket::new(setup), turn: AtomicU32::new(0) });
        Self {
            all: CacheLine::new(Ticket::new(setup)),
            near: (0..setup.domains.count()).map(near).collect(),
            domains: setup.domains.clone(),
            hand_overs: setup.hand_overs,
        }
    }

    #[inline]
    unsafe fn lock(&self, node: &Cell<Option<usize>>) {
        let domain = self.domains.here();
        let near = &self.near[domain];
        // SAFETY: there is no node.
        unsafe { near.ticket.lock(&()) };
        if near.turn() == 0 {
            // SAFETY: there is no node.
            unsafe { self.all.lock(&()) };
        }
        node.set(Some(domain));
    }

    #[inline]
    unsafe fn try_lock(&self, node: &Cell<Option<usize>>) -> bool {
        node.set(None);
        // SAFETY: there is no node.
        unsafe { self.all.try_lock(&()) }
    }

    #[inline]
    unsafe fn unlock(&self, node: &Cell<Option<usize>>) {
        let near = node.get().map(|domain| &self.near[domain]);
        let turn = near.map_or(u32::MAX, |near| near.turn());
        let stays = turn < self.hand_overs && near.is_some_and(|near| near.ticket.is_awaited());
        if let Some(near) = near {
            near.set_turn(if stays { turn + 1 } else { 0 });
        }
        if !stays {
            // SAFETY: the holder has the ticket of all.
            unsafe { self.all.unlock(&()) };
        }
        if let Some(near) = near {
            // SAFETY: drawn in lock.
            unsafe { near.ticket.unlock(&()) };
        }
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Hticket {}

// SAFETY: the node is a number that only its owner reads.
unsafe impl NodeMoves for Hticket {}
