//! A run beside busy processes: writes to our store and to `redis-server` in turns, under the same foreign load.
//!
//! Clients are processes, as many as there are replicas. Once they write as fast as they can, and once each write has an
//! intended start: a client that waits for a CPU is late for all writes that were due meanwhile. A closed loop does not see that.

use super::ReplicaOptions;
use super::load::Mix;
use super::preset::{self, Case, Workload};
use super::report::{ReplicaCell, ReplicaReport, ReplicaRow};
use super::series::forms;
use crate::stats::most;

/// The rival that is raced if nobody names others.
const RIVAL: &str = "redis";
/// The writes in a second of all clients together, in the loop with intended starts. A server that shares two CPUs with two busy
/// processes still keeps up.
const RATE: f64 = 2_000.0;
/// The replicas if nobody asks for other numbers: the fewest that survive one of them and still are two.
const REPLICAS: usize = 3;

/// Whether a run is one of these: an experiment is repeated as it is, whatever runs beside it.
pub(super) fn is_meant(options: &ReplicaOptions) -> bool {
    options.options.busy > 0 && options.preset.is_none()
}

/// The same options with the contenders of such a run.
pub(super) fn narrowed(options: &ReplicaOptions) -> ReplicaOptions {
    let mut narrowed = options.clone();
    if is_meant(options) && options.options.contenders.is_empty() {
        narrowed.options.contenders = forms().map(|series| series.name).chain([RIVAL]).map(str::to_owned).collect();
    }
    narrowed
}

/// The situations.
pub(super) fn cases(options: &ReplicaOptions) -> Vec<Case> {
    let members = if options.members.is_empty() { &[REPLICAS][..] } else { &options.members };
    let writes = |rate| Workload::Store { words: "writes", mix: Mix::Writes, is_skewed: false, rate };
    let rates = [None, Some(options.rate.unwrap_or(RATE))];
    let case = |replicas, rate| Case { in_processes: true, ..preset::case(writes(rate), replicas, replicas) };
    members.iter().flat_map(|&replicas| rates.map(|rate| case(replicas, rate))).collect()
}

/// How many times the rival's 99th percentile of writes ours is, in the situation and the form where it is worst.
pub(super) fn over_rival(report: &ReplicaReport) -> Result<f64, String> {
    let needs =
        || "99th percentiles of ours and of `redis-server`: apt-get install redis-server, or no --quick".to_owned();
    let ratios = report.cells.iter().filter(|cell| cell.workload.starts_with("writes")).map(ratio);
    let ratios: Option<Vec<f64>> = ratios.collect();
    most(ratios.ok_or_else(needs)?.into_iter().map(Some)).ok_or_else(needs)
}

fn ratio(cell: &ReplicaCell) -> Option<f64> {
    let p99 = |row: &ReplicaRow| row.write_p99_ns;
    let rival = cell.rows.iter().find(|row| row.contender == RIVAL).and_then(p99)?;
    let ours: Option<Vec<f64>> = cell.rows.iter().filter(|row| row.ours).map(p99).collect();
    Some(most(ours?.into_iter().map(Some))? / rival)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::options::Options;

    fn beside(busy: usize) -> ReplicaOptions {
        ReplicaOptions { options: Options { busy, ..Options::default() }, ..ReplicaOptions::default() }
    }

    #[test]
    fn only_runs_beside_busy_processes_are_narrowed() {
        assert!(!is_meant(&beside(0)) && narrowed(&beside(0)).options.contenders.is_empty());
        let options = beside(2);
        assert_eq!(narrowed(&options).options.contenders, ["shm-separate", "shm-fused", "redis"]);
        let words: Vec<String> = cases(&options).iter().map(|case| case.workload.words()).collect();
        assert_eq!(words, ["writes", "writes, 2000/s"]);
        let options = ReplicaOptions { preset: Some(super::super::Preset::Ycsb), ..beside(2) };
        assert!(!is_meant(&options) && narrowed(&options).options.contenders.is_empty());
    }

    #[test]
    fn the_worst_form_in_the_worst_situation_is_compared() {
        let row = |contender: &str, p99| ReplicaRow {
            contender: contender.to_owned(),
            ours: contender.starts_with("shm"),
            write_p99_ns: p99,
            ..ReplicaRow::default()
        };
        let cell = |workload: &str, ours: [f64; 2], redis| ReplicaCell {
            workload: workload.to_owned(),
            replicas: 3,
            clients: 3,
            place: "processes",
            oversubscribed: true,
            rows: vec![row("shm-fused", Some(ours[0])), row("shm-separate", Some(ours[1])), row("redis", redis)],
        };
        let report = |cells| ReplicaReport { cells, ..ReplicaReport::default() };
        let cells = vec![cell("writes", [10.0, 30.0], Some(20.0)), cell("writes, 2000/s", [9.0, 8.0], Some(10.0))];
        assert_eq!(over_rival(&report(cells)), Ok(1.5));
        assert!(over_rival(&report(vec![cell("writes", [1.0, 1.0], None)])).is_err(), "the rival is not there");
        assert!(over_rival(&report(Vec::new())).is_err());
    }
}
