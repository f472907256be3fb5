//! The demands on groups over several nodes. A run that is shorter than a demand asks for can miss it, and not meet it.

use corecast_race::gate::Demand;

use super::kill::Victim;
use super::work::NodesOp;
use super::{NodesDeathRow, NodesReport, NodesRow};
use crate::rules::{Rule, at_least, at_most};
use crate::stats::{least, most};

const COMMAND: &str = "corecast bench nodes";
const CHECK: &str = "corecast bench nodes --check 10000";
const KILL_MEMBER: &str = "corecast bench nodes --kill member --runs 1000";
const KILL_LEADER: &str = "corecast bench nodes --kill leader --runs 200";

/// Operations in every cell, for S1.
const OPERATIONS: u64 = 10_000;
/// Milliseconds until all survivors are told of a death, by its victim, and until one of them has done an operation after a
/// leader's.
const TOLD_OF_MEMBER_MS: f64 = 500.0;
const TOLD_OF_LEADER_MS: f64 = 1000.0;
const AFTER_LEADER_MS: f64 = 2000.0;

const S1: Demand = at_most(0.0, "S1: launches of random operations with a wrong result, or that hung", CHECK);
const S2: Demand =
    at_most(1.10, "S2: one member on each host, 8 bytes to 1 MiB, time / plain MPI's, the largest median", COMMAND);
const S3_OPEN_2: Demand = at_least(1.3, "S3: 8 bytes, 2 x 2 members, plain Open MPI / ours, the least", COMMAND);
const S3_OPEN_4: Demand = at_least(2.0, "S3: 8 bytes, 2 x 4 members, plain Open MPI / ours, the least", COMMAND);
const S3_MPICH: Demand =
    at_least(100.0, "S3: 8 bytes, 2 x 2 and 2 x 4 members, plain MPICH / ours, the least", COMMAND);
const S4: Demand =
    at_least(2.0, "S4: allreduce of 8 and 256 KiB, 2 x 2 members, plain Open MPI / ours, the least", COMMAND);
const S4_LONG: Demand = at_least(1.0, "S4: allreduce of 1 MiB, 2 x 2 members, plain Open MPI / ours", COMMAND);
const S6_TOLD: Demand = at_most(
    TOLD_OF_MEMBER_MS,
    "S6: ms from the death of a member that does not lead until all survivors are told",
    KILL_MEMBER,
);
const S6_WRONG: Demand =
    at_most(0.0, "S6: deaths that were named wrongly, hung, or left no working group", KILL_MEMBER);
const S7_TOLD: Demand =
    at_most(TOLD_OF_LEADER_MS, "S7: ms from the death of a leader until all survivors are told", KILL_LEADER);
const S7_AFTER: Demand = at_most(
    AFTER_LEADER_MS,
    "S7: ms from the death of a leader until a survivor has done an operation of the new group",
    KILL_LEADER,
);
const S7_WRONG: Demand =
    at_most(0.0, "S7: deaths of leaders that were named wrongly, hung, or left no working group or job", KILL_LEADER);

pub(super) const RULES: &[Rule<NodesReport>] = &[
    Rule::new(S1, |report| {
        let wrong = report.checks.iter().filter(|row| row.wrong.is_some()).count() as f64;
        let is_long = !report.checks.is_empty() && report.checks.iter().all(|row| row.operations >= OPERATIONS);
        if is_long || wrong > 0.0 { Ok(wrong) } else { Err(format!("--check {OPERATIONS}")) }
    }),
    Rule::new(S2, |report| {
        let one = report.rows.iter().filter(|row| row.members == 1);
        most(one.filter_map(|row| Some(1.0 / row.ratio?))).ok_or_else(|| "--members 1".to_owned())
    }),
    Rule::new(S3_OPEN_2, |report| short(report, "openmpi", &[2])),
    Rule::new(S3_OPEN_4, |report| short(report, "openmpi", &[4])),
    Rule::new(S3_MPICH, |report| short(report, "mpich", &[2, 4])),
    Rule::new(S4, |report| slices(report, &[8 << 10, 256 << 10])),
    Rule::new(S4_LONG, |report| slices(report, &[1 << 20])),
    Rule::new(S6_TOLD, |report| longest(report, Victim::Member, TOLD_OF_MEMBER_MS, |row| row.max_ms)),
    Rule::new(S6_WRONG, |report| wrong(report, Victim::Member)),
    Rule::new(S7_TOLD, |report| longest(report, Victim::Leader, TOLD_OF_LEADER_MS, |row| row.max_ms)),
    Rule::new(S7_AFTER, |report| longest(report, Victim::Leader, AFTER_LEADER_MS, |row| row.after_max_ms)),
    Rule::new(S7_WRONG, |report| wrong(report, Victim::Leader)),
];

