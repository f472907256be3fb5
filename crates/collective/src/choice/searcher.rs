//! Searches for a group's trees: by a plan service that the user named, or in this process, unless an earlier search has
//! kept its result.
//!
//! A service saves each program the search, and is never needed: after the first trouble with it this process searches for
//! itself, and says so. The service's plans are checked against the group's own costs.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use corecast_machine::Machine;
use corecast_plan::service::{Client, MachineSource, PlanRequest, RefusalKind, ServiceError, TermsChoice};
use corecast_plan::{AUTO, Effort, Operation, Plan, PlanError, PlanStore, Problem, Request, SHAPES};

/// The longest time a service may take for one plan: several times that of the search it replaces.
const fn timeout(effort: Effort) -> Duration {
    Duration::from_secs(match effort {
        Effort::Quick | Effort::Normal => 2,
        Effort::Patient | Effort::Exact => 30,
    })
}

const UNPOISONED: &str = "asking a service does not panic";

/// A tree to search for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedTree<'a> {
    pub(crate) operation: Operation,
    pub(crate) planner: &'a str,
    pub(crate) effort: Effort,
    /// The rank of its root, if it must be this one.
    pub(crate) root: Option<usize>,
}

/// Searches for trees.
#[derive(Debug, Default)]
pub(crate) struct Searcher {
    /// One plan after another comes from a service: it has one connection.
    state: Mutex<State>,
    /// Plans found earlier, by the problem that is searched for.
    store: Option<PlanStore>,
}

/// The state of the service.
#[derive(Debug, Default)]
enum State {
    /// No service was named.
    #[default]
    Unnamed,
    /// It has answered every request.
    Open(Service),
    /// It has failed, for this reason.
    Lost(ServiceError),
}

/// A service, and the machine that it is asked about.
#[derive(Debug)]
struct Service {
    client: Client,
    /// The time that `client` waits for an answer.
    timeout: Duration,
    machine: MachineSource,
    path: PathBuf,
    /// The number of plans it has made.
    plans: usize,
}

impl Searcher {
    /// Asks the service at `path`, if one is named, about this machine.
    pub(crate) fn new(path: Option<&Path>, machine: &Machine) -> Self {
        let state =
            path.map_or(State::Unnamed, |path| Service::open(path, machine).map_or_else(State::Lost, State::Open));
        Self { state: Mutex::new(state), store: None }
    }

    /// Keeps the results for the members of `problem` in this folder, and looks there first.
    pub(crate) fn keeping(self, folder: Option<&Path>, problem: &Problem) -> Self {
        let folder = folder.filter(|_| problem.len() >= PlanStore::FEWEST_MEMBERS);
        Self { store: folder.map(|folder| PlanStore::new(folder.to_owned(), problem)), ..self }
    }

    /// The plan for this tree.
    pub(crate) fn plan(&self, problem: &Problem, wanted: WantedTree<'_>) -> Result<Plan, PlanError> {
        let WantedTree { operation, planner, effort, root } = wanted;
        let request = Request::new(operation).planner(planner).effort(effort).root(root);
        // A shape needs no search, so there is nothing to save.
        if SHAPES.iter().any(|shape| shape.name() == planner) {
            return request.plan(problem);
        }
        if let Some(plan) = self.ask(problem, wanted) {
            return Ok(plan);
        }
        match &self.store {
            Some(store) if (planner, effort) == (AUTO, Effort::Quick) => store.plan_at_once(&request, problem),
            Some(store) => store.plan(&request, problem),
            None => request.plan(problem),
        }
    }

    /// The service's plan; `None` if there is no service, or it has none.
    fn ask(&self, problem: &Problem, wanted: WantedTree<'_>) -> Option<Plan> {
        let mut state = self.state.lock().expect(UNPOISONED);
        let State::Open(service) = &mut *state else { return None };
        match service.plan(problem, wanted) {
            Ok(plan) => Some(plan),
            // This is no trouble with the service: there is no such plan, as this process will find too.
            Err(ServiceError::Refused(refusal)) if refusal.kind == RefusalKind::Plan => None,
            Err(error) => {
                *state = State::Lost(error);
                None
            }
        }
    }

