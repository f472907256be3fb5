//! `corecast bench ump`: the `ump` ring against the bare line, `rtrb` and the standard library's channel, between the
//! first two CPUs.

use corecast::machine::Machine;

use crate::error::BenchError;
use crate::op::Op;
use crate::options::Options;
use crate::progress::Progress;
use crate::report::Report;
use crate::run;

/// Races one message of 56 bytes one way, and a stream of them.
///
/// # Errors
/// As [`collectives`](crate::collectives); the options' operations and participants are not looked at.
pub fn ump(machine: &Machine, options: &Options, progress: &mut dyn Progress) -> Result<Report, BenchError> {
    let cpus = options.pair(machine)?.into_iter().collect();
    run::run(machine, options, &cpus, &[(Op::OneWay, 2), (Op::Stream, 2)], progress)
}
