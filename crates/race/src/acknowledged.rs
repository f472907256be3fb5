//! `corecast bench acknowledged`: rings and trees over every kind of edge, in bursts of one event to many.

use corecast::machine::Machine;

use crate::contender::acknowledged as contender;
use crate::error::BenchError;
use crate::gate::{Demand, Gate};
use crate::op::Op;
use crate::options::Options;
use crate::progress::Progress;
use crate::report::{Group, Report};
use crate::run::{self, Heat};

const COMMAND: &str = "corecast bench acknowledged";
/// The burst in which throughput is judged.
const LONG: usize = 128;
/// With fewer members than this a ring has the same edges as a tree, or nearly.
const FEWEST_FOR_RINGS: usize = 4;

const THROUGHPUT: Demand =
    Demand { gate: "ring / tree over messages, k = 2, bursts of 128", limit: 1.2, is_most: false, command: COMMAND };
const LATENCY: Demand = Demand {
    gate: "ring over messages, k = 2, time of one event / tree's",
    limit: 1.0,
    is_most: true,
    command: COMMAND,
};
const ORDER: Demand = Demand {
    gate: "ordered ring over messages, k = 2, time of 128 events / ring's",
    limit: 1.05,
    is_most: true,
    command: COMMAND,
};
const COUNTERS: Demand =
    Demand { gate: "counters / messages, ring of k = 2, bursts of 128", limit: 2.0, is_most: false, command: COMMAND };

/// What `bench acknowledged` races beside what all benchmarks ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcknowledgedOptions {
    /// The arities, each from 1; 2 by default.
    pub arities: Vec<usize>,
    /// Events published before the root waits for all of them, each from 1; 1, 8, 32 and 128 by default.
    pub bursts: Vec<usize>,
}

impl Default for AcknowledgedOptions {
    fn default() -> Self {
        Self { arities: vec![2], bursts: vec![1, 8, 32, LONG] }
    }
}

/// Races every kind of acknowledged broadcast in bursts of each length, among as many members as CPUs and four times as
/// many, or as many as `options` say.
///
/// # Errors
/// As [`collectives`](fn@crate::collectives).
pub fn acknowledged(
    machine: &Machine,
    options: &Options,
    what: &AcknowledgedOptions,
    progress: &mut dyn Progress,
) -> Result<Report, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let op = Op::Acknowledged;
    let mut heats = Vec::new();
    for participants in options.group_sizes(op, cpus.len())? {
        heats.extend(what.bursts.iter().map(|&burst| {
            let contenders = contender::contenders(&what.arities, burst);
            Heat { op, burst: Some(burst), bytes: op.bytes(), participants, contenders }
        }));
    }
    let mut report = run::run(machine, options, &cpus, heats, progress)?;
    report.gates = gates(&report.groups);
    Ok(report)
}

fn gates(groups: &[Group]) -> Vec<Gate> {
    let ratio = |burst, fewest, above: [&str; 2], below: [&str; 2]| {
        let above = median_ns(groups, burst, fewest, &contender::name(above[0], above[1], 2))?;
        Ok(above / median_ns(groups, burst, fewest, &contender::name(below[0], below[1], 2))?)
    };
    let (ring, tree) = (["ring", "messages"], ["tree", "messages"]);
    vec![
        THROUGHPUT.judge(ratio(LONG, FEWEST_FOR_RINGS, tree, ring)),
        LATENCY.judge(ratio(1, FEWEST_FOR_RINGS, ring, tree)),
        ORDER.judge(ratio(LONG, 2, ["ordered-ring", "messages"], ring)),
        COUNTERS.judge(ratio(LONG, 2, ring, ["ring", "counters"])),
    ]
}

/// A contender's median in the largest group of at least `fewest` members with a CPU each, or what it would take.
fn median_ns(groups: &[Group], burst: usize, fewest: usize, contender: &str) -> Result<f64, String> {
    let bursts = groups.iter().filter(|group| group.burst == Some(burst));
    let fit = bursts.filter(|group| !group.oversubscribed && group.participants >= fewest);
    let group = fit.max_by_key(|group| group.participants);
    let group = group.ok_or_else(|| format!("bursts of {burst} among {fewest} members with a CPU each"))?;
    let row = group.rows.iter().find(|row| row.contender == contender);
    let row = row.ok_or_else(|| format!("contender {contender}"))?;
    let reason = || row.skipped.as_deref().unwrap_or("no samples").to_owned();
    row.summary.map(|summary| summary.median_ns).ok_or_else(|| format!("contender {contender}: {}", reason()))
}
