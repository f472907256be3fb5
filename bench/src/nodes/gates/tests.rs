//! Reports that meet a demand, miss it, or are too short for it.

use super::*;
use crate::nodes::work::DeathPlace;
use crate::rules::judge;
use corecast_race::gate::Verdict::{self, Holds, Missed, NotJudged};

const NAMES: [&str; LIBRARIES] = ["openmpi", "mpich", "openmpi-5.0", "mpich-5.0", "impi"];

fn empty() -> NodesReport {
    NodesReport {
        machine: String::new(),
        commit: None,
        seed: 7,
        quick: false,
        hosts: 2,
        lanes: 1,
        rows: Vec::new(),
        checks: Vec::new(),
        idle: Vec::new(),
        model: Vec::new(),
        relaunches: Vec::new(),
        deaths: Vec::new(),
        skipped: Vec::new(),
        gates: Vec::new(),
    }
}

fn death(library: &str, victim: Victim, runs: usize, named: usize, max_ms: f64) -> NodesDeathRow {
    NodesDeathRow {
        library: library.to_owned(),
        victim,
        place: None,
        hosts: 2,
        members: 2,
        shape: NodesShape::Nested,
        is_survivable: victim == Victim::Member || library == "openmpi-5.0",
        launch_flags: None,
        runs,
        named,
        shrunk: runs,
        hung: 0,
        median_ms: Some(1.0),
        max_ms: Some(max_ms),
        after_max_ms: Some(2.0 * max_ms),
        first_wrong: None,
    }
}

fn checks(library: &str, operations: u64, wrong: Option<&str>) -> Vec<NodesCheckRow> {
    let row = |members, shape| NodesCheckRow {
        library: library.to_owned(),
        hosts: 2,
        members,
        uneven: None,
        shape,
        operations,
        wrong: wrong.map(str::to_owned),
        is_late: false,
    };
    MEMBERS
        .iter()
        .flat_map(|&members| NodesShape::checked(members).iter().map(move |&shape| row(members, shape)))
        .collect()
}

fn rows(library: &str, launches: usize, ratio: f64) -> Vec<NodesRow> {
    let ops = [(NodesOp::Barrier, 0), (NodesOp::Broadcast, 8), (NodesOp::Allreduce, 8)];
    let ops = ops.into_iter().chain([8 << 10, 256 << 10, 1 << 20].map(|bytes| (NodesOp::Allreduce, bytes)));
    let row = |members, (op, bytes)| NodesRow {
        library: library.to_owned(),
        hosts: 2,
        members,
        shape: NodesShape::Threads,
        op,
        bytes,
        launches,
        wrong: None,
        ours_us: Some(1.0),
        plain_us: Some(ratio),
        ratio: Some(ratio),
        least_ratio: None,
        most_ratio: None,
    };
    let ops: Vec<_> = ops.collect();
    MEMBERS.iter().flat_map(|&members| ops.iter().map(move |&op| row(members, op)).collect::<Vec<_>>()).collect()
}

/// The verdicts on gates whose names begin so.
fn verdicts(report: &NodesReport, names: &[&str]) -> Vec<Verdict> {
    let judged = judge(RULES, report).into_iter();
    judged.filter(|gate| names.iter().any(|name| gate.gate.starts_with(name))).map(|gate| gate.verdict).collect()
}

/// Deaths and operations under some libraries.
fn judged(names: &[&str], runs: usize, named: usize, max_ms: f64, operations: u64) -> Vec<Verdict> {
    let wrong = (named < runs).then_some("a wrong sum");
    let of = |victim| names.iter().map(move |name| death(name, victim, runs, named, max_ms));
    let report = NodesReport {
        checks: names.iter().flat_map(|name| checks(name, operations, wrong)).collect(),
        deaths: of(Victim::Member).chain(of(Victim::Leader)).collect(),
        ..empty()
    };
    verdicts(&report, &["S1:", "S6", "S7"])
}

#[test]
fn a_short_run_can_miss_a_demand_and_not_meet_it() {
    assert_eq!(judged(&NAMES, 20, 20, 100.0, 100), [NotJudged; 6]);
    assert_eq!(judged(&NAMES, 20, 19, 1500.0, 100), [Missed; 6]);
    assert_eq!(judged(&NAMES, 1000, 1000, 100.0, 10_000), [Holds; 6]);
}

#[test]
fn some_cells_and_libraries_meet_no_demand_on_all() {
    let held = judged(&NAMES[..3], 1000, 1000, 100.0, 10_000);
    assert_eq!(held, [NotJudged, NotJudged, NotJudged, Holds, Holds, Holds]);
    // A library that does not survive the deaths of leaders is half of S7, and so is one that does.
    assert_eq!(judged(&NAMES[..1], 1000, 1000, 100.0, 10_000)[3..], [NotJudged; 3]);
    assert_eq!(judged(&NAMES[2..3], 1000, 1000, 100.0, 10_000)[3..], [Holds, Holds, NotJudged]);
    let mut report =
        NodesReport { checks: NAMES.iter().flat_map(|name| checks(name, 10_000, None)).collect(), ..empty() };
    assert_eq!(verdicts(&report, &["S1:"]), [Holds]);
    report.checks.pop();
    assert_eq!(verdicts(&report, &["S1:"]), [NotJudged], "a cell is missing");
    report.checks[0].is_late = true;
    assert_eq!(verdicts(&report, &["S1:"]), [Missed]);
}

