//! Routes: the members to which each member passes events, by rank.
//!
//! An edge is *early* if events leave along it as they come, and *late* if they leave when the member has them from all its
//! neighbours and is done with them. The root publishes along early edges. In a tree events go down along early edges and
//! acknowledgements up along late ones; in a ring all edges but the root's are late.

use std::sync::{Arc, Mutex};

use corecast_plan::Problem;
use corecast_plan::diamond::{Diamond, place_along};

use super::config::{AckConfig, AckTuning, Variant};

/// One end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge {
    /// The member at the other end.
    pub(super) peer: usize,
    /// The edge's number among all.
    pub(super) number: usize,
    /// The edge's number among those into its receiver.
    pub(super) inlet: usize,
    /// Whether it is late.
    pub(super) is_late: bool,
    /// Whether it brings the event itself, and not only the news that all members behind it have it.
    pub(super) carries: bool,
}

/// One member's edges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Neighbours {
    /// Into the member; those that carry events first.
    pub(super) inlets: Vec<Edge>,
    /// Out of it, early.
    pub(super) early: Vec<Edge>,
    /// Out of it, late.
    pub(super) late: Vec<Edge>,
}

/// All edges of a broadcast.
#[derive(Debug)]
pub(super) struct Route {
    /// By rank.
    pub(super) members: Vec<Neighbours>,
    /// The number of edges.
    pub(super) edges: usize,
}

/// An edge between two nodes, before members are assigned to them.
struct Link {
    from: usize,
    to: usize,
    is_late: bool,
    carries: bool,
}

impl Neighbours {
    /// Those that carry events into the member.
    pub(super) fn carriers(&self) -> &[Edge] {
        let count = self.inlets.iter().take_while(|edge| edge.carries).count();
        &self.inlets[..count]
    }

    /// Those out of it, early or late.
    #[inline(always)]
    pub(super) fn out(&self, is_late: bool) -> &[Edge] {
        if is_late { &self.late } else { &self.early }
    }
}

impl Route {
    /// The edges of this broadcast among the members of `problem`.
    ///
    /// # Panics
    /// If the configuration has not been checked, or there is no such root.
    pub(super) fn new(config: &AckConfig, problem: &Problem) -> Self {
        let nodes = problem.len();
        let AckTuning { arity, companion, .. } = config.tuning;
        let (links, walk) = match config.tuning.choice().0 {
            Variant::Tree => (tree_links(nodes, arity), tree_walk(nodes, arity)),
            _ => {
                let ring = if companion { Diamond::with_companion } else { Diamond::new };
                let ring = ring(nodes, arity).expect("the arity was checked, and groups are no larger than rings");
                (ring_links(&ring), ring.depth_first())
            }
        };
        Self::of_links(&links, &place_along(&walk, problem, config.root))
    }

    /// These edges, between the members at the nodes.
    fn of_links(links: &[Link], members: &[usize]) -> Self {
        let mut all = vec![Neighbours::default(); members.len()];
        let by_cargo = |carries: bool| links.iter().enumerate().filter(move |(_, link)| link.carries == carries);
        // In this order, so that every member's inlets begin with those that carry events.
        for (number, link) in by_cargo(true).chain(by_cargo(false)) {
            let (from, to) = (members[link.from], members[link.to]);
            let inlet = all[to].inlets.len();
            let edge = Edge { peer: from, number, inlet, is_late: link.is_late, carries: link.carries };
            all[to].inlets.push(edge);
            let out = Edge { peer: to, ..edge };
            if link.is_late { all[from].late.push(out) } else { all[from].early.push(out) }
        }
        Self { members: all, edges: links.len() }
    }
}

fn ring_links(ring: &Diamond) -> Vec<Link> {
    let links_of = |from| {
        ring.successors(from).into_iter().map(move |edge| Link {
            from,
            to: edge.to,
            is_late: from != 0,
            carries: edge.to != 0,
        })
    };
    (0..ring.nodes()).flat_map(links_of).collect()
}

