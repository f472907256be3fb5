//! The demands on the planner, and whether it meets them.

use std::collections::BTreeMap;

use corecast::plan::{Effort, Operation};

use super::Case;
use crate::stats::{mean, median, most};

/// The tree that the seed paper's program uses.
pub(super) const SMELT: &str = "adaptive+shuffle+sort";

/// A rule, what was found, and whether it holds.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) rule: String,
    pub(super) found: String,
    pub(super) holds: bool,
}

/// Every gate that these cases say something about.
pub(super) fn gates(cases: &[Case]) -> Vec<Gate> {
    let single: Vec<&Case> = cases.iter().filter(|case| !case.operation.has_both_phases()).collect();
    let mut gates = Vec::new();
    gates.extend(against_optimum(&single));
    for (members, most) in [(32, 2.0), (64, 3.5), (128, 6.0)] {
        gates.extend(against_bound(&single, members, Effort::Normal, most));
    }
    gates.extend(against_bound(&single, 128, Effort::Patient, 4.0));
    gates.extend(against_smelt(&single));
    gates.extend(against_shapes(&single));
    gates.extend(times(&single));
    if !cases.is_empty() {
        let equal = cases.iter().filter(|case| case.is_evaluation_equal).count();
        let rule = "the predicted cost equals an independent evaluation".to_owned();
        gates.push(Gate { rule, found: format!("{equal} of {}", cases.len()), holds: equal == cases.len() });
    }
    gates
}

/// How much dearer, in percent.
pub(super) fn percent_above(cost: f64, least: f64) -> f64 {
    if cost <= least { 0.0 } else { 100.0 * (cost / least - 1.0) }
}

/// The mean and the largest; `None` of nothing.
pub(super) fn mean_and_worst(values: &[f64]) -> Option<(f64, f64)> {
    Some((mean(values)?, most(values.iter().copied())?))
}

fn against_optimum(cases: &[&Case]) -> Option<Gate> {
    let proven = cases.iter().filter(|case| case.members <= 16 && case.is_proven);
    let above: Vec<f64> = proven.map(|case| percent_above(case.normal().cost, case.bound)).collect();
    let all = cases.iter().filter(|case| case.members <= 16).count();
    let (mean, worst) = mean_and_worst(&above)?;
    Some(Gate {
        rule: "normal, n <= 16: at most 0.2 % mean and 2 % worst above the proven optimum".to_owned(),
        found: format!("{mean:.3} % mean, {worst:.2} % worst; {} of {all} cases proven", above.len()),
        holds: mean <= 0.2 && worst <= 2.0 && above.len() == all,
    })
}

fn against_bound(cases: &[&Case], members: usize, effort: Effort, most: f64) -> Option<Gate> {
    let cases = cases.iter().filter(|case| case.members == members && case.bound > 0.0);
    let above = cases.filter_map(|case| Some(percent_above(case.effort(effort)?.cost, case.bound)));
    let above: Vec<f64> = above.collect();
    let (mean, worst) = mean_and_worst(&above)?;
    Some(Gate {
        rule: format!("{effort}, n = {members}: at most {most} % above the lower bound on average"),
        found: format!("{mean:.2} % ({worst:.1} % worst) of {} cases", above.len()),
        holds: mean <= most,
    })
}

fn against_smelt(cases: &[&Case]) -> Vec<Gate> {
    let of = |operation: Operation| {
        let cases = cases.iter().filter(|case| case.members >= 32 && case.operation == operation);
        let below: Vec<f64> = cases.map(|case| 100.0 * (1.0 - case.normal().cost / case.shape(SMELT))).collect();
        mean(&below).map(|mean| Gate {
            rule: format!("normal, n >= 32, {operation}: on average at least 20 % below {SMELT}"),
            found: format!("{mean:.1} % below, {} cases", below.len()),
            holds: mean >= 20.0,
        })
    };
    [Operation::Broadcast, Operation::Reduce].into_iter().filter_map(of).collect()
}

fn against_shapes(cases: &[&Case]) -> Option<Gate> {
    let large: Vec<&&Case> = cases.iter().filter(|case| case.members >= 32).collect();
    let is_above = |case: &&&&Case| case.shapes.iter().any(|shape| shape.cost < case.normal().cost);
    let above = large.iter().filter(is_above).count();
    (!large.is_empty()).then(|| Gate {
        rule: "normal, n >= 32: never above any seed shape".to_owned(),
        found: format!("{above} of {} cases are", large.len()),
        holds: above == 0,
    })
}

/// The budgets, which are for one machine of two cores: the median over the cases of each size, and the longest.
fn times(cases: &[&Case]) -> Vec<Gate> {
    let limits: [(Effort, usize, usize, f64); 8] = [
        (Effort::Quick, 64, 64, 2.0),
        (Effort::Quick, 256, 256, 20.0),
        (Effort::Normal, 0, 20, 12.0),
        (Effort::Normal, 21, 64, 60.0),
        (Effort::Normal, 65, 256, 240.0),
        (Effort::Exact, 12, 12, 50.0),
        (Effort::Exact, 16, 16, 3000.0),
        (Effort::Patient, 65, 256, f64::INFINITY),
    ];
    let gate = |(effort, from, to, limit): (Effort, usize, usize, f64)| {
        let mut by_size: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for case in cases.iter().filter(|case| (from..=to).contains(&case.members)) {
            by_size.entry(case.members).or_default().extend(case.effort(effort).map(|tried| tried.time_ms));
        }
        let median = most(by_size.values().map(|ms| median(ms)))?;
        let longest = most(by_size.values().flatten().copied()).unwrap_or(0.0);
        let sizes = if from == to { format!("n = {to}") } else { format!("n = {} to {to}", from.max(4)) };
        let told = if limit.is_finite() { format!("under {limit} ms") } else { "told only".to_owned() };
        Some(Gate {
            rule: format!("time of {effort}, {sizes}: {told}"),
            found: format!("median of the slowest size {median:.2} ms, longest {longest:.2} ms"),
            holds: median <= limit,
        })
    };
    limits.into_iter().filter_map(gate).collect()
}
