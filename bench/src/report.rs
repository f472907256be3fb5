//! The outcomes of the benchmarks that are no races of several contenders at one operation, as values and as JSON. The field
//! names are documented in docs/json/bench.md and stay.

use corecast_race::contender_rows;
use corecast_race::gate::Gate;
use serde::Serialize;

use crate::channels::ChannelRow;
use crate::locks::{DistanceRow, FlipRow, LockRow, ReaderRow};
use crate::messages::{MessagePairRow, ServerRow};
use crate::table::TableRow;

/// The outcome of `corecast bench stream`.
#[derive(Clone, Debug, Serialize)]
pub struct StreamReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// The CPUs of sender and receiver.
    pub cpus: [u32; 2],
    /// Slots of the ring.
    pub slots: usize,
    /// How both ends waited.
    pub wait: String,
    /// Messages sent.
    pub messages: u64,
    /// Messages whose checksum did not fit their bytes.
    pub torn: u64,
    /// Messages that never arrived.
    pub lost: u64,
    /// Messages that arrived after a later one, or twice.
    pub reordered: u64,
    /// Seconds from the first send to the last receive.
    pub seconds: f64,
    /// Messages per second.
    pub messages_per_s: f64,
}

impl StreamReport {
    /// True if every message arrived once, whole and in order.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.torn == 0 && self.lost == 0 && self.reordered == 0
    }
}

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

contender_rows!(ChannelRow, TableRow, MessagePairRow, ServerRow, LockRow, DistanceRow, ReaderRow, FlipRow, IdleRow);
