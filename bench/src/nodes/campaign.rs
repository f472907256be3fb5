//! The deaths of a run: their kind, the next victim of a launch, its name in the words of the others, and the survivors.

use std::thread::available_parallelism;

use serde::Serialize;

use super::library::Library;
use super::work::{DeathAt, DeathPlace, NodesShape, Told};

/// The pass of a place at which a leader dies: behind the launch's first operations, so that the processes are known by then. An
/// operation takes some microseconds, and the processes are looked for every millisecond.
const PASSES: std::ops::Range<u64> = 5000..10_000;
/// The same where members share CPUs. An operation takes several switches of processes there, and milliseconds beside
/// foreign load.
const PASSES_CROWDED: std::ops::Range<u64> = 500..1000;

/// The victim of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// A member that does not lead its node.
    Member,
    /// The leader of a node.
    Leader,
    /// All processes of a host.
    Host,
}

/// How and how often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Campaign {
    pub(super) victim: Victim,
    /// The place of a leader's death; at any time if `None`.
    pub(super) place: Option<DeathPlace>,
    /// Nested, or ranks: the members of one process die together.
    pub(super) shape: NodesShape,
    pub(super) hosts: usize,
    pub(super) members: usize,
    /// The members of each host that share slices until the first death.
    pub(super) lanes: usize,
    pub(super) runs: usize,
}

impl Campaign {
    /// True if each member is a process of MPI.
    fn is_of_ranks(self) -> bool {
        self.shape != NodesShape::Nested
    }

    /// The launcher of Open MPI 5 ends the job when one of its daemons dies, so a host that is lost with its daemon ends every
    /// job.
    pub(super) fn is_survivable(self, library: &Library) -> bool {
        match self.victim {
            Victim::Member if !self.is_of_ranks() => true,
            Victim::Member | Victim::Leader => library.survives(),
            Victim::Host => false,
        }
    }

    /// The most deaths of one launch.
    pub(super) fn deaths_of_launch(self, is_survivable: bool) -> usize {
        match self.victim {
            _ if self.place.is_some() || !is_survivable => 1,
            Victim::Member => self.hosts * (self.members - 1),
            // Another rank leads the node then.
            Victim::Leader if self.is_of_ranks() => (self.hosts * self.members - 1).max(1),
            Victim::Leader => (self.hosts - 1).max(1),
            Victim::Host => 1,
        }
    }

    /// True if this rank is the lowest of its node among those that live.
    pub(super) fn leads(self, rank: usize, living: &[usize]) -> bool {
        living.iter().find(|&other| other / self.members == rank / self.members) == Some(&rank)
    }

    /// The number of a rank's node among those of the ranks that live.
    fn node_of(self, rank: usize, living: &[usize]) -> usize {
        let mut nodes: Vec<usize> = living.iter().map(|rank| rank / self.members).collect();
        nodes.dedup();
        nodes.partition_point(|&node| node < rank / self.members)
    }

    /// True if a survivor was told the right name of a victim, that of the rank or of the node in the group that it died in.
    pub(super) fn is_named(self, told: &Told, survivor: usize, (victim, living): (usize, &[usize])) -> bool {
        let names_rank = told.named.and_then(|rank| living.get(rank)) == Some(&victim);
        let names_node = told.node == Some(self.node_of(victim, living));
        let is_near = survivor / self.members == victim / self.members;
        match self.victim {
            Victim::Member => names_rank,
            // MPI knows leaders only, and tells other nodes of a node without one.
            Victim::Leader if self.is_of_ranks() => names_rank || (told.named.is_none() && names_node && !is_near),
            Victim::Leader | Victim::Host => names_node,
        }
    }

    /// The next victim among the ranks that live.
    pub(super) fn draw(self, living: &[usize], random: &mut fastrand::Rng) -> usize {
        let wants_leader = self.victim != Victim::Member;
        let is_meant = |&rank: &usize| self.leads(rank, living) == wants_leader;
        let victims: Vec<usize> = living.iter().copied().filter(is_meant).collect();
        victims[random.usize(..victims.len())]
    }

