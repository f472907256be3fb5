//! The memories to race: corecast's, with every manager and in every form, and what people have in their place.

use corecast::tm::structures::Search;
use corecast::tm::{Form, Manager, Values, Writes};

use super::host::{Session, Setting, With};
use super::ours;
use super::planned;
use super::processes;
use super::rivals::{itm, object_locks, one_lock, sequential, stm};
use super::variant::Variant;
use super::workload::{TmWorkload, Work};
use corecast_race::failure::Failure;

/// Whether a memory is raced at a work.
type IsFor = fn(Work) -> bool;

/// One of them.
pub(super) struct Contender {
    /// A name that no other has, such as `messages-fair-cm`.
    pub(super) name: String,
    /// `None` of what others offer.
    pub(super) variant: Option<Variant>,
    /// Where the sizes of the run say nothing: the workloads that it is raced at.
    pub(super) is_for: IsFor,
    /// Whether it is raced where many managers are.
    pub(super) is_manager_of_many: bool,
    pub(super) with: With,
    /// One of this number of participants is a server, where the setting's number does not hold.
    pub(super) every: Option<usize>,
}

/// The contender that keeps no data: the round trips of a transfer, and nothing else.
pub(super) const ROUND_TRIPS: &str = "messages-round-trips";

impl Contender {
    /// The setting as it is for this one.
    pub(super) fn adapted<'a>(&self, setting: &Setting<'a>) -> Setting<'a> {
        Setting { every: self.every.unwrap_or(setting.every), ..setting.clone() }
    }

    /// How many participants are servers.
    pub(super) fn servers(&self, setting: &Setting<'_>) -> usize {
        let is_served = self.variant.is_some_and(|variant| variant.form == Form::Messages);
        if is_served { setting.participants.div_ceil(Variant::every(&self.adapted(setting))) } else { 0 }
    }

    /// Whether it is asked by messages.
    pub(super) fn has_servers(&self) -> bool {
        self.variant.is_some_and(|variant| variant.form == Form::Messages)
    }

    /// Whether it has servers is settled when the memory is made.
    pub(super) fn chooses_form(&self) -> bool {
        self.variant.is_some_and(|variant| variant.form == Form::Auto)
    }

    /// The name, with the share of servers where it is not the first of those asked for.
    pub(super) fn label(&self) -> String {
        match self.every {
            None => self.name.clone(),
            Some(ALL) => format!("{}/all", self.name),
            Some(every) => format!("{}/{every}", self.name),
        }
    }

    /// Whether it has other servers than with the usual share of them.
    pub(super) fn has_share_of_its_own(&self, usual: usize, participants: usize) -> bool {
        let clamped = |every: usize| every.clamp(2, participants.max(2));
        self.every.is_none_or(|every| clamped(every) != clamped(usual))
    }
}

/// The share of servers that leaves one: of all participants one serves.
const ALL: usize = usize::MAX;

/// FairCM over messages with the most servers and with the fewest, at the bank of transfers only.
pub(super) fn other_shares() -> impl Iterator<Item = Contender> {
    let usual = Variant::of(Form::Messages, USUAL);
    [2, ALL].into_iter().map(move |every| {
        let with = Box::new(move |setting: &Setting<'_>, session: Session<'_>| ours::with(usual, setting, session));
        Contender { every: Some(every), ..own("messages-fair-cm", usual, is_transfers, with) }
    })
}

/// A bank without checks, readers and sums.
fn is_transfers(work: Work) -> bool {
    work.bank().is_some_and(|bank| (bank.checks_percent, bank.readers, bank.scans_percent) == (0, 0, 0))
}

/// The manager of those contenders that are about something else.
const USUAL: Manager = Manager::FairCm;

