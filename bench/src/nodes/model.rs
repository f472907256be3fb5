//! The model of a network beside the network: each launch measures the messages between its hosts, and then times operations of
//! the group that it makes of them.
//!
//! Both happen in the same processes on the same CPUs, as two launches on one machine can differ by more than the demand allows.

use std::time::{Duration, Instant};

use corecast::collective::nodes::network_costs::{self, Settings};
use corecast::collective::nodes::{Fault, Member};
use corecast::machine::{self, pin};
use corecast::mpi::Cluster;
use corecast::plan::Operation;
use corecast::plan::cluster::{ClusterModel, ClusterRequest, FarScheme, MachineSource, Near};
use corecast::{Group, collective};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use serde::Serialize;

use super::Run;
use super::bed::own_host;
use super::library::Library;
use super::member::{BLOCKS, MOST_ROUNDS, TRIALS, check_host, finish, time_case};
use super::work::{Case, HostMembers, NodesOp, NodesShape, Task, Work};
use crate::stats::{Samples, median};

/// A launch that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// The fewest hosts, which are the first cell of a run.
const LEAST_HOSTS: usize = 2;

/// One operation by the model and by the clock.
#[derive(Clone, Debug, Serialize)]
pub struct NodesModelRow {
    /// The library.
    pub library: String,
    /// Hosts, with a member on each.
    pub hosts: usize,
    /// The operation.
    pub op: NodesOp,
    /// The bytes that it carries.
    pub bytes: usize,
    /// Launches that ended well.
    pub launches: usize,
    /// A wrong result, an error or a hang of a launch, after which no further one was made; `null` if all ended well.
    pub wrong: Option<String>,
    /// The time by the model of the same launch, in microseconds: the median of all launches.
    pub predicted_us: Option<f64>,
    /// The time in the group, in microseconds: the median of all launches.
    pub measured_us: Option<f64>,
    /// The predicted time divided by the measured one, the median over launches.
    pub ratio: Option<f64>,
    /// The least of these ratios.
    pub least_ratio: Option<f64>,
    /// The greatest of them.
    pub most_ratio: Option<f64>,
}

/// The operations that are compared.
fn cases() -> [Case; 4] {
    let case = |op, bytes| Case { op, bytes };
    [
        case(NodesOp::Barrier, 8),
        case(NodesOp::Broadcast, 8),
        case(NodesOp::Allreduce, 8),
        case(NodesOp::Allreduce, 8 << 10),
    ]
}

/// Measures the messages between the hosts, and times the operations in a group of them. Rank 0 tells the nanoseconds of each
/// case, predicted and measured.
pub(super) fn compare(work: &Work, exchanges: u32, budget_ms: u64) -> Result<(), Failure> {
    let cluster = Cluster::from_env().map_err(Failure::refused)?;
    let mut engine = cluster.into_engine().ok_or_else(|| Failure::refused("this process leads no host"))?;
    // As `corecast measure --cluster` binds it. The member inherits that.
    let cpus = pin::affinity().ok();
    let own = cpus.as_ref().and_then(|cpus| cpus.as_slice().iter().cycle().nth(own_host()).copied());
    let _bound = own.and_then(|cpu| pin::pin(cpu).ok());
    let settings = Settings { exchanges, ..Settings::default() };
    let costs = network_costs::measure(&mut *engine, &settings).map_err(words)?;
    let machine = MachineSource::Synthetic("core:1 pu:1".to_owned());
    let model = costs.model("the hosts of a launch".to_owned(), machine, "the same launch");
    let machine = machine::detect().map_err(Failure::refused)?;
    let group = Group::builder(&machine).members(1).pin(false).plan_folder(None).race_folder(None).over(engine);
    let group = group.build().map_err(Failure::refused)?;
    let outcomes = group.run(|me| member(me, work, &model, Duration::from_millis(budget_ms)));
    outcomes.map_err(Failure::refused)?.into_iter().collect()
}

fn words(fault: Fault) -> Failure {
    Failure::refused(format!("messages between the hosts could not be measured: {fault:?}"))
}