    /// The host and the pass at which the place of a launch's only death is passed, if deaths have one.
    pub(super) fn draw_place(self, random: &mut fastrand::Rng) -> Option<DeathAt> {
        let place = self.place?;
        let is_crowded = available_parallelism().is_ok_and(|cpus| self.hosts * self.members > cpus.get());
        let passes = if is_crowded { PASSES_CROWDED } else { PASSES };
        Some(DeathAt { host: random.usize(..self.hosts), place, pass: random.u64(passes) })
    }

    /// The ranks that a death leaves.
    pub(super) fn survivors(self, living: &[usize], victim: usize) -> Vec<usize> {
        let lives = |rank: usize| match self.victim {
            Victim::Member => rank != victim,
            Victim::Leader if self.is_of_ranks() => rank != victim,
            // Processes that `corecast run` has started are lost with their leader.
            Victim::Leader | Victim::Host => rank / self.members != victim / self.members,
        };
        living.iter().copied().filter(|&rank| lives(rank)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMPAIGN: Campaign = Campaign {
        victim: Victim::Leader,
        place: None,
        shape: NodesShape::Nested,
        hosts: 4,
        members: 2,
        lanes: 1,
        runs: 1,
    };
    const RANKS: Campaign = Campaign { shape: NodesShape::Ranks, ..CAMPAIGN };

    fn told(named: Option<usize>, node: usize) -> Told {
        Told { at_ns: 0, named, node: Some(node), words: String::new() }
    }

    #[test]
    fn nodes_are_named_by_their_number_in_the_group_that_they_die_in() {
        let living = [0, 1, 4, 5, 6, 7];
        assert_eq!([0, 4, 6].map(|rank| CAMPAIGN.node_of(rank, &living)), [0, 1, 2]);
        assert_eq!(CAMPAIGN.survivors(&living, 4), [0, 1, 6, 7]);
        assert!(CAMPAIGN.is_named(&told(None, 1), 0, (4, &living)));
        assert!(!CAMPAIGN.is_named(&told(None, 2), 0, (4, &living)));
    }

    #[test]
    fn leaders_die_until_one_is_left_where_that_can_be_survived() {
        assert_eq!([true, false].map(|is_survivable| CAMPAIGN.deaths_of_launch(is_survivable)), [3, 1]);
        assert_eq!([true, false].map(|is_survivable| RANKS.deaths_of_launch(is_survivable)), [7, 1]);
        let members = Campaign { victim: Victim::Member, ..CAMPAIGN };
        assert_eq!(members.deaths_of_launch(true), 4);
        let at_place = Campaign { place: Some(DeathPlace::Started), ..CAMPAIGN };
        assert_eq!(at_place.deaths_of_launch(true), 1, "the place is known before the launch");
    }

    #[test]
    fn the_lowest_rank_that_lives_leads_its_node() {
        let living = [0, 1, 3, 4, 5];
        assert_eq!(living.map(|rank| RANKS.leads(rank, &living)), [true, false, true, true, false]);
        let mut random = fastrand::Rng::with_seed(1);
        assert!((0..100).all(|_| [0, 3, 4].contains(&RANKS.draw(&living, &mut random))));
        let members = Campaign { victim: Victim::Member, ..RANKS };
        assert!((0..100).all(|_| [1, 5].contains(&members.draw(&living, &mut random))));
        assert_eq!(RANKS.survivors(&living, 4), [0, 1, 3, 5], "the other rank of its node goes on");
    }

    #[test]
    fn a_rank_that_led_is_named_by_its_own_node_and_its_node_by_others() {
        let living = [0, 1, 3, 4, 5];
        let heard = |told: &Told, survivor| RANKS.is_named(told, survivor, (4, &living));
        assert_eq!([5, 0].map(|survivor| heard(&told(Some(3), 2), survivor)), [true, true]);
        assert_eq!([5, 0].map(|survivor| heard(&told(None, 2), survivor)), [false, true]);
        assert_eq!([5, 0].map(|survivor| heard(&told(Some(4), 2), survivor)), [false, false], "another rank");
        assert_eq!([5, 0].map(|survivor| heard(&told(None, 1), survivor)), [false, false], "another node");
    }
}
