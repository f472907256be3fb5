//! `corecast bench ump`: the `ump` ring and the `ff` channel of words against the bare line, rival rings and the standard
//! library's channel, between the first two CPUs.

use corecast::machine::Machine;

use crate::rules::{at_least, at_most};
use corecast_race::error::BenchError;
use corecast_race::gate::{Demand, Gate};
use corecast_race::op::Op;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use corecast_race::report::{Group, Report};
use corecast_race::run::{self, Heat};

use crate::contender::contenders;

const COMMAND: &str = "corecast bench ump";

pub(crate) const ONE_WAY_LINES: Demand = at_most(1.8, "ump, 56 bytes one way, in bare line transfers", COMMAND);
pub(crate) const ONE_WAY_RTRB: Demand = at_most(1.0, "ump, 56 bytes one way, time / rtrb's", COMMAND);
pub(crate) const STREAM_RTRB: Demand = at_least(1.5, "ump / rtrb, stream of 56 bytes, 1024 slots", COMMAND);
pub(crate) const WORDS_RTRB: Demand = at_least(1.5, "ff / rtrb, stream of words, 1024 slots", COMMAND);

/// Races one message of 56 bytes one way, a stream of them, and a stream of single words.
///
/// # Errors
/// As [`collectives`](fn@corecast_race::collectives); the options' operations and participants are not looked at.
pub fn ump(machine: &Machine, options: &Options, progress: &mut dyn Progress) -> Result<Report, BenchError> {
    let cpus = options.pair(machine)?.into_iter().collect();
    let heat = |op: Op| Heat::of(options, op, op.bytes(), 2, contenders(op));
    let heats = [Op::OneWay, Op::Stream, Op::Words].map(heat).into_iter().collect();
    let mut report = run::run(machine, options, &cpus, heats, progress)?;
    report.gates = gates(&report.groups);
    Ok(report)
}

fn gates(groups: &[Group]) -> Vec<Gate> {
    let ratio = |op, above, below| Ok(median_ns(groups, op, above)? / median_ns(groups, op, below)?);
    vec![
        ONE_WAY_LINES.judge(ratio(Op::OneWay, "ump", "raw-line")),
        ONE_WAY_RTRB.judge(ratio(Op::OneWay, "ump", "rtrb")),
        STREAM_RTRB.judge(ratio(Op::Stream, "rtrb/1024", "ump/1024")),
        WORDS_RTRB.judge(ratio(Op::Words, "rtrb/1024", "ff/1024")),
    ]
}

/// A contender's median at an operation where everybody has a CPU, or what it would take.
pub(crate) fn median_ns(groups: &[Group], op: Op, contender: &str) -> Result<f64, String> {
    let group = groups.iter().find(|group| group.op == op).ok_or_else(|| format!("operation {op}"))?;
    if group.oversubscribed {
        return Err("2 CPUs".to_owned());
    }
    let row = group.rows.iter().find(|row| row.contender == contender);
    let row = row.ok_or_else(|| format!("contender {contender}"))?;
    let reason = || row.skipped.as_deref().unwrap_or("no samples").to_owned();
    row.summary.map(|summary| summary.median_ns).ok_or_else(|| format!("contender {contender}: {}", reason()))
}