#[test]
fn a_single_host_meets_no_demand() {
    let mut report = NodesReport {
        checks: NAMES.iter().flat_map(|name| checks(name, 10_000, None)).collect(),
        deaths: NAMES.iter().map(|name| death(name, Victim::Member, 1000, 1000, 100.0)).collect(),
        rows: NAMES.iter().flat_map(|name| rows(name, 10, 120.0)).collect(),
        ..empty()
    };
    let names = ["S1:", "S2", "S6"];
    assert_eq!(verdicts(&report, &names), [Holds; 4]);
    report.checks.iter_mut().for_each(|row| row.hosts = 1);
    report.deaths.iter_mut().for_each(|row| row.hosts = 1);
    report.rows.iter_mut().for_each(|row| row.hosts = 1);
    assert_eq!(verdicts(&report, &names), [NotJudged; 4]);
}

#[test]
fn ratios_of_few_launches_meet_no_demand() {
    let report = |launches, ratio| NodesReport {
        rows: NAMES.iter().flat_map(|name| rows(name, launches, ratio)).collect(),
        ..empty()
    };
    let names = ["S2", "S3", "S4"];
    assert_eq!(verdicts(&report(10, 120.0), &names), [Holds; 6]);
    assert_eq!(verdicts(&report(2, 120.0), &names), [NotJudged; 6]);
    assert_eq!(verdicts(&report(2, 0.5), &names), [Missed; 6]);
    let mut few = report(10, 120.0);
    few.rows.retain(|row| row.members != 4);
    assert_eq!(verdicts(&few, &["S3"]), [Holds, NotJudged, NotJudged]);
}

#[test]
fn a_launch_that_was_wrong_is_counted_once() {
    let mut report = NodesReport { rows: rows("openmpi", 1, 2.0), ..empty() };
    assert_eq!(verdicts(&report, &["cells"]), [Holds]);
    report.rows.iter_mut().filter(|row| row.members == 2).for_each(|row| row.wrong = Some("a sum".to_owned()));
    let gate = judge(RULES, &report).remove(0);
    assert_eq!((gate.verdict, gate.measured), (Missed, Some(1.0)));
    assert_eq!(report.wrong(), 6);
    assert_eq!(verdicts(&empty(), &["cells"]), [NotJudged]);
}

#[test]
fn waits_are_judged_by_the_busiest_member() {
    let row = |launches, member_share| NodesIdleRow {
        library: "openmpi".to_owned(),
        hosts: 2,
        members: 4,
        shape: NodesShape::Threads,
        launches,
        member_share: Some(member_share),
        leader_share: Some(0.9),
        wrong: None,
    };
    let of = |rows: &[NodesIdleRow]| {
        let report = NodesReport { idle: rows.to_vec(), ..empty() };
        verdicts(&report, &["S5"])
    };
    assert_eq!(of(&[]), [NotJudged]);
    assert_eq!(of(&[row(10, 0.005), row(10, 0.002)]), [Holds]);
    assert_eq!(of(&[row(10, 0.005), row(2, 0.002)]), [NotJudged]);
    assert_eq!(of(&[row(10, 0.005), row(2, 0.02)]), [Missed]);
}

#[test]
fn the_death_of_any_rank_is_judged_as_that_of_a_leader() {
    let rank = |library| NodesDeathRow {
        shape: NodesShape::Ranks,
        is_survivable: library == "openmpi-5.0",
        ..death(library, Victim::Member, 200, 200, 100.0)
    };
    let report = NodesReport { deaths: ["openmpi-5.0", "mpich"].map(rank).to_vec(), ..empty() };
    assert_eq!(verdicts(&report, &["S6", "S7"]), [NotJudged, NotJudged, Holds, Holds, Holds]);
}

#[test]
fn the_model_is_judged_by_the_worst_operation_on_two_to_four_hosts() {
    let row = |hosts, launches, ratio| NodesModelRow {
        library: "openmpi".to_owned(),
        hosts,
        op: NodesOp::Barrier,
        bytes: 0,
        launches,
        wrong: None,
        predicted_us: Some(20.0 * ratio),
        measured_us: Some(20.0),
        ratio: Some(ratio),
        least_ratio: None,
        most_ratio: None,
    };
    let of = |rows: &[NodesModelRow]| {
        let report = NodesReport { model: rows.to_vec(), ..empty() };
        verdicts(&report, &["S10"])
    };
    assert_eq!(of(&[]), [NotJudged]);
    assert_eq!(of(&[row(2, 10, 0.9), row(3, 10, 1.2)]), [NotJudged], "four hosts are missing");
    assert_eq!(of(&[row(2, 10, 0.9), row(3, 10, 1.2), row(4, 10, 1.0)]), [Holds]);
    assert_eq!(of(&[row(2, 10, 0.9), row(3, 10, 1.2), row(4, 2, 1.0)]), [NotJudged]);
    assert_eq!(of(&[row(2, 2, 0.7)]), [Missed], "too low");
    assert_eq!(of(&[row(2, 10, 0.9), row(3, 10, 1.2), row(4, 10, 1.0), row(8, 10, 3.0)]), [Holds]);
}

#[test]
fn the_times_of_deaths_at_a_place_are_not_judged() {
    let at_place =
        NodesDeathRow { place: Some(DeathPlace::Started), ..death("openmpi-5.0", Victim::Leader, 1000, 1000, 9000.0) };
    let report = NodesReport { deaths: vec![at_place.clone()], ..empty() };
    assert_eq!(verdicts(&report, &["S7"]), [NotJudged; 3]);
    let others = ["openmpi-5.0", "mpich"].map(|name| death(name, Victim::Leader, 1000, 1000, 100.0));
    let report = NodesReport { deaths: others.into_iter().chain([at_place]).collect(), ..empty() };
    assert_eq!(verdicts(&report, &["S7"]), [Holds; 3]);
}
