//! The planner's study on made-up machines.

use corecast::machine::{Cpu, Topology};
use corecast::plan::{Effort, Operation};
use corecast::{CpuId, Machine};
use corecast_bench::study::{Case, Selection, StudyOptions, study, summary, table};
use corecast_race::{BenchError, Cancel};

fn machine(len: u32) -> Machine {
    let cpus = (0..len).map(|id| Cpu { numa: Some(id / 5), ..Cpu::flat(CpuId::new(id)) }).collect();
    let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    machine.name = format!("made up, {len} CPUs");
    machine
}

fn options(operations: &[Operation]) -> StudyOptions {
    StudyOptions {
        operations: operations.to_vec(),
        sizes: vec![4, 8],
        rounds: 20,
        is_root_fixed: false,
        seed: 3,
        cancel: Cancel::new(),
    }
}

fn cases(operations: &[Operation]) -> Vec<Case> {
    study(&[machine(4), machine(10)], &options(operations), &mut ()).expect("nobody stops it")
}

#[test]
fn every_size_selection_and_operation_is_a_case() {
    let cases = cases(&[Operation::Broadcast, Operation::Barrier]);
    let found: Vec<(usize, Selection)> = cases
        .iter()
        .filter(|case| case.operation == Operation::Barrier)
        .map(|case| (case.members, case.selection))
        .collect();
    let (turns, whole) = (Selection::RoundRobin, Selection::WholeClusters);
    assert_eq!(found, [(4, whole), (4, turns), (4, whole), (8, turns), (8, whole)]);
    assert_eq!(cases.len(), 2 * found.len());
    for case in &cases {
        assert!(case.is_evaluation_equal);
        let normal = case.effort(Effort::Normal).expect("always planned").cost;
        assert!(case.shapes.iter().all(|shape| normal <= shape.cost), "{case:?}");
        assert!(case.planners.iter().any(|tried| tried.name == "earliest-completion"), "{case:?}");
        if case.operation == Operation::Broadcast {
            assert!(case.is_proven && (case.bound - normal).abs() < 1e-6 * normal, "few members are proven: {case:?}");
        }
    }
}

#[test]
fn tables_tell_every_case_and_judge_by_the_proof() {
    let cases = cases(&[Operation::Broadcast]);
    let csv = table::csv(&cases);
    assert_eq!(csv.lines().count(), 1 + cases.len());
    let columns = |line: &str| line.replace("\"made up, ", "").split(',').count();
    assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().expect("a header"))), "{csv}");
    let origin = summary::Origin {
        place: "here".to_owned(),
        date: "2026-01-01".to_owned(),
        version: "0".to_owned(),
        is_root_fixed: false,
        command: "this".to_owned(),
    };
    let text = summary::markdown(&cases, &origin);
    assert!(text.contains("5 of 5 cases proven | holds |"), "{text}");
    assert!(text.contains("| 5 of 5 | holds |"), "{text}");
}

#[test]
fn a_stopped_study_is_no_result() {
    let options = options(&[Operation::Broadcast]);
    options.cancel.cancel();
    assert_eq!(study(&[machine(4)], &options, &mut ()).expect_err("stopped"), BenchError::Cancelled);
}
