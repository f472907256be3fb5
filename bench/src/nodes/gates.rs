//! The demands on groups over several nodes. A run that is shorter than a demand asks for can miss it, and not meet it.

use std::collections::HashSet;

use corecast_race::gate::Demand;

use super::campaign::Victim;
use super::work::{NodesOp, NodesShape};
use super::{NodesCheckRow, NodesDeathRow, NodesIdleRow, NodesModelRow, NodesReport, NodesRow};
use crate::rules::{Rule, at_least, at_most};
use crate::stats::{least, most};

const COMMAND: &str = "corecast bench nodes";
const CHECK: &str = "corecast bench nodes --check 10000";
const IDLE: &str = "corecast bench nodes --idle";
const MODEL: &str = "corecast bench nodes --model --hosts 4";
const KILL_MEMBER: &str = "corecast bench nodes --kill member --runs 1000";
const KILL_LEADER: &str = "corecast bench nodes --kill leader --runs 200";

/// Groups of fewer hosts have no messages between nodes, and are judged by none of the demands.
const HOSTS: usize = 2;
/// The operations of every cell, its members on a host, and the libraries, for S1.
const OPERATIONS: u64 = 10_000;
const MEMBERS: [usize; 3] = [1, 2, 4];
const LIBRARIES: usize = 5;
/// The launches of each kind, for S2 to S4 and S10.
const LAUNCHES: usize = 10;
/// Deaths under each library, for S6 and S7.
const MEMBER_DEATHS: usize = 1000;
const LEADER_DEATHS: usize = 200;
/// Milliseconds until all survivors are told of a death, by its victim, and until one of them has done an operation after a
/// leader's.
const TOLD_OF_MEMBER_MS: f64 = 500.0;
const TOLD_OF_LEADER_MS: f64 = 1000.0;
const AFTER_LEADER_MS: f64 = 2000.0;

const RIGHT: Demand =
    at_most(0.0, "cells with a launch of our group that gave a wrong result, ended with an error, or hung", COMMAND);
const S1: Demand =
    at_most(0.0, "S1: launches of random operations with a wrong result, or not done at their limit", CHECK);
const S2: Demand =
    at_most(1.10, "S2: one member on each host, 8 bytes to 1 MiB, time / plain MPI's, the largest median", COMMAND);
const S3_OPEN_2: Demand = at_least(1.3, "S3: 8 bytes, 2 x 2 members, plain Open MPI / ours, the least", COMMAND);
const S3_OPEN_4: Demand = at_least(2.0, "S3: 8 bytes, 2 x 4 members, plain Open MPI / ours, the least", COMMAND);
const S3_MPICH: Demand =
    at_least(100.0, "S3: 8 bytes, 2 x 2 and 2 x 4 members, plain MPICH / ours, the least", COMMAND);
const S4: Demand =
    at_least(2.0, "S4: allreduce of 8 and 256 KiB, 2 x 2 members, plain Open MPI / ours, the least", COMMAND);
const S4_LONG: Demand = at_least(1.0, "S4: allreduce of 1 MiB, 2 x 2 members, plain Open MPI / ours", COMMAND);
const S5_MEMBERS: Demand = at_most(
    0.01,
    "S5: share of a CPU that a member which does not lead its host uses in a wait of a second, the largest",
    IDLE,
);
const S6_TOLD: Demand = at_most(
    TOLD_OF_MEMBER_MS,
    "S6: ms from the death of a member that does not lead until all survivors are told",
    KILL_MEMBER,
);
const S6_WRONG: Demand =
    at_most(0.0, "S6: deaths that were named wrongly, hung, or left no working group", KILL_MEMBER);
const S7_TOLD: Demand =
    at_most(TOLD_OF_LEADER_MS, "S7: ms from the death of a leader or a rank until all survivors are told", KILL_LEADER);
const S7_AFTER: Demand = at_most(
    AFTER_LEADER_MS,
    "S7: ms from the death of a leader or a rank until a survivor has done an operation of the new group",
    KILL_LEADER,
);
const S7_WRONG: Demand = at_most(
    0.0,
    "S7: deaths of leaders and ranks that were named wrongly, hung, or left no working group or job",
    KILL_LEADER,
);

const S10: Demand = at_most(
    1.25,
    "S10: one member on each of 2, 3 and 4 hosts, time by the model / measured, or its inverse, the largest median",
    MODEL,
);
/// The numbers of hosts for S10.
const MODEL_HOSTS: [usize; 3] = [2, 3, 4];

