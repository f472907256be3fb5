//! Which reports hold which demands.

use super::super::report::{PredictionRow, WaitRow};
use super::*;
use corecast_race::gate::Verdict;

fn report() -> ReplicaReport {
    ReplicaReport { seed: 1, cpus: vec![0, 1], wait: "adaptive".to_owned(), ..ReplicaReport::default() }
}

fn verdict(gates: &[Gate], begin: &str) -> (Option<f64>, Verdict) {
    let gate = gates.iter().find(|gate| gate.gate.starts_with(begin)).expect("a gate");
    (gate.measured, gate.verdict)
}

#[test]
fn nothing_is_judged_of_nothing() {
    let gates = judge(&report());
    assert!(gates.iter().all(|gate| gate.verdict == Verdict::NotJudged && gate.needs.is_some()), "{gates:?}");
    for number in 1..=9 {
        assert!(gates.iter().any(|gate| gate.gate.starts_with(&format!("Q{number}"))), "Q{number}");
    }
}

#[test]
fn the_worst_of_ours_is_judged() {
    let row = |contender: &str, read: f64, write: f64| ReplicaRow {
        contender: contender.to_owned(),
        ours: contender.starts_with("shm"),
        read_p50_ns: Some(read),
        write_p50_ns: Some(write),
        slowest_p50_ns: Some(10.0 * write),
        ..ReplicaRow::default()
    };
    let lines = ["shm-separate-lines", "shm-fused-lines"].map(|name| row(name, 9.0, 900.0));
    let rows = [row("shm-fused", 30.0, 900.0), row("shm-separate", 45.0, 2000.0), row("lmdb", 270.0, 500.0)];
    let rows: Vec<ReplicaRow> = rows.into_iter().chain(lines).collect();
    let cell = |workload: &str| ReplicaCell {
        workload: workload.to_owned(),
        replicas: 2,
        clients: 2,
        place: "threads",
        oversubscribed: false,
        rows: rows.clone(),
    };
    let mut report = ReplicaReport { cells: vec![cell("reads"), cell("writes")], ..report() };
    let gates = judge(&report);
    assert_eq!(verdict(&gates, "Q5, linearizable read: p50, ns"), (Some(45.0), Verdict::Missed));
    assert_eq!(verdict(&gates, "Q5, linearizable read: p50 of LMDB"), (Some(6.0), Verdict::Holds));
    assert_eq!(verdict(&gates, "Q6, fused write, 2 replicas"), (Some(0.9), Verdict::Holds));
    assert_eq!(verdict(&gates, "Q5, linearizable read of 8 and 16 B"), (Some(9.0), Verdict::Holds));
    let lines = report.cells[0].rows.pop();
    assert_eq!(verdict(&judge(&report), "Q5, linearizable read of 8 and 16 B"), (None, Verdict::NotJudged));
    report.cells[0].rows.extend(lines);
    report.cells[0].oversubscribed = true;
    assert_eq!(verdict(&judge(&report), "Q5, linearizable read: p50, ns"), (None, Verdict::NotJudged));
}

/// The rows of the first stratum of a usual run, all of them well.
fn robustness() -> Vec<RobustRow> {
    let events = IDLE_OR_STOPPED.into_iter().chain(Event::ALL.map(Event::words)).chain(["restart"]);
    let rows = events.flat_map(|event| forms().map(move |form| (event, form.name)));
    let row = |(event, contender): (&'static str, &str)| RobustRow {
        event,
        contender: contender.to_owned(),
        ours: true,
        events: EVENTS,
        asked: WRITES,
        writes: WRITES,
        p99_ms: Some(9.0),
        longest_ms: Some(30.0),
        beyond_ms: event.ends_with(" stopped").then_some(5.0),
        local_ms: Some(20.0),
        local_p99_ms: Some(0.1),
        suspicion_ms: Some(24.0),
        bytes: STATE_BYTES,
        ..RobustRow::default()
    };
    rows.map(row).collect()
}

