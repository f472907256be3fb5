//! The reader of requests to the plan service, and the quickest plan for what it accepts.

#![no_main]

use corecast_machine::model_file;
use corecast_plan::service::{MachineSource, Question, parse_request};
use corecast_plan::{Effort, Problem, Request, Terms};
use libfuzzer_sys::fuzz_target;

/// Larger machines take longer than a fuzzer likes to wait.
const MAX_CPUS: usize = 12;

fuzz_target!(|line: &[u8]| {
    let Ok(Question::Plan(request)) = parse_request(line) else { return };
    let MachineSource::Model(text) = &request.machine else { return };
    let Ok(machine) = model_file::parse(text) else { return };
    let cpus = request.cpus.clone().unwrap_or_else(|| machine.cpu_set());
    let Ok(problem) = Problem::new(&machine, &cpus) else { return };
    if problem.len() > MAX_CPUS {
        return;
    }
    let problem = problem.with_terms(Terms::of(&machine));
    let asked = Request::new(request.operation)
        .planner(&request.planner)
        .effort(Effort::Quick)
        .seed(request.seed)
        .limits(request.limits);
    if let Ok(plan) = asked.plan_from(&problem, request.root) {
        assert!(plan.tree.len() == problem.len() && request.limits.allow(&plan.tree));
    }
});
