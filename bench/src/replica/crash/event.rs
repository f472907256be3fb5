//! The blows to the nodes of a group: some of them are killed or stopped at the same time.

use std::time::Duration;

use super::child::Roles;

/// The places at which a process kills itself: see `corecast_replica::crash_point`. Those on the way of each command are
/// passed many times.
const PLACES: [(&str, u64); 19] = [
    ("proposals-written", 2000),
    ("proposed", 2000),
    ("slot-written", 2000),
    ("epoch-checked", 2000),
    ("committed", 2000),
    ("visible-raised", 2000),
    ("applied", 2000),
    ("before-reply", 400),
    ("chosen-half", 2),
    ("cell-filled", 2),
    ("configuration-won", 2),
    ("adopt-half", 2),
    ("request-pushed", 500),
    ("gift-begun", 2),
    ("gift-filled", 2),
    ("segment-published", 2),
    ("state-taken", 1),
    ("slot-claimed", 1),
    ("relayed", 1000),
];

/// Those of a process that joins a group over messages. Later ones would take a role with them at any time.
const PLACES_OF_MESSAGES: [(&str, u64); 3] = [("net-claimed", 1), ("net-announced", 1), ("net-taken", 1)];

/// Those of a node with files.
const PLACES_OF_FILES: [(&str, u64); 6] = [
    ("wal-written", 500),
    ("wal-synced", 200),
    ("snapshot-written", 4),
    ("before-rename", 5),
    ("after-rename", 5),
    ("before-remove", 4),
];

/// Where a process can kill itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) is_by_messages: bool,
    /// Whether the group keeps files. All of its nodes may die then.
    pub(super) has_files: bool,
}

impl Places {
    fn all(self) -> Vec<(&'static str, u64)> {
        let medium: &[_] = if self.is_by_messages { &PLACES_OF_MESSAGES } else { &PLACES };
        let files: &[_] = if self.has_files && !self.is_by_messages { &PLACES_OF_FILES } else { &[] };
        [medium, files].concat()
    }
}

/// The nodes that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Leader,
    Acceptor,
    Both,
    Any,
    AllButOne,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) target: Target,
    /// How long the nodes are stopped; `None` to kill them.
    pub(super) stop: Option<Duration>,
}

impl Event {
    /// All kinds of events, in the order of a report.
    pub(super) const NAMES: [&str; 11] = [
        "leader killed",
        "acceptor killed",
        "leader and acceptor killed",
        "any node killed",
        "all nodes but one killed",
        "leader stopped",
        "acceptor stopped",
        "leader and acceptor stopped",
        "any node stopped",
        "all nodes but one stopped",
        "all nodes killed",
    ];

    /// The place there of the death of all, after which the group is made anew from its files.
    pub(super) const ALL_KILLED: usize = Self::NAMES.len() - 1;

    /// Draws one.
    pub(super) fn draw(random: &mut fastrand::Rng) -> Self {
        let target = match random.u8(..100) {
            0..25 => Target::Leader,
            25..50 => Target::Acceptor,
            50..65 => Target::Both,
            65..85 => Target::Any,
            _ => Target::AllButOne,
        };
        let is_stop = random.u8(..100) < 40;
        // As often below a few milliseconds, where nobody may notice, as far above.
        let stop = is_stop.then(|| Duration::from_micros(500 << random.u32(..10)).mul_f64(random.f64() + 0.5));
        Self { target, stop }
    }

    /// The same for one node: what a group over messages survives.
    pub(super) fn of_one(self) -> Self {
        let target = match self.target {
            Target::Both => Target::Acceptor,
            Target::AllButOne => Target::Any,
            target => target,
        };
        Self { target, ..self }
    }

    /// Its place in [`NAMES`](Self::NAMES).
    pub(super) fn number(self) -> usize {
        match (self.target, self.stop.is_some()) {
            (Target::Leader, false) => 0,
            (Target::Acceptor, false) => 1,
            (Target::Both, false) => 2,
            (Target::Any, false) => 3,
            (Target::AllButOne, false) => 4,
            (Target::Leader, true) => 5,
            (Target::Acceptor, true) => 6,
            (Target::Both, true) => 7,
            (Target::Any, true) => 8,
            (Target::AllButOne, true) => 9,
        }
    }

    /// Whether the node in this slot is to be hit; one that spares it survives anyway.
    pub(super) fn hits(self, slot: u16, roles: &Roles, any: u16) -> bool {
        match self.target {
            Target::Leader => slot == roles.leader,
            Target::Acceptor => slot == roles.acceptor,
            Target::Both => slot == roles.leader || slot == roles.acceptor,
            Target::Any => slot == any,
            Target::AllButOne => true,
        }
    }
}

/// The most bytes of memory that a new process may take for a file, for some of them: some have too few to join, others too few
/// to give their state. 0 for those that may take all there is.
pub(super) fn draw_room(random: &mut fastrand::Rng) -> u64 {
    if random.u8(..100) < 5 { (32 << 10) << random.u32(..8) } else { 0 }
}

/// Whether all nodes are killed now.
pub(super) fn draws_all(random: &mut fastrand::Rng) -> bool {
    random.u8(..100) < 8
}

/// A place at which a new process kills itself, for some of them.
pub(super) fn draw_place(random: &mut fastrand::Rng, places: Places) -> Option<String> {
    if random.u8(..100) >= 25 {
        return None;
    }
    let places = places.all();
    let (label, most) = places[random.usize(..places.len())];
    Some(format!("{label}:{}", random.u64(1..=most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_event_is_drawn() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut drawn = [0; Event::NAMES.len()];
        for _ in 0..2000 {
            drawn[Event::draw(&mut random).number()] += 1;
        }
        assert!(drawn[..Event::ALL_KILLED].iter().all(|&count| count > 20), "{drawn:?}");
        assert!((0..100).any(|_| draws_all(&mut random)) && !(0..100).all(|_| draws_all(&mut random)));
        let mut drawn = |is_by_messages, has_files| {
            let places = Places { is_by_messages, has_files };
            let drawn: Vec<String> = (0..2000).filter_map(|_| draw_place(&mut random, places)).collect();
            ["committed:", "wal-synced:", "net-taken:"].map(|label| drawn.iter().any(|place| place.starts_with(label)))
        };
        assert_eq!(drawn(false, false), [true, false, false]);
        assert_eq!(drawn(false, true), [true, true, false]);
        assert_eq!(drawn(true, true), [false, false, true]);
        let rooms: std::collections::BTreeSet<u64> = (0..2000).map(|_| draw_room(&mut random)).collect();
        assert!(rooms.len() > 5 && rooms.contains(&0) && !rooms.contains(&1), "{rooms:?}");
    }
}