/// The verdicts on the first stratum in a run with these rows.
fn of_rows(robustness: Vec<RobustRow>) -> [(Option<f64>, Verdict); 6] {
    let gates = judge(&ReplicaReport { robustness, ..report() });
    let begins = ["Q1", "Q2, kill", "Q2, stopped", "Q2, reads of the own replica", "Q3", "Q9"];
    begins.map(|begin| verdict(&gates, begin))
}

#[test]
fn a_row_that_is_missing_leaves_its_demand_open() {
    let figures = [0.0, 9.0, 5.0, 0.1, 1.25, 9.0];
    assert_eq!(of_rows(robustness()), figures.map(|figure| (Some(figure), Verdict::Holds)));
    for missing in 0..robustness().len() {
        let mut rows = robustness();
        let row = rows.remove(missing);
        let (is_kill, is_stop) = (row.event.ends_with(" killed"), row.event.ends_with(" stopped"));
        let is_held_back = IDLE_OR_STOPPED.contains(&row.event);
        let open = [row.event != "restart", is_kill, is_stop, is_kill || is_stop, is_held_back, row.event == "restart"];
        let verdicts = of_rows(rows).map(|(_, verdict)| verdict == Verdict::NotJudged);
        assert_eq!(verdicts, open, "without {} of {}", row.event, row.contender);
    }
}

#[test]
fn a_run_that_was_cut_short_misses_what_it_has_missed() {
    let mut rows = robustness();
    rows.retain(|row| row.contender == "shm-fused");
    let open = of_rows(rows.clone());
    assert!(open.iter().all(|&found| found == (None, Verdict::NotJudged)), "{open:?}");
    for row in &mut rows {
        *row =
            RobustRow { lost: 1, p99_ms: Some(200.0), beyond_ms: Some(16.0), local_p99_ms: Some(2.5), ..row.clone() };
        row.longest_ms = Some(72.0);
    }
    assert_eq!(of_rows(rows), [8.0, 200.0, 16.0, 2.5, 3.0, 200.0].map(|found| (Some(found), Verdict::Missed)));
}

#[test]
fn one_slow_event_or_form_counts() {
    let mut rows = robustness();
    let of = |event: &str| robustness().iter().position(|row| (row.event, &*row.contender) == (event, "shm-separate"));
    rows[of("acceptor stopped").expect("a row")].beyond_ms = Some(16.0);
    rows[of("both killed").expect("a row")].local_p99_ms = Some(2.5);
    let found = of_rows(rows);
    assert_eq!(found[2..4], [(Some(16.0), Verdict::Missed), (Some(2.5), Verdict::Missed)]);
    assert_eq!(found[1], (Some(9.0), Verdict::Holds));
}

