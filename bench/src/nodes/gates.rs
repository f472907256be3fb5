//! The demands on groups over several nodes.

use corecast_race::gate::Demand;

use super::kill::Victim;
use super::work::NodesOp;
use super::{NodesReport, NodesRow};
use crate::rules::{Rule, at_least, at_most};
use crate::stats::{least, most};

const COMMAND: &str = "corecast bench nodes";
const CHECK: &str = "corecast bench nodes --check 10000";
const KILL_MEMBER: &str = "corecast bench nodes --kill member --runs 1000";
const KILL_LEADER: &str = "corecast bench nodes --kill leader --runs 200";

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
const S6_TOLD: Demand =
    at_most(500.0, "S6: ms from the death of a member that does not lead until all survivors are told", KILL_MEMBER);
const S6_WRONG: Demand =
    at_most(0.0, "S6: deaths that were named wrongly, hung, or left no working group", KILL_MEMBER);
const S7_TOLD: Demand = at_most(1000.0, "S7: ms from the death of a leader until all survivors are told", KILL_LEADER);
const S7_WRONG: Demand =
    at_most(0.0, "S7: deaths of leaders that were named wrongly, hung, or left no working group or job", KILL_LEADER);

pub(super) const RULES: &[Rule<NodesReport>] = &[
    Rule::new(S1, |report| {
        let wrong = report.checks.iter().filter(|row| row.wrong.is_some()).count();
        if report.checks.is_empty() { Err("--check 10000".to_owned()) } else { Ok(wrong as f64) }
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
    Rule::new(S6_TOLD, |report| told(report, Victim::Member)),
    Rule::new(S6_WRONG, |report| wrong(report, Victim::Member)),
    Rule::new(S7_TOLD, |report| told(report, Victim::Leader)),
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

fn told(report: &NodesReport, victim: Victim) -> Result<f64, String> {
    let rows = report.deaths.iter().filter(|row| row.victim == victim && row.is_survivable);
    most(rows.filter_map(|row| row.max_ms)).ok_or_else(|| needs(victim))
}

fn wrong(report: &NodesReport, victim: Victim) -> Result<f64, String> {
    let rows: Vec<_> = report.deaths.iter().filter(|row| row.victim == victim).collect();
    let right = |row: &super::NodesDeathRow| if row.is_survivable { row.named.min(row.shrunk) } else { row.named };
    let wrong: usize = rows.iter().map(|row| row.runs - right(row).min(row.runs - row.hung)).sum();
    if rows.is_empty() { Err(needs(victim)) } else { Ok(wrong as f64) }
}

fn needs(victim: Victim) -> String {
    match victim {
        Victim::Member => "--kill member".to_owned(),
        Victim::Leader => "--kill leader, Open MPI of version 5".to_owned(),
        Victim::Host => "--kill host".to_owned(),
    }
}