pub(super) const RULES: &[Rule<NodesReport>] = &[
    Rule::new(RIGHT, |report| {
        let wrong = report.rows.iter().filter(|row| row.wrong.is_some());
        let mut cells: Vec<(&str, usize)> = wrong.map(|row| (row.library.as_str(), row.members)).collect();
        cells.dedup();
        if report.rows.is_empty() {
            Err("a run without --check, --idle, --model and --kill".to_owned())
        } else {
            Ok(cells.len() as f64)
        }
    }),
    Rule::new(S1, |report| {
        let wrong = report.checks.iter().filter(|row| row.wrong.is_some() || row.is_late).count() as f64;
        if wrong > 0.0 || has_every_cell(&report.checks) { Ok(wrong) } else { Err(needs_cells()) }
    }),
    Rule::new(S2, |report| {
        let rows: Vec<&NodesRow> = report.rows.iter().filter(|row| row.members == 1 && row.hosts >= HOSTS).collect();
        let found = most(rows.iter().filter_map(|row| Some(1.0 / row.ratio?)));
        launched(S2, found, &rows, true, "--members 1")
    }),
    Rule::new(S3_OPEN_2, |report| short(S3_OPEN_2, report, "openmpi", &[2])),
    Rule::new(S3_OPEN_4, |report| short(S3_OPEN_4, report, "openmpi", &[4])),
    Rule::new(S3_MPICH, |report| short(S3_MPICH, report, "mpich", &[2, 4])),
    Rule::new(S4, |report| slices(S4, report, &[8 << 10, 256 << 10])),
    Rule::new(S4_LONG, |report| slices(S4_LONG, report, &[1 << 20])),
    Rule::new(S5_MEMBERS, |report| idle(report, S5_MEMBERS.limit, |row| row.member_share)),
    Rule::new(S6_TOLD, |report| longest(report, Victim::Member, TOLD_OF_MEMBER_MS, |row| row.max_ms)),
    Rule::new(S6_WRONG, |report| wrong(report, Victim::Member)),
    Rule::new(S7_TOLD, |report| longest(report, Victim::Leader, TOLD_OF_LEADER_MS, |row| row.max_ms)),
    Rule::new(S7_AFTER, |report| longest(report, Victim::Leader, AFTER_LEADER_MS, |row| row.after_max_ms)),
    Rule::new(S7_WRONG, |report| wrong(report, Victim::Leader)),
    Rule::new(S10, |report| predicted(&report.model)),
];

/// True if all libraries have run enough operations in every shape with all numbers of members.
fn has_every_cell(checks: &[NodesCheckRow]) -> bool {
    let mut libraries: Vec<&str> = checks.iter().map(|row| row.library.as_str()).collect();
    libraries.dedup();
    let has = |library: &str, members: usize, shape: NodesShape| {
        let is_it = |row: &&NodesCheckRow| {
            row.library == library
                && row.members == members
                && row.shape == shape
                && row.hosts >= HOSTS
                && row.uneven.is_none()
                && is_long(row)
        };
        checks.iter().any(|row| is_it(&row))
    };
    let has_members =
        |library: &str, members: usize| NodesShape::checked(members).iter().all(|&shape| has(library, members, shape));
    let has_library = |library: &&str| MEMBERS.iter().all(|&members| has_members(library, members));
    libraries.len() >= LIBRARIES && libraries.iter().all(has_library)
}

fn is_long(row: &NodesCheckRow) -> bool {
    row.operations >= OPERATIONS
}

fn needs_cells() -> String {
    format!("--check {OPERATIONS} --members 1,2,4, {LIBRARIES} libraries")
}

/// The figure, if these rows are of enough launches and are all that are asked for, or if it misses the demand in any case.
fn launched(demand: Demand, found: Option<f64>, rows: &[&NodesRow], are_all: bool, needs: &str) -> Result<f64, String> {
    let needs = || format!("{needs}, {LAUNCHES} launches");
    let found = found.ok_or_else(needs)?;
    let misses = if demand.is_most { found > demand.limit } else { found < demand.limit };
    let is_enough = are_all && rows.iter().all(|row| row.launches >= LAUNCHES);
    if is_enough || misses { Ok(found) } else { Err(needs()) }
}

/// The least gain of operations of 8 bytes under libraries of this name on two hosts.
fn short(demand: Demand, report: &NodesReport, library: &str, members: &[usize]) -> Result<f64, String> {
    let rows = rows(report, library, |row| row.bytes <= 8 && members.contains(&row.members));
    let are_all = members.iter().all(|&members| rows.iter().any(|row| row.members == members));
    let members: Vec<String> = members.iter().map(usize::to_string).collect();
    let needs = format!("{library}, --hosts 2 --members {}", members.join(","));
    launched(demand, gain(&rows), &rows, are_all, &needs)
}

fn slices(demand: Demand, report: &NodesReport, sizes: &[usize]) -> Result<f64, String> {
    let is_meant = |row: &NodesRow| row.op == NodesOp::Allreduce && row.members == 2 && sizes.contains(&row.bytes);
    let rows = rows(report, "openmpi", is_meant);
    launched(demand, gain(&rows), &rows, true, "openmpi, --hosts 2 --members 2")
}

