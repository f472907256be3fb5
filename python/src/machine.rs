//! The machine and plans, as the texts of their files: the package makes arrays and trees of them.

use std::thread;
use std::time::Duration;

use corecast::base::sync::{AtomicBool, Ordering};
use corecast::machine::measure::{MeasureError, Options, Silent};
use corecast::machine::source::{DiscoveryRequest, discover};
use corecast::machine::{Cache, Fingerprint, Machine, model_file};
use corecast::plan::{Effort, Operation, PlanJson, Problem, Request, explain};
use corecast::{CpuId, UmpProbe, machine};
use pyo3::prelude::*;

use crate::error;
use crate::waiting::detached;

/// The model of this machine, measured before or assumed.
#[pyfunction]
pub(crate) fn machine_text() -> PyResult<String> {
    render(&machine::detect().map_err(failed)?)
}

/// Measures this machine, and stores the model for all programs of this user if `store`.
#[pyfunction]
pub(crate) fn measure_text(py: Python<'_>, quick: bool, store: bool) -> PyResult<String> {
    let topology = discover(&DiscoveryRequest::default()).map_err(failed)?;
    let is_cancelled = AtomicBool::new(false);
    let options = Options { quick, cancelled: Some(&is_cancelled), ..Options::default() };
    let (measured, interrupted) = thread::scope(|scope| {
        let work = scope.spawn(|| machine::measure::measure(&topology, &UmpProbe, &options, &mut Silent));
        let mut interrupted = Ok(());
        while !work.is_finished() {
            detached(py, || thread::sleep(Duration::from_millis(50)));
            if interrupted.is_ok() {
                interrupted = py.check_signals();
                // ORDERING: Relaxed, the flag is all there is to know
                is_cancelled.store(interrupted.is_err(), Ordering::Relaxed);
            }
        }
        (work.join(), interrupted)
    });
    interrupted?;
    let measured: Result<Machine, MeasureError> =
        measured.map_err(|_| error::named("Error", "the measurement panicked"))?;
    let measured = measured.map_err(failed)?;
    if let Some(cache) = Cache::of_user().filter(|_| store) {
        cache.store(&Fingerprint::of_this_machine(&topology), &measured).map_err(failed)?;
    }
    render(&measured)
}

/// A plan as JSON, and its explanation.
#[pyfunction]
#[pyo3(signature = (model, operation, planner, root, effort, cpus))]
pub(crate) fn plan_texts(
    py: Python<'_>,
    model: &str,
    operation: &str,
    planner: &str,
    root: Option<u32>,
    effort: &str,
    cpus: Option<Vec<u32>>,
) -> PyResult<(String, String)> {
    let machine = model_file::parse(model).map_err(error::value)?;
    let operation: Operation = operation.parse().map_err(error::value)?;
    let effort: Effort = effort.parse().map_err(error::value)?;
    let problem = match cpus {
        Some(cpus) => Problem::of_members(&machine, &cpus.into_iter().map(CpuId::new).collect::<Vec<_>>()),
        None => Problem::of_machine(&machine),
    };
    let problem = problem.map_err(error::value)?;
    let root = root.map(|cpu| {
        problem
            .member_on(CpuId::new(cpu))
            .ok_or_else(|| error::value(format_args!("root is CPU {cpu}, which is not among those of the plan")))
    });
    let request = Request::new(operation).planner(planner).root(root.transpose()?).effort(effort);
    let plan = detached(py, || request.plan(&problem)).map_err(error::value)?;
    let json = PlanJson::of(&plan).map_err(error::value)?;
    Ok((serde_json::to_string(&json).map_err(failed)?, explain(&problem, &plan)))
}

fn render(machine: &Machine) -> PyResult<String> {
    model_file::render(machine).map_err(failed)
}

fn failed(why: impl std::fmt::Display) -> PyErr {
    error::named("Error", why)
}
