//! Whatever comes in, the readers of strangers' texts answer or refuse, and never panic.
//!
//! The fuzz targets in `fuzz/` do the same for as long as one likes; these run a few hundred texts at every test.

use corecast_machine::model_file;
use corecast_plan::service::{MachineSource, PlanRequest, Question, parse_request};
use corecast_plan::{Effort, Operation, PlanJson, Problem, Request, tree_file};
use proptest::prelude::*;

use crate::served::machine;

/// A model, a plan and a request that are right.
fn right_texts() -> [String; 3] {
    let machine = machine(5);
    let problem = Problem::of_machine(&machine).expect("CPUs");
    let plan = Request::new(Operation::Barrier).effort(Effort::Quick).plan(&problem).expect("a plan");
    let plan = serde_json::to_string(&PlanJson::of(&plan).expect("distinct CPUs")).expect("JSON");
    let MachineSource::Model(model) = MachineSource::model(&machine).expect("a model") else { unreachable!() };
    let request = format!(
        r#"{{"corecast-plan": 1, "op": "reduce", "machine": {{"model": {model}}}, "cpus": "0-3", "root": 2,
            "planner": "auto", "effort": "quick", "seed": 7, "limits": {{"children": 3}}, "terms": "extended"}}"#
    );
    [model, plan, request]
}

/// Lets every reader read it; what they accept must hold together.
fn read(text: &[u8]) {
    if let Ok(machine) = model_file::parse(text) {
        machine.check().expect("what is read holds together");
        model_file::render(&machine).expect("and can be written");
    }
    let problem = Problem::of_machine(&machine(5)).expect("CPUs");
    if let Ok(trees) = tree_file::parse(text, &problem) {
        assert_eq!(trees.down.len(), 5);
    }
    if let Ok(Question::Plan(request)) = parse_request(text) {
        let PlanRequest { cpus, .. } = *request;
        assert!(cpus.is_none_or(|cpus| !cpus.is_empty()));
    }
}

#[test]
fn the_right_texts_are_right() {
    let [model, plan, request] = right_texts();
    model_file::parse(model).expect("a model");
    tree_file::parse(plan, &Problem::of_machine(&machine(5)).expect("CPUs")).expect("a tree");
    parse_request(request).expect("a request");
}

proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_an_error(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&text);
    }

    #[test]
    fn damaged_texts_are_an_answer_or_an_error(
        which in 0..3_usize,
        from in 0..5000_usize,
        len in 0..40_usize,
        instead in proptest::collection::vec(any::<u8>(), 0..10),
    ) {
        let mut text = right_texts()[which].clone().into_bytes();
        let from = from % text.len();
        let to = (from + len).min(text.len());
        text.splice(from..to, instead);
        read(&text);
    }

    #[test]
    fn other_values_are_an_answer_or_an_error(which in 0..3_usize, at in 0..200_usize, value in "[0-9\\-\\[\\]\\{\\}\",:e.]{0,12}") {
        let text = &right_texts()[which];
        let mut parts: Vec<&str> = text.split_inclusive([':', ',', '[', '{']).collect();
        let at = at % parts.len();
        parts[at] = &value;
        read(parts.concat().as_bytes());
    }
}