fn rows<'r>(report: &'r NodesReport, library: &str, is_meant: impl Fn(&NodesRow) -> bool) -> Vec<&'r NodesRow> {
    let rows = report.rows.iter().filter(|row| row.hosts == 2 && row.library.starts_with(library) && is_meant(row));
    rows.collect()
}

fn gain(rows: &[&NodesRow]) -> Option<f64> {
    least(rows.iter().filter_map(|row| row.ratio))
}

/// The largest factor between predicted and measured times, which is to be small on each number of hosts.
fn predicted(rows: &[NodesModelRow]) -> Result<f64, String> {
    let rows: Vec<&NodesModelRow> = rows.iter().filter(|row| MODEL_HOSTS.contains(&row.hosts)).collect();
    let needs = || format!("--model --hosts 4, {LAUNCHES} launches");
    let found = most(rows.iter().filter_map(|row| row.ratio).map(|ratio| ratio.max(1.0 / ratio))).ok_or_else(needs)?;
    let has = |hosts: usize| rows.iter().any(|row| row.hosts == hosts);
    let is_enough = MODEL_HOSTS.into_iter().all(has) && rows.iter().all(|row| row.launches >= LAUNCHES);
    if found > S10.limit || is_enough { Ok(found) } else { Err(needs()) }
}

/// The largest share of a CPU in a wait, which is to be at most `limit`.
fn idle(report: &NodesReport, limit: f64, share: impl Fn(&NodesIdleRow) -> Option<f64>) -> Result<f64, String> {
    let rows: Vec<&NodesIdleRow> = report.idle.iter().filter(|row| row.hosts >= HOSTS && row.members > 1).collect();
    let needs = || format!("--idle --members 2 or more, {LAUNCHES} launches");
    let found = most(rows.iter().filter_map(|row| share(row))).ok_or_else(needs)?;
    let is_enough = rows.iter().all(|row| row.launches >= LAUNCHES);
    if found > limit || is_enough { Ok(found) } else { Err(needs()) }
}

/// The longest time of the deaths that can be survived, which is to be at most `limit`. Of deaths at a place the time is not
/// known as well: they are seen when the process has ended.
fn longest(
    report: &NodesReport,
    victim: Victim,
    limit: f64,
    time: impl Fn(&NodesDeathRow) -> Option<f64>,
) -> Result<f64, String> {
    let rows: Vec<_> = deaths(report, victim).filter(|row| row.is_survivable && row.place.is_none()).collect();
    let found = most(rows.iter().filter_map(|row| time(row))).ok_or_else(|| needs(victim))?;
    if found > limit || has_enough(&rows, victim) { Ok(found) } else { Err(needs(victim)) }
}

/// The deaths that had survivors on other hosts. A rank that does not lead is a process of MPI, and its death that of a leader.
fn deaths(report: &NodesReport, victim: Victim) -> impl Iterator<Item = &NodesDeathRow> {
    let kind = |row: &NodesDeathRow| match row.victim {
        Victim::Member if row.shape == NodesShape::Ranks => Victim::Leader,
        other => other,
    };
    report.deaths.iter().filter(move |row| kind(row) == victim && row.hosts >= HOSTS)
}

fn wrong(report: &NodesReport, victim: Victim) -> Result<f64, String> {
    let rows: Vec<_> = deaths(report, victim).collect();
    let right = |row: &NodesDeathRow| if row.is_survivable { row.named.min(row.shrunk) } else { row.named };
    let wrong: usize = rows.iter().map(|row| row.runs - right(row).min(row.runs - row.hung)).sum();
    // Without a library that survives the deaths of leaders, and one that does not, there is half of the demand only.
    let are_all =
        victim == Victim::Member || [true, false].iter().all(|&is| rows.iter().any(|row| row.is_survivable == is));
    if wrong > 0 || (are_all && has_enough(&rows, victim)) { Ok(wrong as f64) } else { Err(needs(victim)) }
}

/// True if each library has had as many deaths as are asked for, and of members that do not lead all libraries have.
fn has_enough(rows: &[&NodesDeathRow], victim: Victim) -> bool {
    let (asked, libraries) = if victim == Victim::Member { (MEMBER_DEATHS, LIBRARIES) } else { (LEADER_DEATHS, 1) };
    let found: HashSet<&str> = rows.iter().map(|row| row.library.as_str()).collect();
    found.len() >= libraries && rows.iter().all(|row| row.runs >= asked)
}

fn needs(victim: Victim) -> String {
    match victim {
        Victim::Member => format!("--kill member --runs {MEMBER_DEATHS}, {LIBRARIES} libraries"),
        Victim::Leader => format!("--kill leader --runs {LEADER_DEATHS}, Open MPI of version 5 and another library"),
        Victim::Host => "--kill host".to_owned(),
    }
}

#[cfg(test)]
mod tests;
