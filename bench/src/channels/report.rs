//! The report of a race of channels, as values and as JSON. The field names are documented in docs/json/bench.md and stay.

use serde::Serialize;

use super::contender::Fan;
use super::options::Seating;
use super::traffic::Traffic;
use crate::published::PublishedFigure;
use corecast_race::contender_rows;
use corecast_race::gate::Gate;
use corecast_race::harness::Summary;
use corecast_race::report::summary_or_nulls;

contender_rows!(ChannelRow);

/// The outcome of `corecast bench channels`.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelReport {
    /// The machine's name.
    pub machine: String,
    /// The release of the system's kernel.
    pub kernel: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// The seed of all random orders.
    pub seed: u64,
    /// Fewer and shorter blocks.
    pub quick: bool,
    /// The traffic between the participants.
    pub traffic: Traffic,
    /// The kind of receivers: `threads` or `processes`.
    pub place: &'static str,
    /// Whether participants are bound to CPUs.
    pub seating: Seating,
    /// How corecast's contenders waited.
    pub wait: &'static str,
    /// For how long each contender was to be timed on each row.
    pub seconds_per_row: f64,
    /// By how much the CPUs' clocks seemed to differ at most, hence the error of `latency`; `null` if that is unknown.
    pub clock_offset_ns: Option<f64>,
    /// Median of all probes of one bare cache line handed over one way; `null` with one CPU.
    pub raw_line_ns: Option<f64>,
    /// How often that cost changed for more than one probe.
    pub placement_changes: u32,
    /// Remarks to read before believing the numbers.
    pub warnings: Vec<String>,
    /// One entry for each length and number of receivers.
    pub groups: Vec<ChannelGroup>,
    /// The lead of ZIMP as published, and the same here.
    pub published: Vec<PublishedFigure>,
    /// The demands on corecast's channels, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// All contenders at one length of messages and one number of receivers.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelGroup {
    /// The length of every message.
    pub bytes: usize,
    /// The number of participants that receive every message.
    pub receivers: usize,
    /// The CPU of the sender, then those of the receivers; empty if they are not bound.
    pub cpus: Vec<u32>,
    /// Participants share CPUs, or the container grants less CPU time than they could use.
    pub oversubscribed: bool,
    /// How many messages could be under way to a receiver, for contenders that can be told.
    pub depth: usize,
    /// The median of this group's probes of one bare line transfer; `null` with one CPU.
    pub raw_line_ns: Option<f64>,
    /// As in the report, within this group.
    pub placement_changes: u32,
    /// The contender to which ratios refer; `null` if none of corecast's was timed.
    pub reference: Option<&'static str>,
    /// One entry for each contender.
    pub rows: Vec<ChannelRow>,
}

/// One contender in one group.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelRow {
    /// Its name.
    pub contender: &'static str,
    /// True for what corecast offers.
    pub ours: bool,
    /// How one message reaches many.
    pub fan: Fan,
    /// True if every message arrives.
    pub lossless: bool,
    /// Time for one message to arrive at all receivers, one after the other; `None` if it was skipped.
    #[serde(flatten, serialize_with = "summary_or_nulls")]
    pub summary: Option<Summary>,
    /// Messages that each receiver takes in per second: 10^9 over the median.
    pub messages_per_s: Option<f64>,
    /// The same, of all receivers together.
    pub deliveries_per_s: Option<f64>,
    /// Median time that the sender takes for one message, waiting for room included.
    pub sender_ns: Option<f64>,
    /// Single messages, from before the sender writes until a receiver has summed; `null` if participants share CPUs.
    pub latency: Option<Latency>,
    /// Median CPU time of all participants together, in seconds for a million messages.
    pub cpu_s_per_million: Option<f64>,
    /// The share of messages that did not arrive; 0 for those that are lossless.
    pub lost_share: Option<f64>,
    /// Its median divided by the reference's: above 1 it is slower.
    pub ratio: Option<f64>,
    /// Why it was not timed; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

/// How long single messages take, over all receivers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Half are faster.
    pub p50_ns: f64,
    /// 99 of 100 are faster.
    pub p99_ns: f64,
    /// 999 of 1000 are faster; `null` with fewer than 1000 samples.
    pub p999_ns: Option<f64>,
    /// The number of samples.
    pub samples: usize,
}