fn member(me: &mut Member, work: &Work, model: &ClusterModel, budget: Duration) -> Result<(), Failure> {
    check_host(me)?;
    let mut figures = Vec::new();
    // A group goes by recursive doubling, and by binomial trees unless it has a plan, as the model has.
    let (broadcasts, others): (Vec<Case>, Vec<Case>) = cases().iter().partition(|case| case.op == NodesOp::Broadcast);
    for &case in &others {
        figures.push((case, time_case(me, case, budget)?));
    }
    me.plan_between_nodes(Some(model)).map_err(Failure::refused)?;
    for &case in &broadcasts {
        figures.push((case, time_broadcasts(me, budget).map_err(Failure::refused)?));
    }
    let mut outcome = Vec::new();
    for case in cases() {
        let measured = figures.iter().find(|(timed, _)| *timed == case).map_or(f64::NAN, |(_, time_ns)| *time_ns);
        outcome.extend([predicted_ns(model, case)?, measured]);
    }
    finish(outcome, me.rank(), work)
}

/// Nanoseconds until the last member has a broadcast of member 0: the most that it takes until one of the others has it.
fn time_broadcasts(me: &mut Member, budget: Duration) -> Result<f64, collective::nodes::Error> {
    let others = 1..me.size();
    let budget = budget / others.end.max(2) as u32;
    let times: Result<Vec<f64>, _> = others.map(|other| time_answered(me, other, budget)).collect();
    Ok(times?.into_iter().fold(f64::NAN, f64::max))
}

/// Nanoseconds until this member has a broadcast of member 0: half the time of one that it answers by a broadcast of its own. No
/// clocks are compared, nobody waits for members that have the value late, and no other operation is in between.
///
/// Source of answered broadcasts: de Supinski and Karonis, Accurately measuring MPI broadcasts in a computational grid, 1999.
fn time_answered(me: &mut Member, other: usize, budget: Duration) -> Result<f64, collective::nodes::Error> {
    let trial = answered(me, other, TRIALS)?;
    let wanted = budget.as_nanos() as f64 / BLOCKS as f64 / (2.0 * trial).max(1.0);
    let mut rounds = (wanted as usize).clamp(TRIALS, MOST_ROUNDS) as u64;
    me.broadcast(0, &mut rounds)?;
    let blocks: Result<Vec<f64>, _> = (0..BLOCKS).map(|_| answered(me, other, rounds as usize)).collect();
    Ok(median(&blocks?).unwrap_or(f64::NAN))
}

/// Half the mean time of that many broadcasts and their answers.
fn answered(me: &mut Member, other: usize, rounds: usize) -> Result<f64, collective::nodes::Error> {
    me.barrier()?;
    let begin = Instant::now();
    for round in 0..rounds {
        let mut value = round as u64;
        me.broadcast(0, &mut value)?;
        me.broadcast(other, &mut value)?;
    }
    Ok(begin.elapsed().as_nanos() as f64 / rounds as f64 / 2.0)
}

/// The time of a case by the model, in the way that the group takes.
fn predicted_ns(model: &ClusterModel, case: Case) -> Result<f64, Failure> {
    let (operation, scheme) = match case.op {
        NodesOp::Barrier => (Operation::Barrier, FarScheme::Doubling),
        NodesOp::Broadcast => (Operation::Broadcast, FarScheme::Tree),
        NodesOp::Allreduce => (Operation::Allreduce, FarScheme::Doubling),
    };
    let request = ClusterRequest::new(operation).bytes(case.bytes as u64);
    let model = request.completed(model.clone());
    let near = model.machines.keys().map(|kind| (kind.clone(), Near::alone())).collect();
    let plan = request.plan(&model, &near).map_err(Failure::refused)?;
    let best = plan.best_of(scheme).ok_or_else(|| Failure::refused("the model has no such way"))?;
    Ok(best.expected_ns())
}

/// The launches on one number of hosts.
struct Cell {
    hosts: usize,
    /// Predicted and measured times of all cases, in nanoseconds.
    launches: Vec<Vec<f64>>,
    wrong: Option<String>,
}

