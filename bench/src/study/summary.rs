//! The study in words and tables, as Markdown.

use std::fmt::Write;

use corecast::plan::{Effort, Operation, SHAPES};

use super::gates::{self, SMELT, mean_and_worst, percent_above};
use super::{Case, Selection};
use crate::stats::{self, geometric_mean, least, median, most};

/// Where and how the study ran: what a reader needs to make it again.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The machine that it ran on, in words.
    pub place: String,
    /// When: an RFC 3339 date.
    pub date: String,
    /// The version and commit of corecast.
    pub version: String,
    /// True if every plan starts from the lowest CPU of its case.
    pub is_root_fixed: bool,
    /// The command.
    pub command: String,
}

/// The whole text.
#[must_use]
pub fn markdown(cases: &[Case], origin: &Origin) -> String {
    let mut text = String::new();
    head(&mut text, cases, origin);
    verdicts(&mut text, cases);
    for operation in Operation::ALL {
        let cases: Vec<&Case> = cases.iter().filter(|case| case.operation == operation).collect();
        if !cases.is_empty() {
            operation_tables(&mut text, operation, &cases);
        }
    }
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn head(text: &mut String, cases: &[Case], origin: &Origin) {
    let Origin { place, date, version, is_root_fixed, command } = origin;
    let root = if *is_root_fixed { "the root is the lowest CPU" } else { "the root is free" };
    let mut machines: Vec<&str> = cases.iter().map(|case| case.machine.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let (machines, cases) = (machines.len(), cases.len());
    let _ = write!(
        text,
        "# The planner on captured machines\n\n\
         Costs are those of {machines} machine models, modelled and not raced: they are the same wherever this runs. \
         Times are of {place}, {date}, {version}.\n\n\
         ```sh\n{command}\n```\n\n\
         {cases} cases: each operation among the first n CPUs of each machine, counted {} over its NUMA nodes or {} first; \
         {root}. *Gap* is how far a plan is above the lower bound, or above the optimum where that is proven. \
         A percentage is a mean over cases unless it says worst. The table with a line for each case is beside this file.\n\n",
        Selection::RoundRobin.name(),
        Selection::WholeClusters.name(),
    );
}

fn verdicts(text: &mut String, cases: &[Case]) {
    line(text, "## What the planner has to keep to\n");
    line(text, "Times are judged by their median, since the machine is shared; the longest is told.\n");
    line(text, "| rule | found | |\n|---|---|---|");
    for gate in gates::gates(cases) {
        line(
            text,
            &format!("| {} | {} | {} |", gate.rule, gate.found, if gate.holds { "holds" } else { "**missed**" }),
        );
    }
    text.push('\n');
}

fn operation_tables(text: &mut String, operation: Operation, cases: &[&Case]) {
    line(text, &format!("## {operation}\n"));
    line(text, "How much dearer than the plan of normal effort, geometric mean:\n");
    let names = SHAPES.iter().map(|shape| shape.name());
    let shapes: Vec<&str> = names.collect();
    let sizes = sizes(cases);
    let by_size = |names: &[&str], cost: &dyn Fn(&Case, &str) -> Option<f64>| {
        let mut rows = Vec::new();
        for name in names {
            let cells = sizes.iter().map(|&members| {
                let of_size = cases.iter().filter(|case| case.members == members);
                let ratio = |case: &&Case| Some(cost(case, name)? / case.normal().cost);
                let ratios: Vec<f64> = of_size.filter_map(ratio).filter(|ratio| ratio.ln().is_finite()).collect();
                geometric_mean(&ratios).map_or_else(String::new, |mean| format!("{mean:.2}"))
            });
            let cells: Vec<String> = cells.collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                rows.push(format!("| {name} | {} |", cells.join(" | ")));
            }
        }
        rows
    };
    let columns: Vec<String> = sizes.iter().map(usize::to_string).collect();
    line(text, &format!("| n | {} |\n|---|{}", columns.join(" | "), "---:|".repeat(columns.len())));
    by_size(&shapes, &|case, name| Some(case.shape(name))).iter().for_each(|row| line(text, row));
    let mut planners: Vec<&str> =
        cases.iter().flat_map(|case| case.planners.iter().map(|tried| tried.name.as_str())).collect();
    planners.sort_unstable();
    planners.dedup();
    let cost = |case: &Case, name: &str| case.planners.iter().find(|tried| tried.name == name).map(|tried| tried.cost);
    by_size(&planners, &cost).iter().for_each(|row| line(text, row));
    line(
        text,
        "\n| n | cases | gap of quick | gap of normal | worst | gap of patient | least below Smelt's | mean below |",
    );
    line(text, &format!("|---:|---:|---:|---:|---:|---:|---:|---:|\n{}", gap_rows(cases)));
    line(text, "| n | quick, ms | longest | normal, ms | longest | proof or bound, ms | longest |");
    line(text, &format!("|---:|---:|---:|---:|---:|---:|---:|\n{}", time_rows(cases)));
}

/// The numbers of members among these cases, ascending.
fn sizes(cases: &[&Case]) -> Vec<usize> {
    let mut sizes: Vec<usize> = cases.iter().map(|case| case.members).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn gap_rows(cases: &[&Case]) -> String {
    let mut rows = String::new();
    for members in sizes(cases) {
        let cases: Vec<&&Case> = cases.iter().filter(|case| case.members == members).collect();
        if cases.is_empty() {
            continue;
        }
        let gaps = |effort: Effort| -> Vec<f64> {
            let bounded = cases.iter().filter(|case| case.bound > 0.0);
            bounded.filter_map(|case| Some(percent_above(case.effort(effort)?.cost, case.bound))).collect()
        };
        let percent = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2} %"));
        let mean = |effort| percent(mean_and_worst(&gaps(effort)).map(|(mean, _)| mean));
        let worst = percent(mean_and_worst(&gaps(Effort::Normal)).map(|(_, worst)| worst));
        let below: Vec<f64> = cases.iter().map(|case| 100.0 * (1.0 - case.normal().cost / case.shape(SMELT))).collect();
        let [least, mean_below] =
            [least(below.iter().copied()), stats::mean(&below)].map(|below| below.expect("cases"));
        let count = cases.len();
        let (quick, normal, patient) = (mean(Effort::Quick), mean(Effort::Normal), mean(Effort::Patient));
        let row = format!(
            "| {members} | {count} | {quick} | {normal} | {worst} | {patient} | {least:.1} % | {mean_below:.1} % |"
        );
        line(&mut rows, &row);
    }
    rows
}

fn time_rows(cases: &[&Case]) -> String {
    let mut rows = String::new();
    for members in sizes(cases) {
        let of_size: Vec<&&Case> = cases.iter().filter(|case| case.members == members).collect();
        if of_size.is_empty() {
            continue;
        }
        let cells = |ms: Vec<f64>| {
            let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
            format!("{} | {}", cell(median(&ms)), cell(most(ms)))
        };
        let of_effort = |effort: Effort| {
            let times = of_size.iter().filter_map(|case| Some(case.effort(effort)?.time_ms));
            cells(times.collect())
        };
        let proofs = of_size.iter().map(|case| {
            let exact = case.effort(Effort::Exact).map_or(0.0, |tried| tried.time_ms);
            case.bound_ms + exact
        });
        let (quick, normal) = (of_effort(Effort::Quick), of_effort(Effort::Normal));
        line(&mut rows, &format!("| {members} | {quick} | {normal} | {} |", cells(proofs.collect())));
    }
    rows
}
