//! Stratum 4: 1Paxos on more replicas than there are CPUs here, simulated on machine models.
//!
//! A member is on a CPU of its own. A command takes each node the time of its receives and sends; the node with most of it
//! limits the throughput. The sum is the library's ([`corecast::replica::placement`]), which plans with it. The costs between two
//! CPUs are those of the model.
//!
//! The same sum with this machine's costs has to predict what was measured here, or nothing of it is to be believed of the wall
//! clock: a prediction that is off by more than a quarter says so.

use corecast::base::CpuSet;
use corecast::machine::{Machine, model_file};
use corecast::plan::{Problem, SHAPES, Shape};
use corecast::replica::placement::{Load, PlacementPlan};

use super::report::{PredictionRow, ReplicaCell, SimulatedRow};
use super::series::forms;
use corecast::machine::Unit;
use corecast::replica::Placement;
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
/// The simulation's figures may differ from those measured by this part.
pub(super) const TOLERANCE: f64 = 0.25;

/// All trees on all models.
pub(super) fn simulated() -> Result<Vec<SimulatedRow>, Failure> {
    let mut rows = Vec::new();
    for model in MODELS {
        let machine = model_file::parse(model).map_err(Failure::refused)?;
        for replicas in REPLICAS.into_iter().filter(|&replicas| replicas <= machine.cpus.len()) {
            rows.extend(on_machine(&machine, replicas)?);
        }
    }
    Ok(rows)
}

fn on_machine(machine: &Machine, replicas: usize) -> Result<Vec<SimulatedRow>, Failure> {
    let all = machine.cpu_set();
    // Spread over the machine, as replicas are.
    let cpus: CpuSet = (0..replicas).map(|rank| all.as_slice()[rank * all.as_slice().len() / replicas]).collect();
    let problem = Problem::new(machine, &cpus).map_err(Failure::refused)?;
    let plan = PlacementPlan::separate(&problem);
    let row = |load: Load, name: &str| SimulatedRow {
        machine: machine.name.clone(),
        replicas,
        tree: name.to_owned(),
        unit: machine.unit.to_string(),
        busiest: load.busiest,
        response: load.response,
        over_sequential: load.throughput_over(&plan.direct),
    };
    let shape = |shape: &&'static dyn Shape| {
        // The one level has the roles that suit it best, the trees those of the plan.
        let load = match shape.name() {
            SEQUENTIAL => plan.direct,
            _ => Load::over(&problem, plan.roles, &shape.build(&problem, Some(plan.roles.acceptor))),
        };
        row(load, shape.name())
    };
    let mut rows: Vec<SimulatedRow> = SHAPES.iter().map(shape).collect();
    rows.push(row(plan.planned, AUTO));
    Ok(rows)
}

/// Writes of two replicas on this machine's costs, beside the cell that measured them.
pub(super) fn predictions(machine: &Machine, cells: &[ReplicaCell]) -> Vec<PredictionRow> {
    let is_it = |cell: &&ReplicaCell| {
        cell.workload == "writes" && cell.replicas == 2 && !cell.oversubscribed && cell.place == "threads"
    };
    let Some(cell) = cells.iter().find(is_it) else { return Vec::new() };
    let is_measured = machine.unit == Unit::Ns && machine.provenance.kind == "measured";
    let problem = Problem::of_machine(machine).ok().filter(|_| is_measured);
    let row = |series: &'static super::series::Series| {
        let measured = cell.rows.iter().find(|row| row.contender == series.name).and_then(|row| row.write_p50_ns);
        let predicted = problem.as_ref().and_then(|problem| predicted(problem, series.placement));
        let ratio = predicted.zip(measured).map(|(predicted, measured)| predicted / measured);
        let is_close = ratio.is_some_and(|ratio| (1.0 - TOLERANCE..=1.0 + TOLERANCE).contains(&ratio));
        PredictionRow {
            series: series.name,
            replicas: 2,
            predicted_ns: predicted,
            measured_ns: measured,
            ratio,
            verdict: if is_close { "predicted" } else { "not predicted" },
        }
    };
    forms().map(row).collect()
}

/// Half of the writes of two clients, one at each node, take no longer: the slower one of them has its request and the answer
/// on the way between the nodes, and both have the accept there if it is another node's.
fn predicted(problem: &Problem, placement: Placement) -> Option<f64> {
    if problem.len() < 2 {
        return None;
    }
    let there_and_back = problem.message(0, 1) + problem.message(1, 0);
    // The median lies between a client at the leader and one at the other node.
    Some(match placement {
        Placement::Separate => there_and_back,
        Placement::Fused => there_and_back / 2.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequential_tree_keeps_the_acceptor_busiest_and_others_are_compared_with_it() {
        let machine = model_file::parse(MODELS[1]).expect("a model");
        let rows = on_machine(&machine, 28).expect("28 of 32 CPUs");
        let of = |tree: &str| rows.iter().find(|row| row.tree == tree).expect("a row");
        assert_eq!(of("sequential").over_sequential, 1.0);
        let best = rows.iter().map(|row| row.over_sequential).fold(0.0, f64::max);
        assert!(of("binary").over_sequential > 1.0 && of(AUTO).over_sequential >= 0.97 * best, "{rows:?}");
        assert!(rows.iter().all(|row| row.response > 0.0 && row.busiest > 0.0));
    }
}