    /// The state of the service, in words; `None` if there was none to ask.
    pub(crate) fn news(&self) -> Option<String> {
        match &*self.state.lock().expect(UNPOISONED) {
            State::Open(service) if service.plans > 0 => {
                Some(format!("planned by the service at {}", service.path.display()))
            }
            State::Unnamed | State::Open(_) => None,
            State::Lost(error) => Some(format!("planned in this process, as {error}")),
        }
    }
}

impl Service {
    fn open(path: &Path, machine: &Machine) -> Result<Self, ServiceError> {
        let timeout = timeout(Effort::default());
        let client = Client::connect(path, timeout)?;
        Ok(Self { client, timeout, machine: MachineSource::model(machine)?, path: path.to_owned(), plans: 0 })
    }

    /// Connects anew if a plan of this effort may take another time.
    fn wait_for(&mut self, effort: Effort) -> Result<(), ServiceError> {
        let timeout = timeout(effort);
        if timeout != self.timeout {
            self.client = Client::connect(&self.path, timeout)?;
            self.timeout = timeout;
        }
        Ok(())
    }

    fn plan(&mut self, problem: &Problem, wanted: WantedTree<'_>) -> Result<Plan, ServiceError> {
        let WantedTree { operation, planner, effort, root } = wanted;
        let terms = if problem.terms().is_pairwise() { TermsChoice::Pairwise } else { TermsChoice::Extended };
        let request = PlanRequest {
            machine: self.machine.clone(),
            cpus: Some(problem.cpus().iter().copied().collect()),
            planner: planner.to_owned(),
            effort,
            root: root.map(|root| problem.cpu(root)),
            terms,
            ..PlanRequest::new(operation)
        };
        self.wait_for(effort)?;
        let plan = self.client.plan(&request, problem)?;
        self.plans += 1;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Topology};
    use corecast_plan::Plan;
    use corecast_plan::service::{Options, Server};

    fn machine(cpus: u32) -> Machine {
        let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
        Machine::from_topology(&Topology { cpus: (0..cpus).map(cpu).collect(), ..Topology::default() })
    }

    fn wanted(planner: &str) -> WantedTree<'_> {
        WantedTree { operation: Operation::Broadcast, planner, effort: Effort::Quick, root: None }
    }

    fn broadcast(searcher: &Searcher, machine: &Machine, planner: &str) -> Plan {
        let problem = Problem::of_machine(machine).expect("CPUs");
        searcher.plan(&problem, wanted(planner)).expect("a plan")
    }

    #[test]
    fn a_service_makes_the_plans_until_it_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.sock");
        let server = Server::bind(&path, machine(1), Options::default()).expect("bound");
        let stopper = server.stopper();
        let serving = std::thread::spawn(move || server.serve());
        let machine = machine(12);
        let own = broadcast(&Searcher::default(), &machine, AUTO);
        let searcher = Searcher::new(Some(&path), &machine);
        broadcast(&searcher, &machine, "binary");
        assert_eq!(searcher.news(), None, "a shape is made without asking");
        let served = broadcast(&searcher, &machine, AUTO);
        assert!(served.why.ends_with("; served") && served.tree == own.tree, "{served:?}");
        let problem = Problem::of_machine(&machine).expect("CPUs");
        searcher.plan(&problem, wanted("nobody")).expect_err("no planner");
        assert!(searcher.news().expect("some").contains("planned by the service at"), "that was no trouble of its own");
        let patient = WantedTree { effort: Effort::Patient, root: Some(7), ..wanted(AUTO) };
        let patient = searcher.plan(&problem, patient).expect("a plan");
        assert_eq!(patient.tree.root(), 7);
        assert!(patient.why.ends_with("; served"), "a group that waits longer is served too: {patient:?}");
        stopper.stop();
        serving.join().expect("no panic").expect("no trouble");
        assert_eq!(broadcast(&searcher, &machine, AUTO), own);
        assert!(
            searcher
                .news()
                .expect("some")
                .contains("planned in this process, as cannot connect to the plan service at")
        );
    }

    #[test]
    fn a_service_that_is_not_there_is_told_of() {
        let machine = machine(3);
        let searcher = Searcher::new(Some(Path::new("/nowhere/plan.sock")), &machine);
        assert_eq!(broadcast(&searcher, &machine, AUTO), broadcast(&Searcher::default(), &machine, AUTO));
        let news = searcher.news().expect("some");
        assert!(news.contains("cannot connect to the plan service at /nowhere/plan.sock"), "{news}");
    }
}
