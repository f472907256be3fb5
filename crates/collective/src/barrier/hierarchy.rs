//! Level by level, from the nearest members to the whole machine: members store, leaders scan, and release in turn.
//!
//! The levels follow from the costs of messages (siblings on a core, a shared cache, a node, a socket), so a line crosses
//! each border once on the way up and once on the way down. Take it on machines of many levels. Where the costs show no
//! levels, it is the flat barrier.
//!
//! Source: XHC (open-mpi/ompi `ompi/mca/coll/xhc`; G. Katevenis et al., ICPP 2023), with levels from costs.

use corecast_base::ArenaError;

use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Hierarchy(Gathering);

impl Family for Hierarchy {
    const NAME: &'static str = "hierarchy";
    const ABOUT: &'static str = "leaders scan and release their members, level by level of the machine";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self(Gathering::of(&groups(setup.members, &setup.levels), site)?))
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let groups = groups(setup.members, &setup.levels);
        let mut times = Times::of(setup.problem);
        times.gather(&groups);
        times.release(&groups);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.0.wait(core)
    }
}

/// The groups of each level, and at last one of all: its members are the leaders of the level before, and the first member
/// of each cluster leads it.
fn groups(members: usize, levels: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut standing: Vec<usize> = (0..members).collect();
    let mut groups = Vec::new();
    for level in levels.iter().chain([&vec![0; members]]) {
        let mut clusters = vec![Vec::new(); members];
        standing.iter().for_each(|&member| clusters[level[member] as usize].push(member));
        standing = clusters.iter().filter_map(|cluster| cluster.first().copied()).collect();
        groups.extend(clusters.into_iter().filter(|cluster| cluster.len() > 1));
    }
    groups
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn leaders_of_a_level_are_the_members_of_the_next() {
        let levels = [vec![0, 0, 1, 1, 2, 2, 3], vec![0, 0, 0, 0, 1, 1, 1]];
        let expected: [&[usize]; 6] = [&[0, 1], &[2, 3], &[4, 5], &[0, 2], &[4, 6], &[0, 4]];
        assert_eq!(groups(7, &levels), expected);
        assert_eq!(groups(3, &[]), [[0, 1, 2]]);
        assert!(groups(1, &[]).is_empty());
    }

    #[test]
    fn levels_that_do_not_nest_are_no_trouble() {
        let levels = [vec![0, 0, 1, 1], vec![0, 1, 1, 0]];
        assert_eq!(groups(4, &levels), [[0, 1], [2, 3], [0, 2]]);
    }
}