impl Run<'_> {
    /// Compares on 2 hosts, on 3 and so on to all of them, in turns.
    pub(super) fn model(&mut self, library: &Library, step: &mut dyn FnMut(f64, &str)) -> Result<(), BenchError> {
        let launches = self.settings.runs.unwrap_or(if self.options.quick { 2 } else { 10 });
        let (exchanges, budget_ms) = if self.options.quick { (200, 60) } else { (1000, 200) };
        let cell = |hosts| Cell { hosts, launches: Vec::new(), wrong: None };
        let mut cells: Vec<Cell> = (LEAST_HOSTS..=self.settings.hosts).map(cell).collect();
        for launch in 0..launches {
            step(launch as f64 / launches as f64, &format!("launch {} of {launches}", launch + 1));
            for cell in cells.iter_mut().filter(|cell| cell.wrong.is_none()) {
                let task = Task::Model { exchanges, budget_ms };
                let members = HostMembers::even(1);
                match self.outcome(library, (cell.hosts, &members), NodesShape::Threads, task, LIMIT)? {
                    Ok(figures) => cell.launches.push(figures),
                    Err(trouble) => cell.wrong = Some(trouble.words),
                }
            }
        }
        let rows = cells.iter().flat_map(|cell| cell.rows(&library.name));
        self.report.model.extend(rows);
        Ok(())
    }
}

impl Cell {
    fn rows(&self, library: &str) -> Vec<NodesModelRow> {
        cases().iter().enumerate().map(|(place, &case)| self.row(library, case, place)).collect()
    }

    fn row(&self, library: &str, case: Case, place: usize) -> NodesModelRow {
        let of = |which: usize| self.launches.iter().map(move |figures| figures[2 * place + which]);
        let us = |which: usize| median(&of(which).map(|ns| ns / 1e3).collect::<Vec<f64>>());
        let ratios = Samples::of(of(0).zip(of(1)).map(|(predicted, measured)| predicted / measured));
        NodesModelRow {
            library: library.to_owned(),
            hosts: self.hosts,
            op: case.op,
            bytes: if case.op == NodesOp::Barrier { 0 } else { case.bytes },
            launches: self.launches.len(),
            wrong: self.wrong.clone(),
            predicted_us: us(0),
            measured_us: us(1),
            ratio: median(ratios.all()),
            least_ratio: ratios.least(),
            most_ratio: ratios.most(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::plan::cluster::{Arrival, Tier};

    #[test]
    fn ways_are_predicted_that_groups_take() {
        let machine = MachineSource::Synthetic("core:1 pu:1".to_owned());
        let costs = |hosts: u64| ClusterModel {
            name: String::new(),
            machines: [("node".to_owned(), corecast::plan::cluster::MachineKind::of(machine.clone()))].into(),
            nodes: vec![corecast::plan::cluster::NodeRun {
                kind: "node".to_owned(),
                count: hosts,
                place: None,
                other: Default::default(),
            }],
            tiers: vec![Tier::assumed("all", None, 10_000.0, 1000.0, 0.0)],
            nic: None,
            arrival: None::<Arrival>,
            other: Default::default(),
        };
        let of = |hosts: u64| cases().map(|case| (predicted_ns(&costs(hosts), case).expect("a time") / 1e3).round());
        // A message takes 12 us: one, and among four hosts two behind each other; a tree sends three within 2 us.
        assert_eq!(of(2), [12.0, 12.0, 12.0, 13.0]);
        assert_eq!(of(4), [24.0, 14.0, 24.0, 26.0]);
        // The third host sends its value to another one first, and gets the sum behind the exchange.
        assert_eq!(of(3), [36.0, 13.0, 36.0, 38.0]);
    }

    #[test]
    fn ratios_are_those_of_single_launches() {
        let launches = vec![vec![10.0; 8], (1..=8).map(|figure| f64::from(figure) * 1e3).collect()];
        let cell = Cell { hosts: 3, launches, wrong: None };
        let row = &cell.rows("openmpi")[1];
        assert_eq!((row.hosts, row.launches, row.op, row.bytes), (3, 2, NodesOp::Broadcast, 8));
        assert_eq!((row.least_ratio, row.most_ratio, row.ratio), (Some(0.75), Some(1.0), Some(0.875)));
        assert_eq!((row.predicted_us, row.measured_us), (Some(1.505), Some(2.005)));
        let none = Cell { hosts: 2, launches: Vec::new(), wrong: Some("a hang".to_owned()) };
        assert!(none.rows("openmpi").iter().all(|row| row.ratio.is_none() && row.wrong.is_some()));
    }
}
