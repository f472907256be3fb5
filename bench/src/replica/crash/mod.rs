//! `corecast bench replica --crash`: nodes are killed, stopped and started again while clients read and write.
//!
//! An episode is one group of three to five processes ([`crash_node`]), each of which is a node with one or two clients. The
//! parent kills and stops nodes at random: the leader, the acceptor, both, any, all but one; some processes kill themselves at
//! places in the code. Each one that is gone is replaced, now and then by one that gets little memory, as if it were all taken:
//! it may fail to join or to give its state, and harms nobody. After some seconds all that are left read everything, and the
//! parent judges all that was seen: no counter has lost an increment or has one twice, the history of each key is linearizable,
//! and all replicas are the same.
//!
//! Groups with files lose all their processes now and then, and at the end: a new one makes the group again from the files, and
//! all that was answered has to be there.
//!
//! Over messages one node at a time is killed or stopped, once the one before has its place again: with leader and acceptor at
//! the same time, the log is gone.
//!
//! - `plan`: the words a node is started with; `node`, `client`: its work; `history`: what clients saw, in files;
//! - `event`: what is done to nodes; `child`: a node as the parent sees it; `episode`: a group from its making to its end;
//! - `judge`: whether all is well; `report`, `gates`: the outcome, and what is asked.

mod child;
mod client;
mod episode;
mod event;
mod gates;
mod history;
mod judge;
mod node;
mod plan;
mod report;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

pub use node::crash_node;
pub use report::{CrashEpisode, CrashFault, CrashOptions, CrashReport, CrashRow};

use self::event::Event;
use crate::stats::Samples;

/// Runs episodes until the time is up.
///
/// # Errors
/// [`BenchError::Cancelled`], or [`BenchError::Failed`] if a process cannot be started. Faults are in the report.
pub fn crash(options: &Options, wanted: &CrashOptions, progress: &mut dyn Progress) -> Result<CrashReport, BenchError> {
    let (began, limit) = (Instant::now(), Duration::from_secs(wanted.seconds));
    let mut seeds = fastrand::Rng::with_seed(wanted.seed);
    let mut counts = CrashEpisode::default();
    let mut pauses: Vec<Vec<f64>> = vec![Vec::new(); Event::NAMES.len()];
    let (mut faults, mut episodes) = (Vec::new(), 0);
    let is_enough = |counts: &CrashEpisode| wanted.kills.is_some_and(|kills| counts.kills + counts.stops >= kills);
    while episodes == 0 || (began.elapsed() < limit && !is_enough(&counts)) {
        options.go_on()?;
        let fraction = began.elapsed().as_secs_f64() / limit.as_secs_f64();
        progress.step(fraction, &format!("killing: {} kills, {} stops", counts.kills, counts.stops));
        let seed = if episodes == 0 { wanted.seed } else { seeds.u64(..1 << 53) };
        episodes += 1;
        let most = wanted.kills.map(|kills| kills - counts.kills - counts.stops);
        one_episode(options, wanted, seed, most, &mut counts, &mut pauses, &mut faults)?;
    }
    progress.step(1.0, "done");
    let rows = Event::NAMES.iter().zip(&pauses).map(|(event, pauses)| row(event, pauses)).collect();
    let seconds = began.elapsed().as_secs_f64();
    let report = CrashReport {
        commit: options.commit.clone(),
        seed: wanted.seed,
        messages: wanted.is_by_messages,
        files: wanted.has_files,
        seconds,
        episodes,
        counts,
        rows,
        faults,
        gates: Vec::new(),
    };
    Ok(CrashReport { gates: gates::gates(&report), ..report })
}

fn one_episode(
    options: &Options,
    wanted: &CrashOptions,
    seed: u64,
    most: Option<u64>,
    counts: &mut CrashEpisode,
    pauses: &mut [Vec<f64>],
    faults: &mut Vec<CrashFault>,
) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
    let mut found = episode::run(options, wanted, seed, most, folder.path())?;
    let times = judge::answered_writes(&found.histories);
    for (event, at_ns) in found.happened {
        let pause = judge::pause_ns(&times, at_ns);
        pauses[event].extend(pause.map(|pause_ns| pause_ns as f64 / 1e6));
    }
    judge::settle_reads(&mut found.histories, &found.deaths_of_all);
    found.faults.extend(judge::judge(found.histories, &mut found.counts));
    counts.add(&found.counts);
    if found.faults.is_empty() {
        return Ok(());
    }
    let file = keep(wanted, seed, &[&found.faults[..], &found.remarks[..]].concat());
    for fault in found.faults {
        let what = fault.lines().next().unwrap_or_default().to_owned();
        faults.push(CrashFault { seed, what, file: file.clone() });
    }
    Ok(())
}

/// Writes the faults of an episode to a file.
fn keep(wanted: &CrashOptions, seed: u64, faults: &[String]) -> Option<PathBuf> {
    let path = wanted.faults.join(format!("replica-crash-{seed}.txt"));
    std::fs::write(&path, faults.join("\n")).ok().map(|()| path)
}

fn row(event: &'static str, pauses: &[f64]) -> CrashRow {
    let samples = Samples::of(pauses.iter().copied());
    let (median_ms, p99_ms, max_ms) = (samples.quantile(0.5), samples.quantile(0.99), samples.most());
    CrashRow { event, events: pauses.len(), median_ms, p99_ms, max_ms }
}
