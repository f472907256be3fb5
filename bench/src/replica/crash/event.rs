//! The blows to the nodes of a group: some of them are killed or stopped at the same time.

use std::time::Duration;

use super::child::Roles;

/// The places at which a process kills itself: see `corecast_replica::crash_point`. Those on the way of each command are
/// passed many times.
const PLACES: [(&str, u64); 17] = [
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
];

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
    pub(super) const NAMES: [&str; 10] = [
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
    ];

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

/// A place at which a new process kills itself, for some of them.
pub(super) fn draw_place(random: &mut fastrand::Rng) -> Option<String> {
    if random.u8(..100) >= 25 {
        return None;
    }
    let (label, most) = PLACES[random.usize(..PLACES.len())];
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
        assert!(drawn.iter().all(|&count| count > 20), "{drawn:?}");
        assert!((0..100).any(|_| draw_place(&mut random).is_some()));
        let rooms: std::collections::BTreeSet<u64> = (0..2000).map(|_| draw_room(&mut random)).collect();
        assert!(rooms.len() > 5 && rooms.contains(&0) && !rooms.contains(&1), "{rooms:?}");
    }
}
