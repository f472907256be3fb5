//! The report of `corecast bench replica`, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use corecast_race::contender_rows;
use corecast_race::gate::Gate;

contender_rows!(ReplicaRow, RobustRow);

/// The outcome of `corecast bench replica`. Its four strata are never mixed: robustness, exact costs, wall clock, simulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplicaReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders, keys and pauses were drawn.
    pub seed: u64,
    /// True for fewer kills, writes and blocks.
    pub quick: bool,
    /// The experiment that was repeated; `null` for the usual run.
    pub preset: Option<&'static str>,
    /// The CPUs that clients were bound to, in turn.
    pub cpus: Vec<u32>,
    /// How nodes waited.
    pub wait: String,
    /// Busy processes beside the run, which the benchmark itself has started.
    pub busy: usize,
    /// Threads of other programs that wanted a CPU when the run began, as the system's load average tells.
    pub foreign_load: Option<f64>,
    /// Stratum 1: pauses and losses when replicas idle, are stopped or die.
    pub robustness: Vec<RobustRow>,
    /// Stratum 2: messages and lines of each command, by counters.
    pub costs: Vec<CostRow>,
    /// Stratum 2: system calls for the sake of waiting where all clients poll; empty with fewer CPUs than clients.
    pub waits: Vec<WaitRow>,
    /// Stratum 3: times here, one entry for each situation.
    pub cells: Vec<ReplicaCell>,
    /// How long users wait beside checkpoints; empty unless checkpoints are raced.
    pub pauses: Vec<PauseRow>,
    /// Whether the simulation predicts stratum 3.
    pub predictions: Vec<PredictionRow>,
    /// Stratum 4: computed, not measured.
    pub simulated: Vec<SimulatedRow>,
    /// `redis-benchmark` against both servers; empty if it was not asked for.
    pub redis: Vec<RedisRow>,
    /// Contenders that are in no table.
    pub left_out: Vec<LeftOut>,
    /// The demands on corecast, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// Writers while something happens to a replica.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RobustRow {
    /// The form of replication, or a rival.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The event: `idle`, `stopped`, `leader killed`, `acceptor killed`, `both killed`, `leader stopped`, `acceptor stopped`,
    /// `both stopped` or `restart`; of `lmdb` `writer killed` or `writer stopped`.
    pub event: &'static str,
    /// Replicas.
    pub replicas: usize,
    /// How often it happened.
    pub events: usize,
    /// Writes that were asked for.
    pub asked: u64,
    /// Writes that were acknowledged.
    pub writes: u64,
    /// Acknowledged writes that were not there afterwards.
    pub lost: u64,
    /// The median of the pauses: from the event until a write that began after it was acknowledged; of `restart` until the
    /// new process has answered a linearizable read.
    pub median_ms: Option<f64>,
    /// The 99th percentile of the same; the longest if there are fewer than 100.
    pub p99_ms: Option<f64>,
    /// The longest; of `idle` and `stopped` the longest write.
    pub longest_ms: Option<f64>,
    /// Of stops: the 99th percentile of the pause without the patience that the nodes that had to notice it had right before.
    pub beyond_ms: Option<f64>,
    /// The longest of the reads of the writer's own replica, as it is, right after an event.
    pub local_ms: Option<f64>,
    /// The 99th percentile over the events of the longest of those reads.
    pub local_p99_ms: Option<f64>,
    /// The shortest time without a sign of life after which a node with work counts as stuck here.
    pub suspicion_ms: Option<f64>,
    /// The bytes of the log, or of the state of `restart`.
    pub bytes: u64,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down.
    pub failed: bool,
}

/// Counters of a group in its normal case, for each command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CostRow {
    /// The form of replication, or a protocol that is only computed.
    pub protocol: String,
    /// Replicas.
    pub replicas: usize,
    /// Commands counted; `null` where the formula is all there is.
    pub commands: Option<u64>,
    /// Requests that a client's node handed to the leader.
    pub requests: Option<f64>,
    /// Commands that the leader wrote for another acceptor.
    pub accepts: Option<f64>,
    /// Commands that nodes learned from another one's log.
    pub learns: Option<f64>,
    /// Results handed to clients.
    pub replies: Option<f64>,
    /// The sum.
    pub messages: Option<f64>,
    /// The sum that the protocol's formula gives.
    pub expected: f64,
    /// Lines of logs written: one for each request, accept and accepted command.
    pub log_lines: Option<f64>,
    /// Times that the acceptor published its commit count.
    pub commits: Option<f64>,
    /// Compare-and-swaps for a role.
    pub role_cas: Option<f64>,
    /// Times that the bytes of a command of 1 KiB were written for the log.
    pub payload_writes: Option<f64>,
    /// Times that replicas read them, all replicas together.
    pub payload_reads: Option<f64>,
    /// Bytes that were copied into memory that all nodes read, for each byte of such a command.
    pub copied_in: Option<f64>,
    /// Bytes that replicas copied out of it, for each byte, all replicas together.
    pub copied_out: Option<f64>,
    /// Bytes with which a replica answers at a cut.
    pub cut_bytes: Option<f64>,
    /// System calls for the sake of waiting: nodes without a client sleep until they are woken.
    pub system_calls: Option<f64>,
}

