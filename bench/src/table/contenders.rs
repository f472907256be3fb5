//! The tables to race: SSYNC's with every lock of the registry, corecast's own, servers, and what people use today.

use corecast::lock::{Algorithm, Auto, Clh, Mcs, RwPhase, RwSpread, RwTtas, Tas, Ticket, for_each_lock};

use super::batched::Batched;
use super::combined::Combined;
use super::confined::Confined;
use super::delegated::Delegated;
use super::host::{Host, Setting};
use super::locked::{Locked, Misaligned};
use super::messages::{Bare, Messages};
use super::original::{self, NAMES};
use super::packed::Packed;
use super::planned::Planned;
use super::play::{Turn, check, turn};
use super::processes;
use super::pthread::PthreadLocked;
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

/// The races that have a contender which nobody named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Races {
    All,
    /// Those that are not quick: it was not in the paper.
    Unhurried,
    /// Those that ask what it costs that nodes do not begin on a line.
    Misaligned,
    /// Those that have the paper's program.
    Original,
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Where it runs if none is named.
    pub(super) races: Races,
    /// One of this number of participants is a server, where the setting's number does not hold.
    pub(super) every: Option<usize>,
    /// Threads that serve the others.
    pub(super) servers: fn(&Setting<'_>) -> usize,
    /// Whether it does what a table has to.
    pub(super) check: fn(&Setting<'_>) -> Result<(), Failure>,
    /// One block.
    pub(super) turn: fn(&Setting<'_>) -> Result<Turn, Failure>,
}

impl Contender {
    /// The setting as it is for this one.
    pub(super) fn adapted<'a>(&self, setting: &Setting<'a>) -> Setting<'a> {
        Setting { every: self.every.unwrap_or(setting.every), ..setting.clone() }
    }

    /// The name, with the share of servers where it is not the first of those asked for.
    pub(super) fn label(&self) -> String {
        self.every.map_or_else(|| self.name.to_owned(), |every| format!("{}/{every}", self.name))
    }
}

/// A block of one.
type TurnOf = fn(&Setting<'_>) -> Result<Turn, Failure>;

/// The paper's program with each lock.
const ORIGINALS: [TurnOf; 4] = [original::turn::<0>, original::turn::<1>, original::turn::<2>, original::turn::<3>];

fn contender<H: Host>(name: &'static str, kind: Kind) -> Contender {
    Contender { name, kind, races: Races::All, every: None, servers: H::servers, check: check::<H>, turn: turn::<H> }
}

/// One that was not in the paper: only a race that is not quick has it, or one that names it.
fn unhurried<H: Host>(name: &'static str, kind: Kind) -> Contender {
    Contender { races: Races::Unhurried, ..contender::<H>(name, kind) }
}

/// One whose nodes do not begin on a line.
fn misaligned<H: Host>(name: &'static str) -> Contender {
    Contender { races: Races::Misaligned, ..contender::<H>(name, Kind::Ours) }
}

/// Each of them, and those with servers once more for each further share of servers.
pub(super) fn with_shares(contenders: Vec<Contender>, every: &[usize], usual: &Setting<'_>) -> Vec<Contender> {
    let further = every.get(1..).unwrap_or_default();
    let with_its_shares = |contender: Contender| {
        let is_served = (contender.servers)(usual) > 0;
        let shares = further.iter().filter(move |_| is_served);
        [contender].into_iter().chain(shares.map(move |&every| Contender { every: Some(every), ..contender }))
    };
    contenders.into_iter().flat_map(with_its_shares).collect()
}

/// The program of the paper, with each of its locks.
fn originals() -> impl Iterator<Item = Contender> {
    NAMES.into_iter().zip(ORIGINALS).map(|(name, turn)| {
        let (kind, races, servers, check) = (Kind::Rival, Races::Original, |_: &Setting<'_>| 0, original::check);
        Contender { name, kind, races, every: None, servers, check, turn }
    })
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
    all.push(contender::<PthreadLocked>("pthread", Kind::Rival));
    all.push(misaligned::<Locked<Tas, Misaligned>>("misaligned-tas"));
    all.push(misaligned::<Locked<Ticket, Misaligned>>("misaligned-ticket"));
    all.push(misaligned::<Locked<Mcs, Misaligned>>("misaligned-mcs"));
    all.push(misaligned::<Locked<Clh, Misaligned>>("misaligned-clh"));
    all.push(misaligned::<Locked<Auto, Misaligned>>("misaligned-auto"));
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
    all.push(contender::<Messages<Bare>>("msg-server", Kind::Ours));
    all.push(unhurried::<Batched>("messages-batched", Kind::Ours));
    all.push(unhurried::<Planned<Messages>>("messages-planned", Kind::Ours));
    let (check, turn) = (processes::check, processes::turn);
    all.push(Contender { check, turn, ..unhurried::<Messages>("messages-processes", Kind::Ours) });
    all.extend(originals());
    all.push(contender::<Rival<Dashmap>>("dashmap", Kind::Rival));
    all.push(contender::<Rival<Papaya>>("papaya", Kind::Rival));
    all.push(contender::<Rival<Scc>>("scc", Kind::Rival));
    all.push(contender::<Rival<Std>>("std", Kind::Rival));
    all.push(contender::<Rival<StdSharded>>("std-sharded", Kind::Rival));
    all
}
