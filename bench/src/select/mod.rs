//! `corecast bench select`: what it costs to receive from one of 64 channels, and whether all of them have their turn.
//!
//! The cost is a race like any other (`Op::Select`): a stream through one busy channel of 64, against the same stream
//! through one channel alone. The turns are counted while all 64 channels are full (`fairness`).

mod fairness;

use corecast::machine::Machine;
use serde::Serialize;

use crate::pair::median_ns;
use corecast_race::contender::Setting;
use corecast_race::error::BenchError;
use corecast_race::op::Op;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use corecast_race::report::Report;
use corecast_race::run::{self, Heat};

use crate::channel_demands::{ALL_BUSY, ONE_BUSY};
use crate::contender::contenders;

pub use fairness::Fairness;

/// The part of the time that the race takes, about.
const RACE_PART: f64 = 0.95;

/// The outcome of `corecast bench select`.
#[derive(Clone, Debug, Serialize)]
pub struct SelectReport {
    /// The race with one busy channel, and all gates.
    #[serde(flatten)]
    pub race: Report,
    /// The turns with all channels busy.
    pub fairness: Fairness,
}

/// Races a stream through one of 64 channels, and counts turns with all of them busy, between the first two CPUs.
///
/// # Errors
/// As [`ump`](crate::ump); and [`BenchError::Failed`] if the channels fail while turns are counted.
pub fn select(machine: &Machine, options: &Options, progress: &mut dyn Progress) -> Result<SelectReport, BenchError> {
    let cpus = options.pair(machine)?.into_iter().collect();
    let mut part = Part { whole: &mut *progress, from: 0.0, to: RACE_PART };
    let heat = Heat::of(options, Op::Select, Op::Select.bytes(), 2, contenders(Op::Select));
    let mut race = run::run(machine, options, &cpus, vec![heat], &mut part)?;
    let setting = Setting::new(machine, Op::Select, &cpus, 2, options.wait);
    progress.step(RACE_PART, "turns with all channels busy");
    let fairness = fairness::measure(&setting, options)?;
    progress.step(1.0, "done");
    let median_ns = |contender| median_ns(&race.groups, Op::Select, contender);
    let more_ns = median_ns("select/64").and_then(|select_ns| Ok(select_ns - median_ns("ump")?));
    race.gates = vec![ONE_BUSY.judge(more_ns), ALL_BUSY.judge(Ok(fairness.worst_share))];
    Ok(SelectReport { race, fairness })
}
