//! Stratum 4: 1Paxos on more replicas than there are CPUs here, simulated on machine models.
//!
//! A member is on a CPU of its own. A command takes each node the time of its receives and sends; the node with most of it
//! limits the throughput. The sum is the library's ([`corecast::replica::placement`]), which plans with it. The costs between two
//! CPUs are those of the model.
//!
//! Each row has two such sums. The first is of messages alone, as in the paper. Beside its messages a command takes work, which
//! is measured here (`corecast::replica::placement::Work`) and taken for that of every machine: models in cycles get it in this
//! machine's. The second sum has it. The planned tree is planned for either sum anew. The same costs and work have to predict
//! what was measured here (`prediction`), or nothing of it is to be believed of the wall clock.

use corecast::base::CpuSet;
use corecast::machine::{Machine, model_file};
use corecast::plan::shape::Sequential;
use corecast::plan::{Problem, SHAPES, Shape};
use corecast::replica::placement::{Costs, Load, PlacementPlan, Roles, Work};

use super::report::SimulatedRow;
use corecast_race::failure::Failure;

/// The models: a socket pair with the paper's matrices, the paper's machine of 8 NUMA nodes, and machines with 64 CPUs.
const MODELS: [&str; 4] = [
    include_str!("../../../machines/models/paper-xeon-ivb-2x10-20.json"),
    include_str!("../../../machines/models/paper-barcelona-8x4-32.json"),
    include_str!("../../../machines/models/aws-graviton2-64.json"),
    include_str!("../../../machines/models/epyc-7742-2x32-128.json"),
];
/// Replicas. 28 is the most of the paper.
const REPLICAS: [usize; 5] = [8, 16, 28, 48, 64];
/// The name of the tree of one level.
const SEQUENTIAL: &str = "sequential";
/// The name of the tree that the planner finds.
pub(super) const AUTO: &str = "auto";

/// All trees on all models, also with this work where it was measured. Leader, acceptor and learners are different nodes.
pub(super) fn simulated(work: Option<&Work>) -> Result<Vec<SimulatedRow>, Failure> {
    let mut rows = Vec::new();
    for model in MODELS {
        let machine = model_file::parse(model).map_err(Failure::refused)?;
        let work = work.map(|work| work.in_unit(machine.unit));
        for replicas in REPLICAS.into_iter().filter(|&replicas| replicas <= machine.cpus.len()) {
            rows.extend(on_machine(&machine, replicas, work)?);
        }
    }
    Ok(rows)
}

/// Each tree, with work in the unit of the model.
fn on_machine(machine: &Machine, replicas: usize, work: Option<Work>) -> Result<Vec<SimulatedRow>, Failure> {
    let all = machine.cpu_set();
    // Spread over the machine, as replicas are.
    let cpus: CpuSet = (0..replicas).map(|rank| all.as_slice()[rank * all.as_slice().len() / replicas]).collect();
    let problem = Problem::new(machine, &cpus).map_err(Failure::refused)?;
    let with_work = work.map(|work| Trees::judged(&problem, Costs::with_work(&problem, work)));
    let messages = Trees::judged(&problem, Costs::from(&problem));
    let row = |(at, (tree, load)): (usize, &(&'static str, Load))| {
        let worked = with_work.as_ref().map(|trees| (trees, trees.loads[at].1));
        SimulatedRow {
            machine: machine.name.clone(),
            replicas,
            tree: (*tree).to_owned(),
            unit: machine.unit.to_string(),
            busiest: load.busiest,
            response: load.response,
            over_sequential: messages.over_sequential(load),
            busiest_with_work: worked.map(|(_, load)| load.busiest),
            work: worked.map(|(_, load)| load.work),
            response_with_work: worked.map(|(_, load)| load.response),
            over_sequential_with_work: worked.map(|(trees, load)| trees.over_sequential(&load)),
        }
    };
    Ok(messages.loads.iter().enumerate().map(row).collect())
}

/// All trees of a group by some costs.
struct Trees {
    sequential: Load,
    /// Of each shape, and of the planned tree; always in this order.
    loads: Vec<(&'static str, Load)>,
}

impl Trees {
    /// The one level has the roles that suit it best, the other trees those of the plan.
    fn judged(problem: &Problem, costs: Costs<'_>) -> Self {
        let plan = PlacementPlan::separate(costs);
        let over =
            |roles: Roles, shape: &dyn Shape| Load::over(costs, roles, &shape.build(problem, Some(roles.acceptor)));
        let sequential = over(plan.direct_roles, &Sequential);
        let shape = |shape: &&'static dyn Shape| match shape.name() {
            SEQUENTIAL => (SEQUENTIAL, sequential),
            name => (name, over(plan.roles, *shape)),
        };
        let planned = Load::over(costs, plan.roles, &plan.tree);
        Self { sequential, loads: SHAPES.iter().map(shape).chain([(AUTO, planned)]).collect() }
    }

    fn over_sequential(&self, load: &Load) -> f64 {
        load.throughput_over(&self.sequential)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequential_tree_keeps_the_acceptor_busiest_and_others_are_compared_with_it() {
        let machine = model_file::parse(MODELS[1]).expect("a model");
        let rows = on_machine(&machine, 28, None).expect("28 of 32 CPUs");
        let of = |tree: &str| rows.iter().find(|row| row.tree == tree).expect("a row");
        assert_eq!(of("sequential").over_sequential, 1.0);
        let best = rows.iter().map(|row| row.over_sequential).fold(0.0, f64::max);
        assert!(of("binary").over_sequential > 1.0 && of(AUTO).over_sequential >= 0.97 * best, "{rows:?}");
        assert!(rows.iter().all(|row| row.response > 0.0 && row.busiest > 0.0 && row.work.is_none()));
    }

    #[test]
    fn work_stands_beside_messages_and_changes_nothing_of_them() {
        let machine = model_file::parse(MODELS[1]).expect("a model");
        let rows = |work| on_machine(&machine, 28, work).expect("28 of 32 CPUs");
        let steps = 2000.0;
        let work = Work { order: steps, serve: steps, accept: steps, follow: steps, run_share: 1.0, ..Work::default() };
        let (alone, worked) = (rows(None), rows(Some(work)));
        for (alone, worked) in alone.iter().zip(&worked) {
            let messages = |row: &SimulatedRow| (row.tree.clone(), row.busiest, row.response, row.over_sequential);
            assert_eq!(messages(alone), messages(worked));
            assert!(worked.work >= Some(steps) && worked.busiest_with_work > worked.work, "{worked:?}");
            assert!(worked.response_with_work > Some(worked.response), "{worked:?}");
        }
        let auto = worked.last().expect("rows");
        assert!(auto.tree == AUTO && auto.over_sequential_with_work < Some(auto.over_sequential), "{auto:?}");
        let ratios = || worked.iter().filter_map(|row| row.over_sequential_with_work);
        assert!(auto.over_sequential_with_work >= Some(0.97 * ratios().fold(0.0, f64::max)), "{worked:?}");
    }
}
