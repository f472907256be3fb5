//! The report of a race of messages, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use crate::published::PublishedFigure;
use corecast_race::contender_rows;
use corecast_race::gate::Gate;
use corecast_race::harness::Summary;
use corecast_race::report::summary_or_nulls;

contender_rows!(MessagePairRow, ServerRow);

/// The outcome of `corecast bench messages`.
#[derive(Clone, Debug, Serialize)]
pub struct MessageReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// The CPUs that participants were bound to.
    pub cpus: Vec<u32>,
    /// How corecast's channels waited.
    pub wait: &'static str,
    /// How long a block was to be.
    pub block_ms: u64,
    /// Blocks of each contender in each situation.
    pub rounds: usize,
    /// One sender and one receiver, or several such pairs at once.
    pub pairs: Vec<PairCell>,
    /// Servers and their clients.
    pub servers: Vec<ServerCell>,
    /// Published figures of other machines.
    pub published: Vec<PublishedFigure>,
    /// The demands on corecast, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// Whether messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trip {
    /// There are no answers; the sender goes on while there is room.
    OneWay,
    /// The sender waits for the same message to come back.
    RoundTrip,
}

impl Trip {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::OneWay, Self::RoundTrip];
}

/// The clients that a server receives from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Receive {
    /// Any client that has sent something.
    Any,
    /// A client with an even number and one with an odd number in turns, while both have something left to send.
    Subset,
}

impl Receive {
    /// Both.
    pub(super) const ALL: [Self; 2] = [Self::Any, Self::Subset];
}

/// All contenders between pairs in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct PairCell {
    /// The distance of the two CPUs of each pair, in words; `null` if there is one CPU only.
    pub distance: Option<&'static str>,
    /// Pairs at once.
    pub pairs: usize,
    /// The CPUs: of each pair that of the sender, then that of the receiver.
    pub cpus: Vec<u32>,
    /// True if participants share CPUs, or the container grants less CPU time than they could use.
    pub oversubscribed: bool,
    /// Bytes of a message, the channel's own not counted.
    pub bytes: usize,
    /// Whether messages are answered.
    pub trip: Trip,
    /// The time to hand a bare line over between the first pair, one way: the median of a probe in each round.
    pub line_ns: Option<f64>,
    /// How often that changed for more than one probe: then medians mix two machines.
    pub placement_changes: u32,
    /// One entry for each contender.
    pub rows: Vec<MessagePairRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessagePairRow {
    /// Its name.
    pub contender: &'static str,
    /// True for what corecast offers.
    pub ours: bool,
    /// Messages that were checked in timed blocks, of all pairs.
    pub messages: u64,
    /// The time of a message, or of a message and its answer: one sample for each pair and block. `None` if it was skipped.
    #[serde(flatten, serialize_with = "summary_or_nulls")]
    pub summary: Option<Summary>,
    /// The median in bare lines.
    pub lines: Option<f64>,
    /// Millions of messages, or of messages and their answers, in a second, of all pairs: the median over blocks.
    pub mops: Option<f64>,
    /// Why it was not timed; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

/// All contenders with servers and clients in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct ServerCell {
    /// Servers, each with clients of its own.
    pub servers: usize,
    /// Clients of all servers.
    pub clients: usize,
    /// The CPUs: of each server, and of its clients behind it.
    pub cpus: Vec<u32>,
    /// True if participants share CPUs, or the container grants less CPU time than they could use.
    pub oversubscribed: bool,
    /// Whether messages are answered.
    pub trip: Trip,
    /// The clients that servers receive from.
    pub receive: Receive,
    /// For how long a server spins for each message.
    pub work_ns: u64,
    /// The time to hand a bare line over between the first server and its first client, one way; `null` if they share a CPU.
    pub line_ns: Option<f64>,
    /// How often that changed for more than one probe.
    pub placement_changes: u32,
    /// One entry for each contender.
    pub rows: Vec<ServerRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServerRow {
    /// Its name.
    pub contender: &'static str,
    /// True for what corecast offers.
    pub ours: bool,
    /// Messages that servers checked in timed blocks.
    pub messages: u64,
    /// Millions of messages in a second, of all servers: the median over blocks; `null` if it was skipped.
    pub mops: Option<f64>,
    /// The least and the most of a block.
    pub min_mops: Option<f64>,
    /// See above.
    pub max_mops: Option<f64>,
    /// The time of a server for a message, in bare lines.
    pub lines: Option<f64>,
    /// The time of a client for a message, its answer included: the median over clients and blocks.
    pub client_ns: Option<f64>,
    /// Jain's index of the rates of all clients, the median: 1 if all are equal.
    pub jain: Option<f64>,
    /// Why it was not timed; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}
