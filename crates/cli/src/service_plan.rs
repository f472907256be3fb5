//! `--service PATH`: a plan by a plan service, or by this process where the service gives none.

use std::path::Path;
use std::time::{Duration, Instant};

use corecast::Machine;
use corecast::plan::service::{Client, MachineSource, PlanRequest, ServiceError, TermsChoice};
use corecast::plan::{Plan, Problem};

use crate::output::Output;
use crate::planner_args::Timed;

/// How long a service may take: longer than it searches at most, unless it was told otherwise.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The plan that the service at `path` makes for this request on all CPUs of the machine; `problem` is the same as this
/// process sees it. `None`, and a remark to the user, if there is none that fits.
pub(crate) fn served(
    path: &Path,
    machine: &Machine,
    request: PlanRequest,
    problem: &Problem,
    output: &Output,
) -> Option<Timed> {
    let begun = Instant::now();
    let told = |error: ServiceError| output.remark(&format!("{error}; planning in this process"));
    let plan = ask(path, machine, request, problem).map_err(told).ok()?;
    Some(Timed { plan, time_ms: begun.elapsed().as_secs_f64() * 1e3 })
}

fn ask(path: &Path, machine: &Machine, request: PlanRequest, problem: &Problem) -> Result<Plan, ServiceError> {
    let mut client = Client::connect(path, TIMEOUT)?;
    let terms = if problem.terms().is_pairwise() { TermsChoice::Pairwise } else { TermsChoice::Extended };
    let machine = MachineSource::model(machine)?;
    client.plan(&PlanRequest { machine, terms, ..request }, problem)
}
