//! The group of a run: which node is on which CPU, and how it learns.

use corecast_plan::{Problem, Tree, shape};
use corecast_replica::net::{Config, Group, Spread};
use corecast_replica::placement::{PlacementPlan, Roles};
use corecast_sim_core::Machine;

use super::Replicas;
use super::ledger::Ledger;
use crate::error::SimError;
use crate::model;

/// The way in which the acceptor's word that a command is decided gets to all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learning {
    /// Along the tree that the library plans for it.
    Planned,
    /// The acceptor sends to one node after another.
    Sequential,
    /// Once into a ring that all nodes read.
    Ring,
    /// Along the shape of this name, one of [`shapes`](crate::shapes).
    Shape(String),
}

/// A group, and where its nodes are.
pub(super) struct Placed {
    pub(super) group: Group<Ledger>,
    /// The CPU of each node. Node 0 leads, node 1 accepts.
    pub(super) cpus: Vec<usize>,
    /// The tree, by the ranks of the replicas on ascending CPUs.
    pub(super) tree: Option<Tree>,
}

/// Makes the group. Leader and acceptor are where the plan for the way of learning wants them; replicas are spread over the
/// machine.
pub(super) fn place(machine: &Machine, asked: &Replicas) -> Result<Placed, SimError> {
    let (replicas, all) = (asked.replicas, machine.cpus());
    let cpus: Vec<usize> = (0..replicas).map(|rank| rank * all / replicas).collect();
    let known = asked.model.clone().unwrap_or_else(|| model(machine));
    let ids: Vec<_> = cpus.iter().map(|&cpu| known.cpus[cpu].id).collect();
    let problem = Problem::of_members(&known, &ids).map_err(SimError::group)?;
    let plan = PlacementPlan::separate(&problem);
    let (roles, tree) = match &asked.learning {
        Learning::Planned => (plan.roles, Some(plan.tree)),
        Learning::Sequential | Learning::Ring => (plan.direct_roles, None),
        Learning::Shape(name) => {
            let shape = shape::find(name).ok_or_else(|| SimError::group(format!("no tree is called '{name}'")))?;
            (plan.roles, Some(shape.build(&problem, Some(plan.roles.acceptor))))
        }
    };
    let ranks = ranks_by_node(roles, replicas);
    let spread = match (&asked.learning, &tree) {
        (Learning::Ring, _) => Spread::Ring,
        (_, Some(tree)) => Spread::Tree(parents(tree, &ranks)),
        (_, None) => Spread::Sequential,
    };
    let group = Group::create(&Config::new(replicas).wait(asked.wait).spread(spread)).map_err(SimError::group)?;
    Ok(Placed { group, cpus: ranks.iter().map(|&rank| cpus[rank]).collect(), tree })
}

/// The ranks of nodes 0, 1 and so on: a group begins with node 0 as its leader and node 1 as its acceptor.
fn ranks_by_node(roles: Roles, replicas: usize) -> Vec<usize> {
    let mut ranks = vec![roles.leader];
    ranks.extend((!roles.is_fused()).then_some(roles.acceptor));
    ranks.extend((0..replicas).filter(|&rank| rank != roles.leader && rank != roles.acceptor));
    ranks
}

/// The parent of each node, of a tree of ranks.
fn parents(tree: &Tree, ranks: &[usize]) -> Vec<Option<usize>> {
    let node = |wanted: usize| ranks.iter().position(|&rank| rank == wanted);
    ranks.iter().map(|&rank| tree.parent(rank).and_then(node)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_acceptor_is_node_1_and_the_root_of_its_tree() {
        let roles = Roles { leader: 3, acceptor: 2 };
        let ranks = ranks_by_node(roles, 5);
        assert_eq!(ranks, [3, 2, 0, 1, 4]);
        let tree = Tree::new(2, vec![vec![], vec![], vec![3, 0], vec![1, 4], vec![]]).expect("a tree");
        assert_eq!(parents(&tree, &ranks), [Some(1), None, Some(1), Some(0), Some(0)]);
        assert_eq!(ranks_by_node(Roles { leader: 0, acceptor: 0 }, 1), [0]);
    }
}
