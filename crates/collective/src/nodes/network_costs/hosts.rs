//! The leaders of each host: where a launcher has started several on each, the host is one node of the model, and they are its
//! lanes.

use super::leader_end::{LeaderEnd, words_of};
use crate::nodes::Fault;

/// The leaders of every host, in ascending order, hosts in the order of their first ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    leaders: Vec<Vec<usize>>,
}

impl Hosts {
    /// The hosts of leaders that tell what their host is; one that tells `None` has a host of its own.
    pub(super) fn of(told: &[Option<u64>]) -> Self {
        let mut hosts: Vec<(Option<u64>, Vec<usize>)> = Vec::new();
        for (leader, &host) in told.iter().enumerate() {
            match hosts.iter_mut().find(|(known, _)| host.is_some() && *known == host) {
                Some((_, leaders)) => leaders.push(leader),
                None => hosts.push((host, vec![leader])),
            }
        }
        Self { leaders: hosts.into_iter().map(|(_, leaders)| leaders).collect() }
    }

    /// Those of the leaders of an engine.
    pub(super) fn gathered(end: &mut LeaderEnd<'_>, own: Option<u64>) -> Result<Self, Fault> {
        let own = [u64::from(own.is_some()), own.unwrap_or(0)];
        let all = end.gather(&own.map(u64::to_le_bytes).concat())?;
        let all: Vec<u64> = words_of(&all).collect();
        let told: Vec<Option<u64>> = all.chunks_exact(2).map(|host| (host[0] == 1).then_some(host[1])).collect();
        Ok(Self::of(&told))
    }

    /// The number of hosts.
    pub(super) fn len(&self) -> usize {
        self.leaders.len()
    }

    /// The lanes that every host has.
    pub(super) fn lanes(&self) -> usize {
        self.leaders.iter().map(Vec::len).min().unwrap_or(1)
    }

    /// The host of a leader, and its lane there.
    pub(super) fn seat(&self, leader: usize) -> (usize, usize) {
        let lane = |leaders: &Vec<usize>| leaders.iter().position(|&other| other == leader);
        let seats = self.leaders.iter().enumerate();
        let mut seats = seats.filter_map(|(host, leaders)| Some((host, lane(leaders)?)));
        seats.next().expect("every leader has a host")
    }

    /// The leader of a host's lane.
    pub(super) fn leader(&self, host: usize, lane: usize) -> usize {
        self.leaders[host][lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_that_tell_the_same_share_a_host() {
        let dealt = Hosts::of(&[Some(7), Some(9), Some(7), Some(9), Some(7)]);
        assert_eq!((dealt.len(), dealt.lanes()), (2, 2));
        assert_eq!([0, 1, 2, 3, 4].map(|leader| dealt.seat(leader)), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]);
        assert_eq!([dealt.leader(0, 2), dealt.leader(1, 1)], [4, 3]);
        let own = Hosts::of(&[None, Some(0), None]);
        assert_eq!((own.len(), own.lanes(), own.seat(2)), (3, 1, (2, 0)));
    }
}
