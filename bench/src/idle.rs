//! `corecast bench idle`: the CPU time that a group burns while it waits for one late member.

use std::time::Duration;

use corecast::machine::Machine;

use crate::contender::contenders;
use crate::error::BenchError;
use crate::harness::{Crew, Entrant, Pace};
use crate::op::Op;
use crate::options::Options;
use crate::progress::Progress;
use crate::report::{IdleReport, IdleRow, Timing, commit};
use crate::run;

/// In every barrier rank 0 comes `late` after the others; the CPU time of the others is counted.
///
/// With `options.participants` empty there are as many as CPUs, at least two.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the run is cancelled, or threads cannot be bound to CPUs.
pub fn idle(
    machine: &Machine,
    options: &Options,
    late: Duration,
    progress: &mut dyn Progress,
) -> Result<IdleReport, BenchError> {
    let cpus = options.usable_cpus(machine)?;
    let participants = options.participants.first().copied().unwrap_or(cpus.len().max(2));
    let setting = run::setting(machine, options, &cpus, Op::Barrier, participants);
    let mut crew = Crew::start(&setting.seats, setting.oversubscribed, late + Pace::THOROUGH.limit)?;
    let contenders = contenders(Op::Barrier);
    let total = contenders.len() as f64;
    let mut rows = Vec::with_capacity(contenders.len());
    for (i, contender) in contenders.into_iter().enumerate() {
        options.go_on()?;
        let mut entrant = Entrant::build(contender, &setting);
        progress.step(i as f64 / total, &format!("idle in {}", entrant.name()));
        rows.push(row(&mut entrant, &mut crew, late));
    }
    progress.step(1.0, "done");
    Ok(IdleReport {
        machine: machine.name.clone(),
        commit: commit(),
        participants,
        cpus: setting.seats.iter().map(|cpu| cpu.get()).collect(),
        late_ms: u64::try_from(late.as_millis()).unwrap_or(u64::MAX),
        wait: options.wait.name().to_owned(),
        rows,
    })
}

fn row(entrant: &mut Entrant, crew: &mut Crew, late: Duration) -> IdleRow {
    entrant.prepare(crew, Timing::Batches, &Pace::QUICK);
    let cpu = entrant.late(crew, 0, late);
    let waited = |cpu: Vec<Duration>| cpu.into_iter().skip(1).sum::<Duration>();
    let percent = |cpu: Duration| 100.0 * cpu.as_secs_f64() / late.as_secs_f64().max(1e-9);
    IdleRow {
        contender: entrant.name(),
        ours: entrant.is_ours(),
        cpu_percent: cpu.map(waited).map(percent),
        skipped: entrant.skipped().map(str::to_owned),
    }
}
