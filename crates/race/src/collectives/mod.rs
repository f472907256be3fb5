//! `corecast bench collectives`: barriers, broadcasts and reductions of corecast against their rivals.

mod gates;

use corecast::machine::Machine;

use crate::contender::contenders;
use crate::error::BenchError;
use crate::options::Options;
use crate::progress::Progress;
use crate::report::Report;
use crate::run::{self, Heat};

/// Races every contender of each operation that `options` name, with each length, among each number of participants.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the run is cancelled, or threads cannot be bound to CPUs. A
/// contender that fails is a row of the report that says so.
pub fn collectives(machine: &Machine, options: &Options, progress: &mut dyn Progress) -> Result<Report, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let heat = |(op, bytes, members)| Heat::of(options, op, bytes, members, contenders(op));
    let heats = options.heats(cpus.len())?.into_iter().map(heat).collect();
    let mut report = run::run(machine, options, &cpus, heats, progress)?;
    report.gates = gates::judge(&report.groups, options.wait);
    Ok(report)
}