/// System calls for the sake of waiting, for each command, where each node has a client that writes without a break.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WaitRow {
    /// The form of replication.
    pub protocol: String,
    /// Replicas, each with a client on a CPU of its own.
    pub replicas: usize,
    /// Commands counted.
    pub commands: u64,
    /// The time that they took.
    pub seconds: f64,
    /// Times that a thread went to sleep.
    pub sleeps: f64,
    /// Times that a thread gave up its CPU, or asked whether another one had wanted it.
    pub yields: f64,
    /// Times that a thread had another one woken.
    pub wakes: f64,
    /// Fences of sleepers that are system calls.
    pub fences: f64,
    /// The sum.
    pub system_calls: f64,
}

/// All contenders in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct ReplicaCell {
    /// The work of the clients, in words.
    pub workload: String,
    /// Replicas, where there are some.
    pub replicas: usize,
    /// Threads or processes that ask.
    pub clients: usize,
    /// The kind of clients: `threads` or `processes`.
    pub place: &'static str,
    /// True if there are more replicas or clients than CPUs.
    pub oversubscribed: bool,
    /// One entry for each contender.
    pub rows: Vec<ReplicaRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplicaRow {
    /// The form of replication, or a rival.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Thousands of operations in a second, of all clients: the median over the rounds; `null` if it was skipped.
    pub kops: Option<f64>,
    /// The least and the most of a round.
    pub min_kops: Option<f64>,
    /// See above.
    pub max_kops: Option<f64>,
    /// Half of the reads took no longer, over all rounds; of a cell of reads only, of the mean of 64.
    pub read_p50_ns: Option<f64>,
    /// The same of 99 in 100.
    pub read_p99_ns: Option<f64>,
    /// Half of the writes, modifications or checkpoints took no longer.
    pub write_p50_ns: Option<f64>,
    /// The same of 99 in 100.
    pub write_p99_ns: Option<f64>,
    /// The largest of the clients' own medians of writes: where clients share CPUs, some get most of the writes done.
    pub slowest_p50_ns: Option<f64>,
    /// Reads and writes that were timed.
    pub samples: u64,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down.
    pub failed: bool,
}

/// A reader and a writer without a break at the node whose state a checkpoint writes. A pause is the longest operation that was
/// under way in a window.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PauseRow {
    /// The form of replication.
    pub series: &'static str,
    /// Replicas.
    pub replicas: usize,
    /// The bytes of a state.
    pub bytes: usize,
    /// Checkpoints, each in a window of its own, with another window after it in which there is none.
    pub checkpoints: usize,
    /// The reader's pause beside a checkpoint, in microseconds: the median of the windows.
    pub read_us: Option<f64>,
    /// The same of 99 in 100.
    pub read_p99_us: Option<f64>,
    /// The reader's pause in the windows without a checkpoint: the median.
    pub read_alone_us: Option<f64>,
    /// The writer's pause beside a checkpoint: the median.
    pub write_us: Option<f64>,
    /// The same of 99 in 100.
    pub write_p99_us: Option<f64>,
    /// The writer's pause in the windows without a checkpoint: the median.
    pub write_alone_us: Option<f64>,
}

/// A latency that the model predicts, beside the one measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PredictionRow {
    /// The form of replication.
    pub series: &'static str,
    /// Replicas.
    pub replicas: usize,
    /// A message of one line there and back, by the model.
    pub messages_ns: Option<f64>,
    /// The work of both nodes for a command of the leader's client, measured here beside its messages.
    pub work_ns: Option<f64>,
    /// Half of the writes take no longer, by the model; `null` if this machine's costs were not measured.
    pub predicted_ns: Option<f64>,
    /// The same as measured.
    pub measured_ns: Option<f64>,
    /// The one divided by the other.
    pub ratio: Option<f64>,
    /// `predicted`, if the ratio is off by a quarter at most, or `not predicted`.
    pub verdict: &'static str,
}

/// Learning over one tree on one machine model: simulated, by its messages alone, and with the nodes' work beside them as it was
/// measured here.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SimulatedRow {
    /// The machine model.
    pub machine: String,
    /// Replicas.
    pub replicas: usize,
    /// The tree from the acceptor to the learners: a shape's name, or `auto`.
    pub tree: String,
    /// The unit of costs: `ns` or `cycles`.
    pub unit: String,
    /// The time that the busiest node spends on the messages of one command.
    pub busiest: f64,
    /// From the request until the client has the reply, if messages are all that takes time.
    pub response: f64,
    /// The throughput divided by that of the sequential tree, by messages alone.
    pub over_sequential: f64,
    /// The time that the busiest node spends on one command with its work; `null`, as the next three, if nobody measured that.
    pub busiest_with_work: Option<f64>,
    /// The part of it that is no message.
    pub work: Option<f64>,
    /// From the request until the client has the reply, with the nodes' work.
    pub response_with_work: Option<f64>,
    /// The throughput divided by that of the sequential tree, with the nodes' work.
    pub over_sequential_with_work: Option<f64>,
}

/// One line of `redis-benchmark`.
#[derive(Clone, Debug, Serialize)]
pub struct RedisRow {
    /// The command that is repeated.
    pub command: String,
    /// Requests that each connection has in flight.
    pub pipeline: usize,
    /// Requests in a second that `corecast kv serve` answers, the median over the rounds.
    pub corecast_rps: Option<f64>,
    /// The same of `redis-server`.
    pub redis_rps: Option<f64>,
    /// The first divided by the second.
    pub ratio: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
}

/// A contender that is in no table.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub contender: &'static str,
    /// Why.
    pub reason: String,
}
