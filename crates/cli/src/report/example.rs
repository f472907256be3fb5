//! Made-up machines, plans and races for the tests of the report. The numbers only have to look like some.

use corecast::CpuId;
use corecast::machine::{CostMatrix, Cpu, Machine, Topology};
use corecast::plan::{Effort, Operation, Problem, Request};
use corecast_race::{Group, Op, Report, Row, Summary, Timing};

use crate::planner_args::Timed;

use super::input::{PlannedTree, SMELT};

/// A machine with two nodes of two caches each, and costs with noise.
pub(crate) fn machine(len: u32) -> Machine {
    let part = |id: u32, parts: u32| Some(id * parts / len);
    let cpu = |id| Cpu { numa: part(id, 2), package: part(id, 2), l3: part(id, 4), ..Cpu::flat(CpuId::new(id)) };
    let mut machine = Machine::from_topology(&Topology { cpus: (0..len).map(cpu).collect(), ..Topology::default() });
    let mut random = fastrand::Rng::with_seed(7);
    let mut noisy = |costs: &CostMatrix| {
        let cost = |i, j| (costs.get(i, j) * (0.85 + 0.3 * random.f64()) * 100.0).round() / 100.0;
        CostMatrix::from_fn(costs.len(), cost).expect("costs stay costs")
    };
    machine.send = noisy(&machine.send);
    machine.receive = noisy(&machine.receive);
    machine.extended.bounce = Some(noisy(&machine.receive));
    machine
}

/// The tree of that shape among all CPUs.
pub(super) fn tree(machine: &Machine, operation: Operation, shape: &str) -> PlannedTree {
    let problem = Problem::of_machine(machine).expect("an example has CPUs");
    let by = |planner| Request::new(operation).planner(planner).effort(Effort::Quick).plan(&problem).expect("a plan");
    let (plan, smelt) = (by(shape), by(SMELT));
    PlannedTree { problem, timed: Timed { plan, time_ms: 1.5 }, smelt }
}

/// The cheapest trees of the three operations that are raced.
pub(super) fn trees(machine: &Machine) -> Vec<PlannedTree> {
    [Operation::Broadcast, Operation::Reduce, Operation::Barrier]
        .map(|operation| tree(machine, operation, "auto"))
        .into()
}

/// Three operations for each of these numbers of members and CPUs.
pub(crate) fn race(sizes: &[(usize, usize)]) -> Report {
    let ops = [Op::Barrier, Op::Broadcast, Op::Reduce];
    let groups = sizes.iter().flat_map(|&(members, cpus)| ops.map(|op| group(op, members, cpus)));
    report(groups.collect())
}

/// A barrier raced by corecast and one rival, with little spread.
pub(super) fn duel(ours_ns: f64, rival_ns: f64) -> Report {
    let rows = vec![row("corecast", true, ours_ns, 1.0), row("rival", false, rival_ns, rival_ns / ours_ns)];
    report(vec![Group { rows, ..group(Op::Barrier, 2, 2) }])
}

fn report(groups: Vec<Group>) -> Report {
    Report {
        machine: "an example".to_owned(),
        commit: None,
        seed: 1,
        quick: true,
        wait: "adaptive".to_owned(),
        place: "threads",
        raw_line_ns: Some(61.0),
        placement_changes: 0,
        warnings: Vec::new(),
        groups,
        gates: Vec::new(),
    }
}

fn group(op: Op, members: usize, cpus: usize) -> Group {
    // Names, whether they are ours, and times in an order that changes with the operation.
    let contenders = [
        ("corecast", true, 104.0),
        ("corecast/tree/adaptive+shuffle+sort", true, 110.0),
        ("corecast/tree/bad", true, 390.0),
        ("corecast/dissemination", true, 98.0),
        ("dissemination", false, if op == Op::Reduce { 81.0 } else { 131.0 }),
        ("pthread_barrier", false, 14_000.0),
        ("std::sync::Barrier", false, 21_300.0),
    ];
    let crowd = members.div_ceil(cpus) as f64;
    let mut rows: Vec<Row> =
        contenders.into_iter().map(|(name, ours, time_ns)| row(name, ours, crowd * time_ns, time_ns / 104.0)).collect();
    let skipped = Some("for 2 participants only".to_owned());
    rows.push(Row { summary: None, ratio: None, skipped, ..row("two flags", false, 1.0, 1.0) });
    Group {
        op,
        burst: None,
        participants: members,
        bytes: op.bytes(),
        cpus: (0..members).map(|rank| (rank % cpus) as u32).collect(),
        oversubscribed: members > cpus,
        timing: if op == Op::Barrier { Timing::Batches } else { Timing::Windows },
        root: (op != Op::Barrier).then_some(0),
        raw_line_ns: Some(60.5),
        raw_line_probes_ns: Vec::new(),
        placement_changes: 0,
        rounds_left_out: 0,
        reference: "corecast".to_owned(),
        rows,
    }
}

fn row(name: &str, ours: bool, median_ns: f64, ratio: f64) -> Row {
    let summary = Summary {
        median_ns,
        p10_ns: 0.93 * median_ns,
        p90_ns: 1.2 * median_ns,
        p99_ns: 1.7 * median_ns,
        min_ns: 0.9 * median_ns,
        mad_ns: 0.05 * median_ns,
        samples: 480,
    };
    Row {
        contender: name.to_owned(),
        ours,
        summary: Some(summary),
        cpu_ns: None,
        discarded: 0,
        ratio: Some(ratio),
        skipped: None,
        failed: false,
    }
}
