//! `corecast bench ump`: the `ump` ring and the `ff` channel of words against the bare line, rival rings and the standard
//! library's channel, between the first two CPUs.

use corecast::machine::Machine;

use corecast_race::error::BenchError;
use corecast_race::gate::Gate;
use corecast_race::op::Op;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use corecast_race::report::{Group, Report};
use corecast_race::run::{self, Heat};

use crate::channel_demands::{ONE_WAY_LINES, ONE_WAY_RTRB, STREAM_RTRB, WORDS_RTRB};
use crate::contender::contenders;

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
