//! The options of a race of channels.

use std::time::Duration;

use serde::Serialize;

use super::contender::{Carrier, carriers};
use super::traffic::Traffic;
use corecast_race::error::BenchError;
use corecast_race::options::Options;
use corecast_race::place::Place;

/// The lengths that ZIMP's authors measured.
pub const SIZES: [usize; 9] = [1, 64, 128, 512, 1_000, 4_000, 10_000, 100_000, 1_000_000];
/// Those of a quick run: one line, a page, a large one.
const QUICK_SIZES: [usize; 3] = [64, 4_000, 1_000_000];
/// Those of ZIMP's programs.
const PAXOS_SIZES: [usize; 3] = [1, 10_000, 1_000_000];
const CHECKPOINT_SIZES: [usize; 3] = [128, 4_000, 1_000_000];
/// The learners of PaxosInside.
const LEARNERS: usize = 3;
/// The numbers of receivers that are told apart.
pub const RECEIVERS: [usize; 10] = [1, 2, 3, 4, 7, 8, 15, 16, 22, 23];
/// The longest message that a race accepts, 1 GiB.
pub const MAX_BYTES: usize = 1 << 30;
/// The most receivers that a race accepts.
pub const MAX_RECEIVERS: usize = 1_024;

/// Settings of a race of channels, beside those of every run. The default is every contender on every length and on
/// every number of receivers that fits the CPUs, and on the first that does not.
#[derive(Clone, Debug, Default)]
pub struct ChannelOptions {
    /// The traffic between the participants.
    pub traffic: Traffic,
    /// The contenders, by name; all by default.
    pub contenders: Vec<String>,
    /// The lengths of messages in bytes.
    pub sizes: Vec<usize>,
    /// The numbers of receivers.
    pub receivers: Vec<usize>,
    /// Whether the receivers are threads or processes.
    pub place: Place,
    /// Leaves it to the system which CPU a participant runs on.
    pub unpinned: bool,
    /// How long each contender is timed on each row; [`PER_ROW`] by default.
    pub per_row: Option<Duration>,
}

/// How long each contender is timed on each row by default.
pub const PER_ROW: Duration = Duration::from_secs(2);
/// The same as ZIMP's authors did it: two minutes, three times.
pub const PAPER_PER_ROW: Duration = Duration::from_secs(360);
/// Of a quick run.
const QUICK_PER_ROW: Duration = Duration::from_millis(40);

impl ChannelOptions {
    /// The contenders asked for, in the order of the registry.
    pub(crate) fn carriers(&self) -> Result<Vec<&'static dyn Carrier>, BenchError> {
        let mut raced: Vec<_> = carriers().iter().copied().filter(|carrier| carrier.plays(self.traffic)).collect();
        let known: Vec<&str> = raced.iter().map(|carrier| carrier.name()).collect();
        if let Some(unknown) = self.contenders.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(BenchError::Contender { name: unknown.clone(), known: known.join(", ") });
        }
        raced.retain(|carrier| self.contenders.is_empty() || self.contenders.iter().any(|name| name == carrier.name()));
        Ok(raced)
    }

    /// The lengths, each within the limits.
    pub(crate) fn lengths(&self, quick: bool) -> Result<Vec<usize>, BenchError> {
        if let Some(&bytes) = self.sizes.iter().find(|bytes| !(1..=MAX_BYTES).contains(*bytes)) {
            return Err(BenchError::Length { bytes, most: MAX_BYTES });
        }
        let usual = match self.traffic {
            Traffic::Stream if quick => &QUICK_SIZES[..],
            Traffic::Stream => &SIZES[..],
            Traffic::Paxos => &PAXOS_SIZES[..],
            Traffic::Checkpoint => &CHECKPOINT_SIZES[..],
        };
        Ok(if self.sizes.is_empty() { usual.to_vec() } else { self.sizes.clone() })
    }

    /// The numbers of receivers, each within the limits.
    pub(crate) fn crowds(&self, cpus: usize) -> Result<Vec<usize>, BenchError> {
        if let Some(&receivers) = self.receivers.iter().find(|receivers| !(1..=MAX_RECEIVERS).contains(*receivers)) {
            return Err(BenchError::Receivers { receivers, most: MAX_RECEIVERS });
        }
        if !self.receivers.is_empty() {
            return Ok(self.receivers.clone());
        }
        if self.traffic == Traffic::Paxos {
            return Ok(vec![LEARNERS]);
        }
        let fitting = RECEIVERS.iter().filter(|&&receivers| receivers < cpus).count();
        Ok(RECEIVERS[..(fitting + 1).min(RECEIVERS.len())].to_vec())
    }

    pub(crate) fn per_row(&self, options: &Options) -> Duration {
        self.per_row.unwrap_or(if options.quick { QUICK_PER_ROW } else { PER_ROW })
    }
}

/// Where a participant ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Seating {
    /// On the CPU that is named.
    Pinned,
    /// Wherever the system put it.
    Unpinned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_fit_the_cpus_and_once_do_not() {
        let crowds = |cpus| ChannelOptions::default().crowds(cpus).expect("defaults are valid");
        assert_eq!(crowds(1), [1]);
        assert_eq!(crowds(2), [1, 2]);
        assert_eq!(crowds(8), [1, 2, 3, 4, 7, 8]);
        assert_eq!(crowds(64), RECEIVERS);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let options = ChannelOptions { contenders: vec!["ump".into(), "smoke".into()], ..Default::default() };
        let error = options.carriers().map(|_| ()).expect_err("no such contender").to_string();
        assert!(error.contains("'smoke'") && error.contains("barrelfish-mp"), "{error}");
        let options = ChannelOptions { sizes: vec![64, 0], receivers: vec![1025], ..Default::default() };
        assert_eq!(options.lengths(true), Err(BenchError::Length { bytes: 0, most: MAX_BYTES }));
        assert_eq!(options.crowds(2), Err(BenchError::Receivers { receivers: 1025, most: MAX_RECEIVERS }));
    }

    #[test]
    fn contenders_keep_the_order_of_the_registry() {
        let options = ChannelOptions { contenders: vec!["tcp".into(), "ump".into()], ..Default::default() };
        let names: Vec<&str> = options.carriers().expect("known").iter().map(|carrier| carrier.name()).collect();
        assert_eq!(names, ["ump", "tcp"]);
    }
}
