//! The tables of replicated state: one list for each stratum.

use corecast_bench::{CostRow, PauseRow, PredictionRow, RedisRow, ReplicaRow, RobustRow, SimulatedRow, WaitRow};

use super::Format::{Cost, Digits, Micros, Ratio, Thousands};
use super::{Column, count, figure};

/// The columns of stratum 1.
pub(crate) const ROBUST: &[Column<RobustRow>] = &[
    Column::words("contender", "replication", |row| row.contender.as_str().into()),
    Column::words("event", "event", |row| row.event.into()),
    Column::figure("events", "events", "", |row| count(row.events), Digits(0)),
    Column::figure("asked", "asked", "", |row| figure(row.asked as f64), Thousands),
    Column::figure("writes", "done", "", |row| figure(row.writes as f64), Thousands),
    Column::figure("lost", "lost", "", |row| figure(row.lost as f64), Digits(0)),
    Column::figure("median_ms", "median", "ms", |row| figure(row.median_ms), Digits(2)),
    Column::figure("p99_ms", "p99", "ms", |row| figure(row.p99_ms), Digits(2)),
    Column::figure("longest_ms", "longest", "ms", |row| figure(row.longest_ms), Digits(2)),
    Column::figure("beyond_ms", "p99 beyond patience", "ms", |row| figure(row.beyond_ms), Digits(2)),
    Column::figure("local_p99_ms", "local read p99", "ms", |row| figure(row.local_p99_ms), Digits(3)),
    Column::figure("local_ms", "local read", "ms", |row| figure(row.local_ms), Digits(3)),
    Column::figure("suspicion_ms", "suspicion", "ms", |row| figure(row.suspicion_ms), Digits(0)),
];
/// The columns of stratum 2.
pub(crate) const COSTS: &[Column<CostRow>] = &[
    Column::words("protocol", "protocol", |row| row.protocol.as_str().into()),
    Column::figure("replicas", "replicas", "", |row| count(row.replicas), Digits(0)),
    Column::figure("requests", "requests", "", |row| figure(row.requests), Digits(2)),
    Column::figure("accepts", "accepts", "", |row| figure(row.accepts), Digits(2)),
    Column::figure("learns", "learns", "", |row| figure(row.learns), Digits(2)),
    Column::figure("replies", "replies", "", |row| figure(row.replies), Digits(2)),
    Column::figure("messages", "messages", "", |row| figure(row.messages), Digits(2)),
    Column::figure("expected", "formula", "", |row| figure(row.expected), Digits(0)),
    Column::figure("log_lines", "lines", "", |row| figure(row.log_lines), Digits(2)),
    Column::figure("commits", "commits", "", |row| figure(row.commits), Digits(2)),
    Column::figure("role_cas", "CAS", "", |row| figure(row.role_cas), Digits(2)),
    Column::figure("payload_writes", "1 KiB written", "", |row| figure(row.payload_writes), Digits(2)),
    Column::figure("payload_reads", "read", "", |row| figure(row.payload_reads), Digits(2)),
    Column::figure("copied_in", "copied in", "", |row| figure(row.copied_in), Digits(2)),
    Column::figure("copied_out", "out", "", |row| figure(row.copied_out), Digits(2)),
    Column::figure("cut_bytes", "at a cut", "B", |row| figure(row.cut_bytes), Digits(0)),
    Column::figure("system_calls", "system calls", "", |row| figure(row.system_calls), Digits(2)),
];
/// The columns of system calls for the sake of waiting.
pub(crate) const WAITS: &[Column<WaitRow>] = &[
    Column::words("protocol", "protocol", |row| row.protocol.as_str().into()),
    Column::figure("replicas", "replicas", "", |row| count(row.replicas), Digits(0)),
    Column::figure("commands", "commands", "", |row| figure(row.commands as f64), Thousands),
    Column::figure("seconds", "time", "s", |row| figure(row.seconds), Digits(3)),
    Column::figure("sleeps", "sleeps", "", |row| figure(row.sleeps), Digits(5)),
    Column::figure("yields", "yields", "", |row| figure(row.yields), Digits(5)),
    Column::figure("wakes", "wake-ups", "", |row| figure(row.wakes), Digits(5)),
    Column::figure("fences", "fences", "", |row| figure(row.fences), Digits(5)),
    Column::figure("system_calls", "all", "", |row| figure(row.system_calls), Digits(5)),
];
/// The columns of a situation of stratum 3.
pub(crate) const CELL: &[Column<ReplicaRow>] = &[
    Column::words("contender", "store", |row| row.contender.as_str().into()),
    Column::figure("kops", "k/s", "", |row| figure(row.kops), Digits(1)),
    Column::optional(Column::figure("min_kops", "least", "", |row| figure(row.min_kops), Digits(1))),
    Column::optional(Column::figure("max_kops", "most", "", |row| figure(row.max_kops), Digits(1))),
    Column::figure("read_p50_ns", "read p50", "ns", |row| figure(row.read_p50_ns), Cost),
    Column::figure("read_p99_ns", "p99", "ns", |row| figure(row.read_p99_ns), Cost),
    Column::figure("write_p50_ns", "write p50", "us", |row| figure(row.write_p50_ns), Micros),
    Column::figure("write_p99_ns", "p99", "us", |row| figure(row.write_p99_ns), Micros),
    Column::figure("slowest_p50_ns", "slowest", "us", |row| figure(row.slowest_p50_ns), Micros),
    Column::figure("samples", "timed", "", |row| figure(row.samples as f64), Thousands),
];
/// The columns of users beside checkpoints.
pub(crate) const PAUSES: &[Column<PauseRow>] = &[
    Column::words("series", "replication", |row| row.series.into()),
    Column::figure("replicas", "replicas", "", |row| count(row.replicas), Digits(0)),
    Column::figure("bytes", "bytes", "", |row| count(row.bytes), Thousands),
    Column::figure("checkpoints", "checkpoints", "", |row| count(row.checkpoints), Thousands),
    Column::figure("read_us", "read", "us", |row| figure(row.read_us), Digits(1)),
    Column::figure("read_p99_us", "p99", "us", |row| figure(row.read_p99_us), Digits(1)),
    Column::figure("read_alone_us", "without", "us", |row| figure(row.read_alone_us), Digits(1)),
    Column::figure("write_us", "write", "us", |row| figure(row.write_us), Digits(1)),
    Column::figure("write_p99_us", "p99", "us", |row| figure(row.write_p99_us), Digits(1)),
    Column::figure("write_alone_us", "without", "us", |row| figure(row.write_alone_us), Digits(1)),
];
/// The columns of predictions.
pub(crate) const PREDICTIONS: &[Column<PredictionRow>] = &[
    Column::words("series", "replication", |row| row.series.into()),
    Column::figure("messages_ns", "messages", "us", |row| figure(row.messages_ns), Micros),
    Column::figure("work_ns", "work", "us", |row| figure(row.work_ns), Micros),
    Column::figure("predicted_ns", "predicted", "us", |row| figure(row.predicted_ns), Micros),
    Column::figure("measured_ns", "measured", "us", |row| figure(row.measured_ns), Micros),
    Column::figure("ratio", "ratio", "", |row| figure(row.ratio), Ratio(2)),
    Column::words("verdict", "verdict", |row| row.verdict.into()),
];
/// The columns of stratum 4.
pub(crate) const SIMULATED: &[Column<SimulatedRow>] = &[
    Column::words("machine", "machine model", |row| row.machine.as_str().into()),
    Column::figure("replicas", "replicas", "", |row| count(row.replicas), Digits(0)),
    Column::words("tree", "tree", |row| row.tree.as_str().into()),
    Column::words("unit", "unit", |row| row.unit.as_str().into()),
    Column::figure("busiest", "busiest", "", |row| figure(row.busiest), Digits(0)),
    Column::figure("response", "response", "", |row| figure(row.response), Digits(0)),
    Column::figure("over_sequential", "over sequential", "", |row| figure(row.over_sequential), Ratio(2)),
    Column::figure("busiest_with_work", "busiest, with work", "", |row| figure(row.busiest_with_work), Digits(0)),
    Column::figure("work", "work in it", "", |row| figure(row.work), Digits(0)),
    Column::figure("response_with_work", "response, with work", "", |row| figure(row.response_with_work), Digits(0)),
    Column::figure(
        "over_sequential_with_work",
        "over sequential, with work",
        "",
        |row| figure(row.over_sequential_with_work),
        Ratio(2),
    ),
];
/// The columns of `redis-benchmark`.
pub(crate) const REDIS: &[Column<RedisRow>] = &[
    Column::words("command", "command", |row| row.command.as_str().into()),
    Column::figure("pipeline", "pipeline", "", |row| count(row.pipeline), Digits(0)),
    Column::figure("corecast_rps", "corecast /s", "", |row| figure(row.corecast_rps), Thousands),
    Column::figure("redis_rps", "redis /s", "", |row| figure(row.redis_rps), Thousands),
    Column::figure("ratio", "ratio", "", |row| figure(row.ratio), Ratio(2)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    const COMMAND: &str = "bench replica";

    #[test]
    fn the_tables_of_robustness_and_costs_show_what_json_has() {
        let row = RobustRow { contender: "a".to_owned(), event: "idle", median_ms: Some(1.5), ..RobustRow::default() };
        agree_with_json(ROBUST, &row, COMMAND, "robustness[]");
        let row = CostRow {
            protocol: "shm-fused".to_owned(),
            replicas: 3,
            commands: Some(500),
            requests: Some(1.0),
            learns: Some(2.0),
            expected: 4.0,
            log_lines: Some(2.0),
            payload_reads: Some(3.0),
            ..CostRow::default()
        };
        agree_with_json(COSTS, &row, COMMAND, "costs[]");
        let row = WaitRow { protocol: "shm-fused".to_owned(), replicas: 2, sleeps: 0.25, ..WaitRow::default() };
        agree_with_json(WAITS, &row, COMMAND, "waits[]");
    }

    #[test]
    fn the_tables_of_times_show_what_json_has() {
        let row = ReplicaRow { contender: "redis".to_owned(), read_p50_ns: Some(12.5), ..ReplicaRow::default() };
        agree_with_json(CELL, &row, COMMAND, "cells[].rows[]");
        let row = PauseRow { series: "shm-fused", bytes: 4096, read_us: Some(2.5), ..PauseRow::default() };
        agree_with_json(PAUSES, &row, COMMAND, "pauses[]");
        let row = PredictionRow {
            series: "shm-fused",
            replicas: 2,
            messages_ns: Some(60.0),
            work_ns: None,
            predicted_ns: Some(120.0),
            measured_ns: None,
            ratio: None,
            verdict: "not predicted",
        };
        agree_with_json(PREDICTIONS, &row, COMMAND, "predictions[]");
    }

    #[test]
    fn the_other_tables_show_what_json_has() {
        let row = SimulatedRow {
            machine: "a".to_owned(),
            replicas: 28,
            tree: "auto".to_owned(),
            unit: "ns".to_owned(),
            busiest: 5.5,
            response: 9.0,
            over_sequential: 3.0,
            busiest_with_work: Some(7.0),
            work: Some(1.5),
            response_with_work: Some(12.0),
            over_sequential_with_work: None,
        };
        agree_with_json(SIMULATED, &row, COMMAND, "simulated[]");
        let (command, skipped) = ("SET".to_owned(), None);
        let row = RedisRow { command, pipeline: 16, corecast_rps: Some(9.0), redis_rps: None, ratio: None, skipped };
        agree_with_json(REDIS, &row, COMMAND, "redis[]");
    }
}
