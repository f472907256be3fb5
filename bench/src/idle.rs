//! `corecast bench idle`: the CPU time that a group burns while it waits for a late member, and a receiver for a message.

use std::time::Duration;

use corecast::base::wait::Wait;
use corecast::machine::Machine;
use corecast_race::contender_rows;
use serde::Serialize;

use corecast_race::contender::Setting;
use corecast_race::error::BenchError;
use corecast_race::gate::Gate;
use corecast_race::harness::{Crew, Pace};
use corecast_race::op::Op;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use corecast_race::race::Entrant;
use corecast_race::report::Timing;
use corecast_race::run;

use crate::channel_demands::IDLE;
use crate::contender::contenders;

/// The outcome of `corecast bench idle`.
#[derive(Clone, Debug, Serialize)]
pub struct IdleReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// The number of participants, one of which comes late.
    pub participants: usize,
    /// The CPU of each participant, by rank.
    pub cpus: Vec<u32>,
    /// How late it comes.
    pub late_ms: u64,
    /// How corecast's contenders waited.
    pub wait: String,
    /// One entry for each barrier.
    pub rows: Vec<IdleRow>,
    /// One entry for each channel, whose receiver waits for a sender that is as late.
    pub channels: Vec<IdleRow>,
    /// The demands on corecast's channels, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// The cost of waiting in one barrier, or at one channel.
#[derive(Clone, Debug, Serialize)]
pub struct IdleRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// CPU time of all waiting participants together, as a share of one CPU: 100 is one CPU kept busy.
    pub cpu_percent: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

contender_rows!(IdleRow);

/// In every barrier rank 0 comes `late` after the others, and in every channel the sender sends so late; the CPU time of
/// the others is counted.
///
/// With `options.participants` empty there is a member for each CPU, at least two. A channel has one receiver.
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
    let group = run::setting(machine, options, &cpus, Op::Barrier, participants);
    let pair = Setting::new(machine, Op::Idle, &options.pair(machine)?.into_iter().collect(), 2, options.wait);
    let count = |op| options.raced(contenders(op)).len() as f64;
    let border = count(group.op) / (count(group.op) + count(pair.op)).max(1.0);
    let rows = wait_in_each(&group, options, late, &mut Part { whole: &mut *progress, from: 0.0, to: border })?;
    let channels = wait_in_each(&pair, options, late, &mut Part { whole: &mut *progress, from: border, to: 1.0 })?;
    progress.step(1.0, "done");
    Ok(IdleReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        participants,
        cpus: group.seats.iter().map(|cpu| cpu.get()).collect(),
        late_ms: u64::try_from(late.as_millis()).unwrap_or(u64::MAX),
        wait: options.wait.name().to_owned(),
        rows,
        gates: vec![gate(&channels, options.wait)],
        channels,
    })
}

/// Every contender of the setting's operation.
fn wait_in_each(
    setting: &Setting<'_>,
    options: &Options,
    late: Duration,
    progress: &mut dyn Progress,
) -> Result<Vec<IdleRow>, BenchError> {
    let mut crew = Crew::start(&setting.seats, setting.oversubscribed, late + Pace::THOROUGH.limit)?;
    let contenders = options.raced(contenders(setting.op));
    let total = contenders.len() as f64;
    let mut rows = Vec::with_capacity(contenders.len());
    for (i, contender) in contenders.into_iter().enumerate() {
        options.go_on()?;
        let mut entrant = Entrant::build(contender, setting, &options.cancel);
        progress.step(i as f64 / total, &format!("idle in {}", entrant.name()));
        rows.push(row(&mut entrant, &mut crew, late));
    }
    options.go_on()?;
    Ok(rows)
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
        skipped: entrant.skipped().map(|skip| skip.reason.clone()),
        failed: entrant.skipped().is_some_and(|skip| skip.failed),
    }
}

/// Judged by the worst of corecast's channels, if they were all measured and asked to sleep.
fn gate(channels: &[IdleRow], wait: Wait) -> Gate {
    let measured = |row: &IdleRow| {
        let reason = || row.skipped.as_deref().unwrap_or("not measured");
        row.cpu_percent.ok_or_else(|| format!("contender {}: {}", row.contender, reason()))
    };
    let ours = channels.iter().filter(|row| row.ours).map(measured);
    let worst = ours.reduce(|worst, next| Ok(worst?.max(next?))).unwrap_or_else(|| Err("a channel".to_owned()));
    IDLE.judge(if wait.sleeps() { worst } else { Err("--wait adaptive".to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(contender: &str, ours: bool, cpu_percent: Option<f64>) -> IdleRow {
        let skipped = cpu_percent.is_none().then(|| "not here".to_owned());
        IdleRow { contender: contender.to_owned(), ours, cpu_percent, skipped, failed: false }
    }

    #[test]
    fn the_worst_of_ours_is_judged_if_all_could_sleep() {
        let rows = [row("a", true, Some(0.1)), row("b", true, Some(0.2)), row("rival", false, Some(99.0))];
        assert_eq!((gate(&rows, Wait::Park).measured, gate(&rows, Wait::Park).verdict), (Some(0.2), Verdict::Holds));
        assert_eq!(gate(&rows, Wait::Spin).needs.as_deref(), Some("--wait adaptive"));
        let missing = [row("a", true, Some(0.1)), row("b", true, None)];
        assert_eq!(gate(&missing, Wait::Park).needs.as_deref(), Some("contender b: not here"));
    }
}