/// All of them; those with servers once for each share of servers.
pub(super) fn contenders(every: &[usize]) -> Vec<Contender> {
    let mut all = Vec::new();
    for form in [Form::Messages, Form::Shared] {
        for manager in Manager::ALL {
            let many = manager != USUAL;
            let is_for: IsFor = match (form, many) {
                (_, true) => |work| work.workload() == TmWorkload::Bank,
                (Form::Shared, _) => |work| work.workload() != TmWorkload::Mp,
                _ => |_| true,
            };
            push(&mut all, every, &format!("{form}-{manager}"), Variant::of(form, manager), (is_for, many));
        }
        let usual = Variant::of(form, USUAL);
        let is_list: IsFor = |work| work.workload() == TmWorkload::List;
        for search in [Search::EarlyRelease, Search::ReadValidation] {
            let name = format!("{form}-{}", search.name());
            push(&mut all, every, &name, Variant { search, ..usual }, (is_list, false));
        }
        let eager = Variant { writes: Writes::Eager, ..usual };
        let writes: IsFor = |work| work.workload() == TmWorkload::Writes;
        push(&mut all, every, &format!("{form}-eager"), eager, (writes, false));
        if form == Form::Messages {
            push(&mut all, every, "messages-single", Variant { is_batched: false, ..usual }, (writes, false));
            let at_servers = Variant { values: Values::AtServers, ..usual };
            let bank: IsFor = |work| work.workload() == TmWorkload::Bank;
            push(&mut all, every, "messages-at-servers", at_servers, (bank, false));
            all.push(round_trips(usual));
            let planned = move |setting: &Setting<'_>, session: Session<'_>| {
                planned::with(setting, session, |setting, session| ours::with(usual, setting, session))
            };
            all.push(own("messages-planned", usual, bank, Box::new(planned)));
        }
        push_processes(&mut all, usual);
    }
    let not_mp: IsFor = |work| work.workload() != TmWorkload::Mp;
    push(&mut all, every, "auto", Variant::of(Form::Auto, USUAL), (not_mp, false));
    all.extend(rivals());
    all
}

/// Participants that are processes; by messages also in planned places.
fn push_processes(all: &mut Vec<Contender>, variant: Variant) {
    let is_bank: IsFor = |work| work.workload() == TmWorkload::Bank;
    let name = format!("{}-processes", variant.form);
    let with = move |setting: &Setting<'_>, session: Session<'_>| processes::with(variant, setting, session);
    if variant.form == Form::Messages {
        let planned = move |setting: &Setting<'_>, session: Session<'_>| planned::with(setting, session, with);
        all.push(own(&format!("{name}-planned"), variant, is_bank, Box::new(planned)));
    }
    all.push(own(&name, variant, is_bank, Box::new(with)));
}

/// Clients with nothing but the round trips of a transfer, raced beside transfers: a machine whose messages take longer at one
/// time than at another does that to both.
fn round_trips(variant: Variant) -> Contender {
    let with = move |setting: &Setting<'_>, session: Session<'_>| ours::round_trips(variant, setting, session);
    own(ROUND_TRIPS, variant, is_transfers, Box::new(with))
}

/// A variant that is held in a way of its own.
fn own(name: &str, variant: Variant, is_for: IsFor, with: With) -> Contender {
    let (name, variant) = (name.to_owned(), Some(variant));
    Contender { name, variant, is_for, is_manager_of_many: false, with, every: None }
}

fn push(all: &mut Vec<Contender>, every: &[usize], name: &str, variant: Variant, (is_for, many): (IsFor, bool)) {
    let further = every.iter().skip(1).filter(|_| variant.form == Form::Messages).map(|&every| Some(every));
    for every in [None].into_iter().chain(further) {
        let with = Box::new(move |setting: &Setting<'_>, session: Session<'_>| ours::with(variant, setting, session));
        let (name, variant) = (name.to_owned(), Some(variant));
        all.push(Contender { name, variant, is_for, is_manager_of_many: many, with, every });
    }
}

/// A memory or locks that are not corecast's transactional memory.
type Rival = fn(&Setting<'_>, Session<'_>) -> Result<(), Failure>;

fn rivals() -> impl Iterator<Item = Contender> {
    let not_mp: IsFor = |work| work.workload() != TmWorkload::Mp;
    let bank: IsFor = |work| work.workload() == TmWorkload::Bank;
    let objects: IsFor = |work| matches!(work, Work::Bank(_) | Work::Table(_));
    let alone: IsFor = |work| {
        let is_read = work.bank().is_some_and(|bank| bank.readers > 0);
        work.workload() != TmWorkload::Mp && !is_read
    };
    // The crates have variables, and no such structures.
    let built: IsFor = |work| !matches!(work.workload(), TmWorkload::Mp | TmWorkload::Map | TmWorkload::Queue);
    let all: [(&str, Rival, IsFor); 6] = [
        ("one-lock", one_lock::with, not_mp),
        ("object-locks", object_locks::with, objects),
        ("sequential", sequential::with, alone),
        ("stm", stm::with::<stm::StmCore>, built),
        ("fast-stm", stm::with::<stm::FastStm>, built),
        ("libitm", itm::with, bank),
    ];
    all.into_iter().map(|(name, with, is_for)| Contender {
        name: name.to_owned(),
        variant: None,
        is_for,
        is_manager_of_many: false,
        with: Box::new(with),
        every: None,
    })
}
