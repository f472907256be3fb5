//! Turns requests into answers for all clients: the machine, the cache, the turn to search, the plan.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use corecast_machine::{Machine, model_file, read_bounded};
use serde_json::value::RawValue;

use super::answer::{Answer, Catalogue, Refusal, RefusalKind, ServiceStatus};
use super::gate::Gate;
use super::options::Options;
use super::plan_cache::{Key, PlanCache};
use super::protocol::{MachineSource, PlanRequest, Question, TermsChoice};
use super::tally::Tally;
use crate::bounding::Tightness;
use crate::plan_json::PlanJson;
use crate::problem::Problem;
use crate::request::Request;
use crate::terms::Terms;

/// The state that all clients of a service share.
#[derive(Debug)]
pub(super) struct PlanService {
    machine: Machine,
    options: Options,
    begun: Instant,
    gate: Gate,
    cache: PlanCache,
    pub(super) tally: Tally,
}

/// A plan as JSON, and whether its search was stopped early.
struct Made {
    plan: Arc<str>,
    is_stopped: bool,
}

impl PlanService {
    pub(super) fn new(machine: Machine, options: Options) -> Self {
        Self {
            machine,
            options,
            begun: Instant::now(),
            gate: Gate::of(options.searches),
            cache: PlanCache::default(),
            tally: Tally::default(),
        }
    }

    /// The answer to a question; `is_gone` is asked now and then, and ends a search once it is true.
    pub(super) fn answer(&self, question: Question, is_gone: &(dyn Fn() -> bool + Sync)) -> Answer {
        match question {
            Question::Plan(request) => self.planned(*request, is_gone).unwrap_or_else(Answer::from),
            Question::Status => Answer { status: Some(self.status()), ..Answer::new() },
            Question::List => Answer { list: Some(Catalogue::of_this_version()), ..Answer::new() },
        }
    }

    fn status(&self) -> ServiceStatus {
        let counts = self.tally.counts();
        let (cache_hits, cached_plans) = self.cache.hits_and_len();
        ServiceStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: self.machine.name.clone(),
            cpus: self.machine.cpu_set().to_string(),
            uptime_s: self.begun.elapsed().as_secs_f64(),
            clients: counts.clients,
            max_clients: self.options.max_clients,
            requests: counts.requests,
            refused: counts.refused,
            cache_hits,
            cached_plans,
        }
    }

    fn planned(&self, request: PlanRequest, is_gone: &(dyn Fn() -> bool + Sync)) -> Result<Answer, Refusal> {
        let text = match &request.machine {
            MachineSource::Service => Some(None),
            MachineSource::Model(text) => Some(Some(text.as_bytes())),
            MachineSource::File(_) => None,
        };
        // A request that needs neither a file nor a search does not wait for another client's search.
        if let Some(found) = text.and_then(|text| self.cache.get(&self.key(&request, text))) {
            return Ok(answer(&found, true, false));
        }
        let _turn = self.gate.enter();
        let file = match &request.machine {
            MachineSource::File(path) => {
                let read = read_bounded(path, model_file::MAX_LEN_BYTES);
                Some(read.map_err(|error| unknown_machine(format!("machine model {}: {error}", path.display())))?)
            }
            _ => None,
        };
        let text = text.flatten().or(file.as_deref());
        let key = self.key(&request, text);
        // The client that had the turn before may have made it.
        if let Some(found) = self.cache.get(&key) {
            return Ok(answer(&found, true, false));
        }
        let made = catch_unwind(AssertUnwindSafe(|| self.make(&request, text, is_gone)));
        let made =
            made.unwrap_or_else(|_| Err(Refusal::new(RefusalKind::Internal, "the planner failed on this request")))?;
        if !made.is_stopped {
            self.cache.keep(key, Arc::clone(&made.plan));
        }
        Ok(answer(&made.plan, false, made.is_stopped))
    }

    fn key(&self, request: &PlanRequest, model: Option<&[u8]>) -> Key {
        Key { model: model.map(|text| self.cache.digest(text)), request: request.key() }
    }

    fn make(
        &self,
        request: &PlanRequest,
        model: Option<&[u8]>,
        is_gone: &(dyn Fn() -> bool + Sync),
    ) -> Result<Made, Refusal> {
        let begun = Instant::now();
        let sent = model.map(model_file::parse).transpose().map_err(|error| match &request.machine {
            MachineSource::File(path) => unknown_machine(format!("machine model {}: {error}", path.display())),
            _ => unknown_machine(format!("the machine model sent: {error}")),
        })?;
        let machine = sent.as_ref().unwrap_or(&self.machine);
        let stopped = OnceLock::new();
        let stop = || {
            let is_over = stopped.get().is_some() || begun.elapsed() >= self.options.search_limit || is_gone();
            is_over && *stopped.get_or_init(|| true)
        };
        let plan = plan(request, machine, &stop).map_err(|error| Refusal::new(RefusalKind::Plan, error))?;
        let took = begun.elapsed();
        let text = render(PlanJson { time_ms: Some(milliseconds(took)), ..plan });
        Ok(Made { plan: text, is_stopped: stopped.get().is_some() })
    }
}

/// The plan asked for, on this machine, or the reason why there is none.
fn plan(request: &PlanRequest, machine: &Machine, stop: &(dyn Fn() -> bool + Sync)) -> Result<PlanJson, String> {
    let cpus = request.cpus.clone().unwrap_or_else(|| machine.cpu_set());
    let problem = Problem::new(machine, &cpus).map_err(|error| error.to_string())?;
    let problem = match request.terms {
        TermsChoice::Pairwise => problem,
        TermsChoice::Extended => problem.with_terms(Terms::of(machine)),
    };
    let asked = Request::new(request.operation)
        .planner(&request.planner)
        .effort(request.effort)
        .seed(request.seed)
        .limits(request.limits)
        .stop(stop);
    let plan = asked.plan_from(&problem, request.root).map_err(|error| error.to_string())?;
    let plan = match request.bound {
        None => plan,
        Some(0) => plan.with_bound(&problem, Tightness::Quick, stop),
        Some(rounds) => plan.with_bound(&problem, Tightness::Rounds(rounds), stop),
    };
    PlanJson::of(&plan).map_err(|error| error.to_string())
}

fn unknown_machine(message: String) -> Refusal {
    Refusal::new(RefusalKind::Machine, message)
}

fn render(plan: PlanJson) -> Arc<str> {
    serde_json::to_string(&plan).expect("a plan has only what JSON can say").into()
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn answer(plan: &str, is_cached: bool, is_stopped: bool) -> Answer {
    let plan = RawValue::from_string(plan.to_owned()).expect("it was rendered as JSON");
    Answer { plan: Some(plan), cached: Some(is_cached), stopped: Some(is_stopped), ..Answer::new() }
}