/// The nodes of a balanced tree are numbered level by level.
fn tree_links(nodes: usize, arity: usize) -> Vec<Link> {
    let both_ways = |child: usize| {
        let parent = (child - 1) / arity;
        [
            Link { from: parent, to: child, is_late: false, carries: true },
            Link { from: child, to: parent, is_late: true, carries: false },
        ]
    };
    (1..nodes).flat_map(both_ways).collect()
}

/// The nodes of a balanced tree, depth first.
fn tree_walk(nodes: usize, arity: usize) -> Vec<usize> {
    let mut walk = Vec::with_capacity(nodes);
    let mut left = vec![0];
    while let Some(node) = left.pop() {
        walk.push(node);
        left.extend((arity * node + 1..=arity * node + arity).rev().filter(|&child| child < nodes));
    }
    walk
}

/// The routes that members of one group in this process have worked out. Later members take the first one's: dealing out
/// members by nearness takes time that grows with the square of their number.
#[derive(Debug)]
pub(crate) struct Routes {
    problem: Arc<Problem>,
    known: Mutex<Vec<(AckConfig, Arc<Route>)>>,
}

/// Routes kept: members of one group work with one configuration at a time.
const KEPT: usize = 4;

impl Routes {
    pub(crate) fn new(problem: Arc<Problem>) -> Self {
        Self { problem, known: Mutex::new(Vec::new()) }
    }

    /// The route of this configuration.
    pub(super) fn of(&self, config: &AckConfig) -> Arc<Route> {
        let mut known = self.known.lock().expect("nobody panics while working out a route that was checked");
        if let Some((_, route)) = known.iter().find(|(of, _)| of == config) {
            return Arc::clone(route);
        }
        let route = Arc::new(Route::new(config, &self.problem));
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push((*config, Arc::clone(&route)));
        route
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    fn route(members: u32, config: AckConfig) -> Route {
        let cpus = (0..members).map(|id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        Route::new(&config, &Problem::of_machine(&machine).expect("CPUs"))
    }

    fn tree() -> AckTuning {
        AckTuning { variant: Variant::Tree, ..AckTuning::default() }
    }

    fn configs() -> impl Iterator<Item = AckConfig> {
        let ring = |companion| AckTuning { companion, ..AckTuning::default() };
        let all = [ring(false), ring(true), tree()];
        (1..=4).flat_map(move |arity| all.map(|tuning| AckConfig::default().tuning(AckTuning { arity, ..tuning })))
    }

    #[test]
    fn both_ends_of_an_edge_know_it() {
        for (members, config) in (1..=24).flat_map(|members| configs().map(move |config| (members, config))) {
            let route = route(members, AckConfig { root: members as usize / 2, ..config });
            let mut seen = vec![0; route.edges];
            for (rank, own) in route.members.iter().enumerate() {
                for (inlet, edge) in own.inlets.iter().enumerate() {
                    let theirs = &route.members[edge.peer];
                    let out = if edge.is_late { &theirs.late } else { &theirs.early };
                    assert!(out.contains(&Edge { peer: rank, ..*edge }) && edge.inlet == inlet, "{members} {config:?}");
                    seen[edge.number] += 1;
                }
                let carriers = own.carriers();
                assert_eq!(own.inlets.iter().filter(|edge| edge.carries).count(), carriers.len());
                assert_eq!(carriers.is_empty(), rank == members as usize / 2, "all others are brought events");
            }
            assert!(seen.iter().all(|&ends| ends == 1));
        }
    }

    #[test]
    fn a_tree_takes_an_acknowledgement_for_every_event() {
        assert_eq!(route(93, AckConfig::default().tuning(tree())).edges, 184);
        assert_eq!(route(93, AckConfig::default()).edges, 124);
        assert_eq!(tree_walk(6, 2), [0, 1, 3, 4, 2, 5]);
    }
}
