//! Stratum 4: 1Paxos on more replicas than there are CPUs here, simulated on machine models.
//!
//! A member is on a CPU of its own. A command takes each node the time of its receives and sends; the node with most of it
//! limits the throughput. The sum is the library's ([`corecast::replica::placement`]), which plans with it. The costs between two
//! CPUs are those of the model.
//!
//! Beside its messages a command takes work, which is measured here (`corecast::replica::placement::Work`) and taken for that of
//! every machine: models in cycles get it in this machine's. The same costs and work have to predict what was measured here
//! (`prediction`), or nothing of it is to be believed of the wall clock.

use corecast::base::CpuSet;
use corecast::machine::{Machine, model_file};
use corecast::plan::shape::Sequential;
use corecast::plan::{Problem, SHAPES, Shape, Tree};
use corecast::replica::placement::{Load, PlacementPlan, RoleWork, Roles, Work};

use super::report::SimulatedRow;
use corecast::base::Clock;
use corecast::machine::Unit;
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

/// All trees on all models, with this work of leader, acceptor and learners that are different nodes.
pub(super) fn simulated(work: Option<&Work>) -> Result<Vec<SimulatedRow>, Failure> {
    let mut rows = Vec::new();
    for model in MODELS {
        let machine = model_file::parse(model).map_err(Failure::refused)?;
        for replicas in REPLICAS.into_iter().filter(|&replicas| replicas <= machine.cpus.len()) {
            rows.extend(on_machine(&machine, replicas, work)?);
        }
    }
    Ok(rows)
}

fn on_machine(machine: &Machine, replicas: usize, work: Option<&Work>) -> Result<Vec<SimulatedRow>, Failure> {
    let all = machine.cpu_set();
    // Spread over the machine, as replicas are.
    let cpus: CpuSet = (0..replicas).map(|rank| all.as_slice()[rank * all.as_slice().len() / replicas]).collect();
    let problem = Problem::new(machine, &cpus).map_err(Failure::refused)?;
    let plan = PlacementPlan::separate(&problem);
    let work = work.map_or(RoleWork::NONE, |work| in_unit(work.by_role(replicas, false), machine.unit));
    let over = |roles: Roles, tree: &Tree| Load::with_work(&problem, roles, tree, work);
    let sequential = over(plan.direct_roles, &star(&problem, plan.direct_roles));
    let row = |load: Load, roles: Roles, name: &str| SimulatedRow {
        machine: machine.name.clone(),
        replicas,
        tree: name.to_owned(),
        unit: machine.unit.to_string(),
        busiest: load.busiest,
        response: load.response,
        work: work.of(roles, load.member),
        over_sequential: load.throughput_over(&sequential),
    };
    let shape = |shape: &&'static dyn Shape| {
        // The one level has the roles that suit it best, the trees those of the plan.
        match shape.name() {
            SEQUENTIAL => row(sequential, plan.direct_roles, SEQUENTIAL),
            name => row(over(plan.roles, &shape.build(&problem, Some(plan.roles.acceptor))), plan.roles, name),
        }
    };
    let mut rows: Vec<SimulatedRow> = SHAPES.iter().map(shape).collect();
    rows.push(row(over(plan.roles, &plan.tree), plan.roles, AUTO));
    Ok(rows)
}

/// The tree of one level.
fn star(problem: &Problem, roles: Roles) -> Tree {
    Sequential.build(problem, Some(roles.acceptor))
}

/// Nanoseconds of this machine in the unit of a model. A cycle is taken for a cycle of this machine's clock.
fn in_unit(work: RoleWork, unit: Unit) -> RoleWork {
    let per_ns = if unit == Unit::Ns { 1.0 } else { 1.0 / Clock::get().ns(1) };
    work.scaled(per_ns)
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
        assert!(rows.iter().all(|row| row.response > 0.0 && row.busiest > 0.0 && row.work == 0.0));
        let work = Work { order: 100.0, serve: 100.0, accept: 100.0, follow: 100.0, ..Work::default() };
        let worked = on_machine(&machine, 28, Some(&work)).expect("28 of 32 CPUs");
        let best = |rows: &[SimulatedRow]| rows.iter().map(|row| row.over_sequential).fold(0.0, f64::max);
        assert!(best(&worked) < best(&rows), "where all have work, a tree wins less");
    }
}
