//! Smelt's adaptive tree: remote nodes first and the most expensive first, built by simulating the broadcast.
//!
//! Whenever an informed core is idle, it chooses the next receiver: a core of its own NUMA node, or one of a node that
//! has received nothing yet. The most expensive of them goes first, because a far core should start early; into a
//! foreign node the message goes to the core there that is cheapest to send to, which will then tell the others. A core
//! that finds none is done for good. Two improvements apply to the finished tree, alone or together:
//! [`super::sort`] and [`super::shuffle`].
//!
//! Errata of the published Algorithm 1, settled by the original program's trees: both intersections are set
//! differences; a sender's own node must stay eligible; `r` is C_next; NODE_OF(C_next) means all cores of that node; an
//! empty candidate set retires the core.
//!
//! Source: Kaestle, Achermann, Haecki, Hoffmann, Ramos, Roscoe, Machine-Aware Atomic Broadcast Trees for Multicores,
//! OSDI 2016.

use super::root::cheapest_sender;
use super::shuffle::shuffle;
use super::sort::sort;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// The adaptive tree with or without its improvements.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    shuffles: bool,
    sorts: bool,
}

impl Adaptive {
    /// `adaptive`: as the simulation leaves it.
    pub const PLAIN: Self = Self { shuffles: false, sorts: false };
    /// `adaptive+sort`. In the original program `sort` without `shuffle` changes nothing; here it sorts once.
    pub const SORTED: Self = Self { shuffles: false, sorts: true };
    /// `adaptive+shuffle`.
    pub const SHUFFLED: Self = Self { shuffles: true, sorts: false };
    /// `adaptive+shuffle+sort`: the default of the original program.
    pub const SHUFFLED_AND_SORTED: Self = Self { shuffles: true, sorts: true };
}

impl Shape for Adaptive {
    fn name(&self) -> &'static str {
        match (self.shuffles, self.sorts) {
            (false, false) => "adaptive",
            (false, true) => "adaptive+sort",
            (true, false) => "adaptive+shuffle",
            (true, true) => "adaptive+shuffle+sort",
        }
    }

    fn about(&self) -> &'static str {
        match (self.shuffles, self.sorts) {
            (false, false) => "Smelt's tree: remote nodes first, dearest link first",
            (false, true) => "adaptive, then children with the slowest subtree first",
            (true, false) => "adaptive, then the last to arrive moves to a member that could reach it earlier",
            (true, true) => "adaptive with shuffle, sorting before each step: Smelt's default",
        }
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let root = root.unwrap_or_else(|| cheapest_sender(problem));
        assert!(root < problem.len(), "root {root} is not one of the {} members", problem.len());
        let mut tree = tree(root, Simulation::new(problem, root).run());
        match (self.shuffles, self.sorts) {
            (false, false) => {}
            (false, true) => sort(problem, &mut tree),
            (true, sorts) => shuffle(problem, &mut tree, sorts),
        }
        tree
    }
}

/// The broadcast under simulation.
struct Simulation<'a> {
    problem: &'a Problem,
    /// By rank: when an informed member, or one being informed, is free to send. `None` once it has retired.
    idle_at: Vec<Option<f64>>,
    /// By rank: informed, or a message is on its way.
    is_told: Vec<bool>,
    /// By place in `nodes`: some member of the node is told.
    is_entered: Vec<bool>,
    /// By rank: the place of its node in `nodes`.
    node_of: Vec<usize>,
    /// The members that are not told, by ascending NUMA node, ascending by rank in each.
    untold: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl<'a> Simulation<'a> {
    fn new(problem: &'a Problem, root: usize) -> Self {
        let mut nodes: Vec<u32> = problem.numa_listing().iter().map(|&member| problem.numa(member)).collect();
        nodes.dedup();
        let place = |member| nodes.binary_search(&problem.numa(member)).expect("the listing has every node, ascending");
        let mut simulation = Self {
            problem,
            idle_at: vec![None; problem.len()],
            is_told: vec![false; problem.len()],
            is_entered: vec![false; nodes.len()],
            node_of: (0..problem.len()).map(place).collect(),
            untold: problem.numa_listing().to_vec(),
            children: vec![Vec::new(); problem.len()],
        };
        simulation.tell(root, 0.0);
        simulation
    }

    /// The children of every member, in send order.
    fn run(mut self) -> Vec<Vec<usize>> {
        while let Some((sender, now)) = self.next_idle() {
            match self.target(sender) {
                Some(target) => {
                    let sent = now + self.problem.send(sender, target);
                    self.children[sender].push(target);
                    self.idle_at[sender] = Some(sent);
                    self.tell(target, sent + self.problem.receive(sender, target));
                }
                None => self.idle_at[sender] = None,
            }
        }
        self.children
    }

    /// The told member that is idle first, the lowest rank of equals.
    fn next_idle(&self) -> Option<(usize, f64)> {
        let idle = self.idle_at.iter().enumerate().filter_map(|(member, idle_at)| Some((member, (*idle_at)?)));
        idle.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn tell(&mut self, member: usize, informed_at: f64) {
        self.is_told[member] = true;
        self.is_entered[self.node_of[member]] = true;
        self.idle_at[member] = Some(informed_at);
        self.untold.retain(|&other| other != member);
    }

    /// The member that an idle member informs next.
    fn target(&self, sender: usize) -> Option<usize> {
        let home = self.node_of[sender];
        let is_candidate = |member: &usize| {
            let node = self.node_of[*member];
            node == home || !self.is_entered[node]
        };
        let dearest = self
            .untold
            .iter()
            .copied()
            .filter(is_candidate)
            .map(|member| (self.problem.message(sender, member), member))
            .reduce(|best, next| if next.0 > best.0 { next } else { best })?
            .1;
        if self.node_of[dearest] == home {
            return Some(dearest);
        }
        let in_node = self.untold.iter().copied().filter(|&member| self.node_of[member] == self.node_of[dearest]);
        in_node.min_by(|&a, &b| self.problem.send(sender, a).total_cmp(&self.problem.send(sender, b)))
    }
}
