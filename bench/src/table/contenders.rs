//! The tables to race: SSYNC's with every lock of the registry, corecast's own, servers, and what people use today.

use corecast::lock::{Algorithm, Auto, Tas, Ticket, for_each_lock};

use super::host::{Host, Setting};
use super::locked::Locked;
use super::messages::Messages;
use super::packed::Packed;
use super::play::{Turn, check, turn};
use super::rivals::{Dashmap, Papaya, Rival, Scc, Std};
use crate::failure::Failure;

/// Whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// SSYNC's table with a lock of the registry, or corecast's.
    Lock,
    /// corecast's channels.
    Messages,
    /// Another project's.
    Rival,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Threads that serve the others, of so many.
    pub(super) servers: fn(usize) -> usize,
    /// Whether it does what a table has to.
    pub(super) check: fn(&Setting<'_>) -> Result<(), Failure>,
    /// One block.
    pub(super) turn: fn(&Setting<'_>) -> Result<Turn, Failure>,
}

fn contender<H: Host>(name: &'static str, kind: Kind) -> Contender {
    Contender { name, kind, servers: H::servers, check: check::<H>, turn: turn::<H> }
}

/// All of them.
pub(super) fn contenders() -> Vec<Contender> {
    let mut all = Vec::new();
    macro_rules! ours {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            $(all.push(contender::<Locked<$lock>>(Algorithm::$variant.name(), Kind::Lock));)*
        };
    }
    for_each_lock!(ours);
    all.push(contender::<Packed<Tas>>("packed-tas", Kind::Lock));
    all.push(contender::<Packed<Ticket>>("packed-ticket", Kind::Lock));
    all.push(contender::<Packed<Auto>>("packed-auto", Kind::Lock));
    all.push(contender::<Messages>("messages", Kind::Messages));
    all.push(contender::<Rival<Dashmap>>("dashmap", Kind::Rival));
    all.push(contender::<Rival<Papaya>>("papaya", Kind::Rival));
    all.push(contender::<Rival<Scc>>("scc", Kind::Rival));
    all.push(contender::<Rival<Std>>("std", Kind::Rival));
    all
}