#[test]
fn nothing_simulated_is_judged_unless_the_simulation_predicts_what_was_measured() {
    let simulated = |tree: &str, over_sequential| SimulatedRow {
        machine: "a model".to_owned(),
        replicas: 28,
        tree: tree.to_owned(),
        over_sequential,
        ..SimulatedRow::default()
    };
    let simulated = vec![simulated(AUTO, 3.0), simulated("binary", 2.0)];
    let verdicts = |ratios: &[Option<f64>]| {
        let row = |&ratio| PredictionRow { replicas: 2, ratio, ..PredictionRow::default() };
        let predictions = ratios.iter().map(row).collect();
        let gates = judge(&ReplicaReport { predictions, simulated: simulated.clone(), ..report() });
        ["Q8, writes", "Q8, simulated, 28", "Q8, simulated:"].map(|begin| verdict(&gates, begin).1)
    };
    let [holds, missed, open] = [Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
    assert_eq!(verdicts(&[]), [open, open, open]);
    assert_eq!(verdicts(&[Some(1.0), None]), [open, open, open], "nobody measured the costs");
    assert_eq!(verdicts(&[Some(1.0), Some(0.5)]), [missed, open, open]);
    assert_eq!(verdicts(&[Some(1.25), Some(0.75)]), [holds, holds, holds]);
}

/// The figures and verdicts of both demands on trees, of 28 replicas, with the words beside them. Each row has a tree, its factor
/// by messages, and that with work.
fn of_trees(rows: &[(&str, f64, Option<f64>)]) -> [(Option<f64>, Verdict, Option<String>); 2] {
    let row = |&(tree, over_sequential, over_sequential_with_work): &(&str, f64, Option<f64>)| SimulatedRow {
        replicas: PAPER_REPLICAS,
        tree: tree.to_owned(),
        over_sequential,
        over_sequential_with_work,
        ..SimulatedRow::default()
    };
    let predictions = vec![PredictionRow { replicas: 2, ratio: Some(1.0), ..PredictionRow::default() }];
    let report = ReplicaReport { predictions, simulated: rows.iter().map(row).collect(), ..report() };
    let gates = judge(&report);
    ["Q8, simulated, 28", "Q8, simulated:"].map(|begin| {
        let gate = gates.iter().find(|gate| gate.gate.starts_with(begin)).expect("a gate");
        (gate.measured, gate.verdict, gate.told.clone())
    })
}

#[test]
fn the_factor_is_judged_by_messages_and_told_with_work() {
    let [factor, shapes] = of_trees(&[("binary", 2.5, Some(1.25)), (AUTO, 3.0, Some(1.25))]);
    assert_eq!((factor.0, factor.1), (Some(3.0), Verdict::Holds));
    let told = factor.2.expect("work was measured");
    assert!(told.contains("1.25 to 1.25") && told.contains("not judged"), "{told}");
    assert_eq!(shapes, (Some(1.0), Verdict::Holds, None));
    let [factor, shapes] = of_trees(&[("binary", 2.5, None), (AUTO, 3.0, None)]);
    assert_eq!((factor.2, shapes.0), (None, Some(1.2)), "nobody measured work");
}

#[test]
fn a_planned_tree_that_is_slower_than_a_shape_by_either_sum_misses_the_demand() {
    for rows in
        [[("binary", 4.0, Some(1.0)), (AUTO, 3.0, Some(1.0))], [("binary", 3.0, Some(2.0)), (AUTO, 3.0, Some(1.5))]]
    {
        let [_, shapes] = of_trees(&rows);
        assert_eq!((shapes.0, shapes.1), (Some(0.75), Verdict::Missed), "{rows:?}");
    }
}

#[test]
fn system_calls_copies_and_answers_at_cuts_are_judged_by_the_most() {
    let cost = |copied_in, copied_out, cut_bytes| CostRow {
        replicas: 3,
        copied_in: Some(copied_in),
        copied_out: Some(copied_out),
        cut_bytes: Some(cut_bytes),
        ..CostRow::default()
    };
    let costs = vec![cost(1.0, 3.0, 64.0), cost(1.0, 6.0, 128.0), CostRow::default()];
    let waits = vec![WaitRow::default(), WaitRow { system_calls: 0.5, ..WaitRow::default() }];
    let gates = judge(&ReplicaReport { costs, waits, ..report() });
    assert_eq!(verdict(&gates, "Q4, 1 KiB: bytes"), (Some(2.0), Verdict::Missed));
    assert_eq!(verdict(&gates, "Q4, a replica's answer"), (Some(2.0), Verdict::Missed));
    assert_eq!(verdict(&gates, "Q4, 2 replicas"), (Some(0.5), Verdict::Missed));
}

#[test]
fn beside_busy_processes_only_the_rival_is_compared() {
    let gates = judge(&ReplicaReport { busy: 2, ..report() });
    let needs = |gate: &Gate| gate.needs.clone().unwrap_or_default();
    let (others, beside): (Vec<&Gate>, Vec<&Gate>) = gates.iter().partition(|gate| needs(gate).contains("--busy"));
    assert!(others.len() > 10 && beside.len() == 1 && needs(beside[0]).contains("redis-server"), "{gates:?}");
}

#[test]
fn writes_that_never_came_back_and_few_events() {
    let mut rows = robustness();
    let stuck = rows.iter_mut().find(|row| row.event == "stopped").expect("a row");
    stuck.writes -= 1;
    assert_eq!(of_rows(rows)[4], (Some(3.0), Verdict::Missed));
    let mut rows = robustness();
    rows.iter_mut().for_each(|row| (row.events, row.p99_ms) = (EVENTS - 1, Some(90.0)));
    assert_eq!(of_rows(rows)[1], (None, Verdict::NotJudged), "the longest of few is no 99th percentile");
}
