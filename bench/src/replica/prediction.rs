//! Whether machine models predict stratum 3: the writes of two replicas, each with a client, on this machine's costs.
//!
//! Each node takes turns. In a turn it does all that it can see by then: the first thing takes the work that was measured for it,
//! each further one the part of that which a command of a run takes. It fetches a line for each command that comes from the other
//! node, the line with their count once, and where they are decided the line with the count that all may see. A line takes the
//! times of the model to send and to receive. Clients ask again as soon as they have an answer.
//!
//! Nothing in it was fitted to the times that it is compared with. A prediction that is off by more than a quarter says so.

use corecast::machine::{Machine, Unit};
use corecast::plan::Problem;
use corecast::replica::Placement;
use corecast::replica::placement::Work;

use super::report::{PredictionRow, ReplicaCell};
use super::series::{Series, forms};
use crate::stats::median;

/// The figures may differ from those measured by this part.
pub(super) const TOLERANCE: f64 = 0.25;
/// Answers that are simulated.
const ANSWERS: usize = 4000;

/// The writes of two replicas that have a CPU each.
fn measured_cell(cells: &[ReplicaCell]) -> Option<&ReplicaCell> {
    let is_it = |cell: &&ReplicaCell| {
        cell.workload == "writes" && cell.replicas == 2 && !cell.oversubscribed && cell.place == "threads"
    };
    cells.iter().find(is_it)
}

/// True if there is something to be predicted.
pub(super) fn is_possible(cells: &[ReplicaCell]) -> bool {
    measured_cell(cells).is_some()
}

/// Writes of two replicas on this machine's costs, beside the cell that measured them. `work` is that of each form, if it was
/// measured.
pub(super) fn predictions(machine: &Machine, cells: &[ReplicaCell], work: &[(Placement, Work)]) -> Vec<PredictionRow> {
    let Some(cell) = measured_cell(cells) else { return Vec::new() };
    let is_measured = machine.unit == Unit::Ns && machine.provenance.kind == "measured";
    let problem = Problem::of_machine(machine).ok().filter(|problem| is_measured && problem.len() >= 2);
    let row = |series: &'static Series| {
        let measured = cell.rows.iter().find(|row| row.contender == series.name).and_then(|row| row.write_p50_ns);
        let work = work.iter().find(|(placement, _)| *placement == series.placement).map(|(_, work)| work);
        let predicted = problem.as_ref().zip(work).map(|(problem, work)| predicted(problem, series.placement, work));
        let ratio = predicted.zip(measured).map(|(predicted, measured)| predicted / measured);
        let is_close = ratio.is_some_and(|ratio| (1.0 - TOLERANCE..=1.0 + TOLERANCE).contains(&ratio));
        PredictionRow {
            series: series.name,
            replicas: 2,
            messages_ns: problem.as_ref().map(|problem| problem.message(0, 1) + problem.message(1, 0)),
            work_ns: work.map(|work| chains(series.placement, work)[0].iter().map(|step| step.work).sum()),
            predicted_ns: predicted,
            measured_ns: measured,
            ratio,
            verdict: if is_close { "predicted" } else { "not predicted" },
        }
    };
    forms().map(row).collect()
}

/// A thing that a node does for a command.
#[derive(Clone, Copy)]
struct Step {
    node: usize,
    work: f64,
    /// True if the client has its answer then.
    answers: bool,
    /// True if the command is decided: the count that all may see has moved before.
    is_decided: bool,
}

/// The steps of a command of each client, one after another: node 0 leads.
fn chains(placement: Placement, work: &Work) -> [Vec<Step>; 2] {
    let step = |node, work| Step { node, work, answers: false, is_decided: false };
    let answer = |step: Step| Step { answers: true, ..step };
    let decided = |step: Step| Step { is_decided: true, ..step };
    let [order, accept, learn] = [(0, work.order), (1, work.accept), (0, work.learn)].map(|(at, of)| step(at, of));
    let [forward, serve, finish] = [(1, work.forward), (0, work.serve), (1, work.finish)].map(|(at, of)| step(at, of));
    match placement {
        Placement::Separate => [
            vec![order, accept, answer(decided(learn))],
            vec![forward, serve, answer(finish), decided(step(0, work.follow))],
        ],
        Placement::Fused => [vec![answer(order), decided(accept)], vec![forward, serve, answer(decided(finish))]],
    }
}

/// A step that a node can see from some time on.
#[derive(Clone, Copy)]
struct Task {
    visible: f64,
    client: usize,
    at: usize,
    /// Whether it comes from the other node.
    is_sent: bool,
}

struct Simulation<'a> {
    problem: &'a Problem,
    run_share: f64,
    chains: [Vec<Step>; 2],
    free: [f64; 2],
    tasks: [Vec<Task>; 2],
    /// When each client asked for what it waits for.
    asked: [f64; 2],
    latencies: Vec<f64>,
}

