//! The tables to race: SSYNC's with every lock of the registry, corecast's own, servers, and what people use today.

use corecast::lock::{Algorithm, Auto, Clh, RwPhase, RwSpread, RwTtas, Tas, Ticket, for_each_lock};

use super::combined::Combined;
use super::confined::Confined;
use super::deal;
use super::delegated::Delegated;
use super::host::{Host, Setting};
use super::locked::Locked;
use super::messages::Messages;
use super::packed::Packed;
use super::play::{Turn, check, turn};
use super::processes;
use super::readers::Readers;
use super::rivals::{Dashmap, Papaya, Rival, Scc, Std, StdSharded};
use super::sequenced::Sequenced;
use corecast_race::failure::Failure;

/// The origin of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// corecast's, or SSYNC's with what corecast offers: locks, readers, combining, servers.
    Ours,
    /// Another project's.
    Rival,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether it runs in a quick race where none is named.
    pub(super) is_quick: bool,
    /// Threads that serve the others.
    pub(super) servers: fn(&Setting<'_>) -> usize,
    /// Whether it does what a table has to.
    pub(super) check: fn(&Setting<'_>) -> Result<(), Failure>,
    /// One block.
    pub(super) turn: fn(&Setting<'_>) -> Result<Turn, Failure>,
}

fn contender<H: Host>(name: &'static str, kind: Kind) -> Contender {
    Contender { name, kind, is_quick: true, servers: H::servers, check: check::<H>, turn: turn::<H> }
}

/// One that was not in the paper: only a race that is not quick has it, or one that names it.
fn unhurried<H: Host>(name: &'static str, kind: Kind) -> Contender {
    Contender { is_quick: false, ..contender::<H>(name, kind) }
}

/// All of them.
pub(super) fn contenders() -> Vec<Contender> {
    let mut all = Vec::new();
    macro_rules! ours {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            $(all.push(contender::<Locked<$lock>>(Algorithm::$variant.name(), Kind::Ours));)*
        };
    }
    for_each_lock!(ours);
    all.push(contender::<Packed<Tas>>("packed-tas", Kind::Ours));
    all.push(unhurried::<Packed<Ticket>>("packed-ticket", Kind::Ours));
    all.push(contender::<Packed<Auto>>("packed-auto", Kind::Ours));
    all.push(unhurried::<Confined<Locked<Tas>>>("confined-tas", Kind::Ours));
    all.push(unhurried::<Confined<Locked<Ticket>>>("confined-ticket", Kind::Ours));
    all.push(unhurried::<Confined<Locked<Clh>>>("confined-clh", Kind::Ours));
    all.push(unhurried::<Readers<RwTtas>>("rw_ttas", Kind::Ours));
    all.push(unhurried::<Readers<RwPhase>>("rw_phase", Kind::Ours));
    all.push(unhurried::<Readers<RwSpread>>("rw_spread", Kind::Ours));
    all.push(unhurried::<Sequenced>("seq", Kind::Ours));
    all.push(unhurried::<Combined>("combined", Kind::Ours));
    all.push(unhurried::<Delegated>("delegated", Kind::Ours));
    all.push(contender::<Messages>("messages", Kind::Ours));
    let (servers, check, turn) = (deal::servers as fn(&Setting<'_>) -> usize, processes::check, processes::turn);
    all.push(Contender { name: "messages-processes", kind: Kind::Ours, is_quick: false, servers, check, turn });
    all.push(contender::<Rival<Dashmap>>("dashmap", Kind::Rival));
    all.push(contender::<Rival<Papaya>>("papaya", Kind::Rival));
    all.push(contender::<Rival<Scc>>("scc", Kind::Rival));
    all.push(contender::<Rival<Std>>("std", Kind::Rival));
    all.push(contender::<Rival<StdSharded>>("std-sharded", Kind::Rival));
    all
}