/// The least gain of operations of 8 bytes under libraries of this name on two hosts.
fn short(report: &NodesReport, library: &str, members: &[usize]) -> Result<f64, String> {
    gain(report, library, |row| row.bytes <= 8 && members.contains(&row.members))
        .ok_or_else(|| format!("{library}, --hosts 2 --members {}", members.iter().max().unwrap_or(&2)))
}

fn slices(report: &NodesReport, sizes: &[usize]) -> Result<f64, String> {
    let is_meant = |row: &NodesRow| row.op == NodesOp::Allreduce && row.members == 2 && sizes.contains(&row.bytes);
    gain(report, "openmpi", is_meant).ok_or_else(|| "openmpi, --hosts 2 --members 2".to_owned())
}

fn gain(report: &NodesReport, library: &str, is_meant: impl Fn(&NodesRow) -> bool) -> Option<f64> {
    let rows = report.rows.iter().filter(|row| row.hosts == 2 && row.library.starts_with(library) && is_meant(row));
    least(rows.filter_map(|row| row.ratio))
}

/// The longest time of the deaths that can be survived, which is to be at most `limit`.
fn longest(
    report: &NodesReport,
    victim: Victim,
    limit: f64,
    time: impl Fn(&NodesDeathRow) -> Option<f64>,
) -> Result<f64, String> {
    let rows = || report.deaths.iter().filter(|row| row.victim == victim && row.is_survivable);
    let found = most(rows().filter_map(time)).ok_or_else(|| needs(victim))?;
    enough(found, limit, rows().map(|row| row.runs).sum(), victim)
}

fn wrong(report: &NodesReport, victim: Victim) -> Result<f64, String> {
    let rows: Vec<_> = report.deaths.iter().filter(|row| row.victim == victim).collect();
    let right = |row: &NodesDeathRow| if row.is_survivable { row.named.min(row.shrunk) } else { row.named };
    let wrong: usize = rows.iter().map(|row| row.runs - right(row).min(row.runs - row.hung)).sum();
    enough(wrong as f64, 0.0, rows.iter().map(|row| row.runs).sum(), victim)
}

/// The figure, if it was found in as many deaths as are asked for, or is too large in any case.
fn enough(found: f64, limit: f64, deaths: usize, victim: Victim) -> Result<f64, String> {
    let asked = if victim == Victim::Member { 1000 } else { 200 };
    if deaths >= asked || found > limit { Ok(found) } else { Err(needs(victim)) }
}

fn needs(victim: Victim) -> String {
    match victim {
        Victim::Member => "--kill member --runs 1000".to_owned(),
        Victim::Leader => "--kill leader --runs 200, Open MPI of version 5".to_owned(),
        Victim::Host => "--kill host".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::{NodesCheckRow, NodesShape};
    use crate::rules::judge;
    use corecast_race::gate::Verdict::{self, Holds, Missed, NotJudged};

    /// The verdicts of S1, S6 and S7 on a run with this number of deaths of each kind.
    fn verdicts(runs: usize, named: usize, max_ms: f64, operations: u64) -> Vec<Verdict> {
        let death = |victim| NodesDeathRow {
            library: "openmpi-5.0".to_owned(),
            victim,
            hosts: 2,
            members: 2,
            is_survivable: true,
            runs,
            named,
            shrunk: runs,
            hung: 0,
            median_ms: Some(1.0),
            max_ms: Some(max_ms),
            after_max_ms: Some(2.0 * max_ms),
            first_wrong: None,
        };
        let check = NodesCheckRow {
            library: "openmpi-5.0".to_owned(),
            hosts: 2,
            members: 2,
            shape: NodesShape::Threads,
            operations,
            wrong: (named < runs).then(|| "a wrong sum".to_owned()),
        };
        let report = NodesReport {
            machine: String::new(),
            commit: None,
            seed: 7,
            quick: false,
            hosts: 2,
            rows: Vec::new(),
            checks: vec![check],
            deaths: vec![death(Victim::Member), death(Victim::Leader)],
            skipped: Vec::new(),
            gates: Vec::new(),
        };
        let judged = judge(RULES, &report).into_iter();
        judged.filter(|gate| ["S1", "S6", "S7"].contains(&&gate.gate[..2])).map(|gate| gate.verdict).collect()
    }

    #[test]
    fn a_short_run_can_miss_a_demand_and_not_meet_it() {
        assert_eq!(verdicts(20, 20, 100.0, 100), [NotJudged; 6]);
        assert_eq!(verdicts(20, 19, 1500.0, 100), [Missed; 6]);
        assert_eq!(verdicts(1000, 1000, 100.0, 10_000), [Holds; 6]);
    }
}
