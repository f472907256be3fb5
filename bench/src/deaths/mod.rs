//! `corecast bench deaths`: how long a process waits at a channel whose other end was killed with SIGKILL.
//!
//! The other end is a process of its own, this program again, killed while the one that is measured waits for it: the
//! receiver for the next message, the sender in a full ring. The time runs from just before the system call that kills
//! until the waiting call returns. Everything that was sent before has to arrive first, and nothing may be left of the
//! region.

mod ends;
mod victim;

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::region::{RegionDir, SharedRegion};
use corecast::base::wait::Wait;
use corecast::machine::Machine;
use serde::Serialize;

use self::ends::{Channel, End, Outcome, Receiver};
use self::victim::{NAME, SENT, Victim};
use crate::channel_demands::{LEFT, TOLD};
use crate::stats::{Samples, median, most};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::gate::Gate;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

pub use victim::victim;

/// How many processes are killed, and how they are started.
#[derive(Clone, Debug)]
pub struct DeathOptions {
    /// Deaths of each kind.
    pub deaths: usize,
    /// The program that [`victim`] is called in.
    pub program: PathBuf,
    /// The arguments it is called with, before the words that `victim` takes.
    pub arguments: Vec<String>,
}

/// The outcome of `corecast bench deaths`.
#[derive(Clone, Debug, Serialize)]
pub struct DeathReport {
    /// The machine's name.
    pub machine: String,
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// How waiting processes wait.
    pub wait: String,
    /// One entry for each channel and end.
    pub rows: Vec<DeathRow>,
    /// The demands, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// The deaths at one end of one channel.
#[derive(Clone, Debug, Serialize)]
pub struct DeathRow {
    /// The channel.
    pub channel: &'static str,
    /// The end whose process was killed.
    pub killed: &'static str,
    /// The return value of the other one's call.
    pub told: &'static str,
    /// How many were killed.
    pub deaths: usize,
    /// Until the other one's call returned, in milliseconds.
    pub median_ms: f64,
    /// The 99th percentile of the same.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// Files that were left when the survivor had closed its end.
    pub left: usize,
}

/// Kills `DeathOptions::deaths` processes at each end of each channel.
///
/// # Errors
/// [`BenchError::Cancelled`], or [`BenchError::Failed`] if a process cannot be started, a message was lost, or a death was
/// taken for something else.
pub fn deaths(
    machine: &Machine,
    options: &Options,
    wanted: &DeathOptions,
    progress: &mut dyn Progress,
) -> Result<DeathReport, BenchError> {
    let kinds: Vec<_> = Channel::ALL.iter().flat_map(|&channel| End::BOTH.map(|end| (channel, end))).collect();
    let mut rows = Vec::with_capacity(kinds.len());
    for (i, &(channel, killed)) in kinds.iter().enumerate() {
        let mut trials = Vec::with_capacity(wanted.deaths);
        for trial in 0..wanted.deaths {
            options.go_on()?;
            let done = (i as f64 + trial as f64 / wanted.deaths as f64) / kinds.len() as f64;
            progress.step(done, &format!("{}: killing the {}", channel.name(), killed.name()));
            trials.push(one_death(channel, killed, options.wait, wanted)?);
        }
        rows.push(row(channel, killed, &trials));
    }
    progress.step(1.0, "done");
    let worst_ms = most(rows.iter().map(|row| row.p99_ms)).unwrap_or(0.0);
    let left: usize = rows.iter().map(|row| row.left).sum();
    Ok(DeathReport {
        machine: machine.name.clone(),
        commit: options.commit.clone(),
        wait: options.wait.name().to_owned(),
        rows,
        gates: vec![TOLD.judge(Ok(worst_ms)), LEFT.judge(Ok(left as f64))],
    })
}

/// The measurement of one death.
struct Trial {
    told: Outcome,
    waited: Duration,
    left: usize,
}

fn row(channel: Channel, killed: End, trials: &[Trial]) -> DeathRow {
    let waits = Samples::of(trials.iter().map(|trial| trial.waited.as_secs_f64() * 1e3));
    DeathRow {
        channel: channel.name(),
        killed: killed.name(),
        told: trials.first().map_or("nothing", |trial| trial.told.words()),
        deaths: trials.len(),
        median_ms: median(waits.all()).unwrap_or(0.0),
        p99_ms: waits.quantile(0.99).unwrap_or(0.0),
        max_ms: waits.most().unwrap_or(0.0),
        left: trials.iter().map(|trial| trial.left).sum(),
    }
}

/// Sets up a region, kills the process at one end, and looks what the other one is told.
fn one_death(channel: Channel, killed: End, wait: Wait, wanted: &DeathOptions) -> Result<Trial, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::while_doing("make a temporary folder"))?;
    let dir = RegionDir::at(folder.path().join("regions"));
    let region = SharedRegion::named(&dir, NAME, &channel.plan(wait)?).map_err(Failure::refused)?;
    let (told, waited) = match killed {
        End::Sender => {
            let mut receiver = channel.receiver(&region)?;
            let victim = Victim::start(wanted, channel, killed, dir.path())?;
            take_what_was_sent(&mut *receiver)?;
            while_killed(victim, move || receiver.recv().map(|word| Outcome::Message(word.get())))?
        }
        End::Receiver => {
            let mut sender = channel.sender(&region)?;
            let mut victim = Victim::start(wanted, channel, killed, dir.path())?;
            victim.await_word()?;
            let word = NonZeroU64::MIN;
            while sender.try_send(word)? {}
            while_killed(victim, move || sender.send(word))?
        }
    };
    let right = channel.expected(killed);
    if told != right {
        return Err(Failure::Wrong(format!(
            "a killed {} of {}: {}, expected: {}",
            killed.name(),
            channel.name(),
            told.words(),
            right.words()
        )));
    }
    drop(region);
    Ok(Trial { told, waited, left: files_in(dir.path())? })
}

/// All that a sender sent before it was killed comes, in order.
fn take_what_was_sent(receiver: &mut dyn Receiver) -> Result<(), Failure> {
    for expected in 1..=SENT {
        let word = receiver.recv().map_err(|told| Failure::Wrong(format!("word {expected}: {}", told.words())))?;
        if word.get() != expected {
            return Err(Failure::Wrong(format!("word {} came, expected {expected}", word.get())));
        }
    }
    Ok(())
}

/// Kills the process while `call` waits for it, and returns what the call was told and how long after the death.
fn while_killed(
    mut victim: Victim,
    call: impl FnOnce() -> Result<Outcome, Outcome>,
) -> Result<(Outcome, Duration), Failure> {
    let killer = thread::spawn(move || {
        // Long enough for the call to be asleep, if it sleeps.
        thread::sleep(Duration::from_millis(fastrand::u64(5..25)));
        let killed = Instant::now();
        victim.kill().map(|()| killed)
    });
    let told = call().unwrap_or_else(|told| told);
    let returned = Instant::now();
    let killed = killer.join().expect("the killer does not panic").map_err(Failure::while_doing("kill a process"))?;
    match returned.checked_duration_since(killed) {
        Some(waited) => Ok((told, waited)),
        None => Err(Failure::Wrong(format!("{} before anybody was killed", told.words()))),
    }
}

fn files_in(dir: &Path) -> Result<usize, Failure> {
    match std::fs::read_dir(dir) {
        Ok(files) => Ok(files.count()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Failure::while_doing("list what is left of a region")(error)),
    }
}