/// Half of the writes of two clients, one at each node, take no longer.
fn predicted(problem: &Problem, placement: Placement, work: &Work) -> f64 {
    let first = |client| Task { visible: 0.0, client, at: 0, is_sent: false };
    let mut simulation = Simulation {
        problem,
        run_share: work.run_share,
        chains: chains(placement, work),
        free: [0.0; 2],
        tasks: [vec![first(0)], vec![first(1)]],
        asked: [0.0; 2],
        latencies: Vec::new(),
    };
    while simulation.latencies.len() < ANSWERS {
        simulation.turn();
    }
    median(&simulation.latencies).expect("there are answers")
}

impl Simulation<'_> {
    /// The turn that begins first.
    fn turn(&mut self) {
        let begin = |node: usize| {
            let first = self.tasks[node].iter().map(|task| task.visible).fold(f64::INFINITY, f64::min);
            first.max(self.free[node])
        };
        let node = if begin(1) < begin(0) { 1 } else { 0 };
        let mut now = begin(node);
        let (mut seen, later): (Vec<Task>, Vec<Task>) = self.tasks[node].iter().partition(|task| task.visible <= now);
        self.tasks[node] = later;
        seen.sort_by(|a, b| a.visible.total_cmp(&b.visible));
        now += self.counts(node, &seen);
        for (nth, task) in seen.iter().enumerate() {
            now = self.act(node, nth, *task, now);
        }
        self.free[node] = now;
    }

    /// The time to fetch the lines that a turn reads once: how far the other node is, and what all may see.
    fn counts(&self, node: usize, seen: &[Task]) -> f64 {
        let line = self.problem.receive(1 - node, node);
        let is_decided = |task: &&Task| self.chains[task.client][task.at].is_decided;
        let sent = || seen.iter().filter(|task| task.is_sent);
        line * f64::from(u8::from(sent().next().is_some()) + u8::from(sent().any(|task| is_decided(&task))))
    }

    /// Does one thing; the time after it.
    fn act(&mut self, node: usize, nth: usize, task: Task, now: f64) -> f64 {
        let step = self.chains[task.client][task.at];
        let fetched = if task.is_sent { self.problem.receive(1 - node, node) } else { 0.0 };
        let mut now = now + fetched + step.work * if nth == 0 { 1.0 } else { self.run_share };
        if let Some(next) = self.chains[task.client].get(task.at + 1) {
            // The line of the command, and that of the count.
            now += 2.0 * self.problem.send(node, next.node);
            self.tasks[next.node].push(Task { visible: now, at: task.at + 1, is_sent: true, ..task });
        }
        if step.answers {
            self.latencies.push(now - self.asked[task.client]);
            self.asked[task.client] = now;
            self.tasks[node].push(Task { visible: now, client: task.client, at: 0, is_sent: false });
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::base::CpuId;
    use corecast::machine::{CostMatrix, Cpu, Topology};

    fn problem(line: f64) -> Problem {
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let costs = || CostMatrix::from_fn(2, |i, j| if i == j { 0.0 } else { line }).expect("costs");
        (machine.send, machine.receive) = (costs(), costs());
        Problem::of_machine(&machine).expect("two CPUs")
    }

    const WORK: Work = Work {
        order: 100.0,
        accept: 50.0,
        learn: 40.0,
        forward: 20.0,
        serve: 80.0,
        finish: 60.0,
        follow: 30.0,
        run_share: 1.0,
    };

    #[test]
    fn without_messages_a_leader_that_accepts_itself_shares_its_time_among_clients() {
        // The leader does 100 for its own and 80 for the other's, in turns; the median is that of one of them.
        let found = predicted(&problem(0.0), Placement::Fused, &WORK);
        assert!((100.0..=400.0).contains(&found), "{found}");
    }

    #[test]
    fn messages_and_work_both_take_time() {
        for placement in [Placement::Separate, Placement::Fused] {
            let of = |line, factor: f64| {
                let work = Work { order: factor * 100.0, serve: factor * 80.0, ..WORK };
                predicted(&problem(line), placement, &work)
            };
            assert!(of(50.0, 1.0) > of(0.0, 1.0) && of(50.0, 3.0) > of(50.0, 1.0), "{placement:?}");
        }
    }

    #[test]
    fn nothing_is_predicted_of_costs_that_nobody_measured() {
        let machine = Machine::from_topology(&Topology {
            cpus: (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect(),
            ..Topology::default()
        });
        let cell = ReplicaCell {
            workload: "writes".to_owned(),
            replicas: 2,
            clients: 2,
            place: "threads",
            oversubscribed: false,
            rows: Vec::new(),
        };
        let rows = predictions(&machine, &[cell], &[(Placement::Fused, WORK)]);
        assert!(rows.iter().all(|row| row.predicted_ns.is_none() && row.verdict == "not predicted"), "{rows:?}");
        assert_eq!(rows.len(), forms().count());
    }
}
