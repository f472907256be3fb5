//! Stratum 2: what a command costs in messages and lines, by the counters of the nodes and not by a clock.
//!
//! A client at a node without a role writes alone, one command at a time. Its request is handed to the leader, the leader
//! writes it for the acceptor if that is another node, the others learn it from the acceptor's log, and its own node hands the
//! result to the client. The counts are those of the protocol's table, in which none sends to itself.

use corecast::replica::kv::{Compact, CompactSet};
use corecast::replica::{Counters, Epoch, Level, Node, Placement, Replicated};

use super::host::Setting;
use super::ours::config;
use super::payload_costs;
use super::play::value_of;
use super::report::CostRow;
use super::series::{Series, forms};
use corecast::base::sync::Fences;
use corecast::base::wait::Wait;
use corecast_race::failure::Failure;

/// Commands that are counted.
const COMMANDS: u64 = 2000;
const QUICK_COMMANDS: u64 = 500;
/// Groups that are made until one keeps its roles.
const ATTEMPTS: usize = 10;

/// A row for each form and number of replicas, and those of protocols that are computed only.
pub(super) fn costs(replicas: &[usize], is_quick: bool, wait: Wait) -> Result<Vec<CostRow>, Failure> {
    let commands = if is_quick { QUICK_COMMANDS } else { COMMANDS };
    let mut rows = Vec::new();
    for &count in replicas {
        for series in forms() {
            let payload = payload_costs::counted(series, count, commands, wait)?;
            let row = counted(series, count, commands, wait)?;
            rows.push(CostRow {
                payload_writes: Some(payload.encoded),
                payload_reads: Some(payload.decoded),
                copied_in: Some(payload.copied_in),
                copied_out: Some(payload.copied_out),
                cut_bytes: Some(payload.cut_bytes),
                ..row
            });
        }
        rows.extend(computed(count));
    }
    Ok(rows)
}

/// Messages for each command, by the formulas of protocols that are not built here.
fn computed(replicas: usize) -> [CostRow; 3] {
    let n = replicas as f64;
    [
        ("multi-paxos, the leader collects", 3.0 * n - 1.0),
        ("multi-paxos, acceptors tell all", n * n + 1.0),
        ("two-phase commit", 4.0 * n - 2.0),
    ]
    .map(|(protocol, expected)| CostRow {
        protocol: protocol.to_owned(),
        replicas,
        expected,
        ..CostRow::default()
    })
}

/// The messages of a command, by the table of the protocol: the client is at a node without a role.
fn formula(series: &Series, replicas: usize) -> f64 {
    match series.placement {
        Placement::Separate => replicas as f64 + 2.0,
        Placement::Fused => replicas as f64 + 1.0,
    }
}

/// A row of a group in which the roles stayed where they were: on a crowded machine a node may be held for stuck meanwhile, and
/// that is not the normal case.
fn counted(series: &Series, replicas: usize, commands: u64, wait: Wait) -> Result<CostRow, Failure> {
    let mut row = counted_once(series, replicas, commands, wait)?;
    for _ in 1..ATTEMPTS {
        if row.is_some() {
            break;
        }
        row = counted_once(series, replicas, commands, wait)?;
    }
    row.ok_or_else(|| Failure::Refused(format!("{}: the roles moved in each of {ATTEMPTS} groups", series.name)))
}

/// `None` if the roles moved.
fn counted_once(series: &Series, replicas: usize, commands: u64, wait: Wait) -> Result<Option<CostRow>, Failure> {
    let setting = Setting { members: replicas, clients: 1, cpus: Vec::new(), wait };
    let first = Replicated::create(&config(series, &setting), Compact::default()).map_err(Failure::refused)?;
    let mut nodes = vec![first];
    for _ in 1..replicas {
        let fd = nodes[0].share().map_err(Failure::while_doing("share a group"))?;
        nodes.push(Replicated::attach_fd(&config(series, &setting), fd).map_err(Failure::refused)?);
    }
    let status = nodes[0].status();
    let is_free = |node: &&Node<Compact>| node.id() != status.leader && node.id() != status.acceptor;
    let client = nodes.iter().find(is_free);
    let client = client.ok_or_else(|| Failure::Refused("every node has a role".to_owned()))?;
    let mut session = client.session().map_err(Failure::refused)?;
    let mut write = |number: u64| {
        let set = CompactSet { key: (number % 64).to_le_bytes(), value: value_of(number % 64, number) };
        session.execute(&set).map(drop).map_err(Failure::refused)
    };
    (0..16).try_for_each(&mut write)?;
    let before = Sums::of(&nodes)?;
    (0..commands).try_for_each(&mut write)?;
    let after = Sums::of(&nodes)?;
    let is_normal = before.roles == status.epoch && after.roles == status.epoch;
    Ok(is_normal.then(|| row(series, replicas, commands, &before, &after)))
}

/// Counters of all nodes together, once all have applied the same.
struct Sums {
    /// The configuration.
    roles: Epoch,
    counters: Vec<Counters>,
    /// Commands applied at nodes other than the acceptor.
    learned: u64,
    /// System calls of sleepers' fences, by this process.
    fences: u64,
}

impl Sums {
    fn of(nodes: &[Node<Compact>]) -> Result<Self, Failure> {
        for node in nodes {
            node.read(Level::Linearizable, &[0; 8]).map_err(Failure::refused)?;
        }
        let statuses: Vec<_> = nodes.iter().map(Node::status).collect();
        let learners = statuses.iter().filter(|status| status.me != status.acceptor);
        let learned = learners.map(|status| status.applied).sum();
        let roles = statuses.iter().map(|status| status.epoch).max().unwrap_or(0);
        let counters = statuses.iter().map(|status| status.counters).collect();
        Ok(Self { roles, counters, learned, fences: Fences::heavy_calls() })
    }

    fn sum(&self, of: fn(&Counters) -> u64) -> u64 {
        self.counters.iter().map(of).sum()
    }
}

fn row(series: &Series, replicas: usize, commands: u64, before: &Sums, after: &Sums) -> CostRow {
    let each = |count: u64| count as f64 / commands as f64;
    let more = |of: fn(&Counters) -> u64| each(after.sum(of) - before.sum(of));
    let (requests, accepts) = (more(|counters| counters.forwarded), more(|counters| counters.proposed));
    // The client's node hands over the result itself, once for each command.
    let (learns, replies) = (each(after.learned - before.learned), 1.0);
    CostRow {
        protocol: series.name.to_owned(),
        replicas,
        commands: Some(commands),
        requests: Some(requests),
        accepts: Some(accepts),
        learns: Some(learns),
        replies: Some(replies),
        messages: Some(requests + accepts + learns + replies),
        expected: formula(series, replicas),
        log_lines: Some(requests + accepts + more(|counters| counters.accepted)),
        commits: Some(more(|counters| counters.commits)),
        role_cas: Some(more(|counters| counters.role_attempts)),
        system_calls: Some(more(|counters| counters.waits.sum()) + each(after.fences - before.fences)),
        ..CostRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_those_of_the_table() {
        let expected = |replicas| computed(replicas).map(|row| row.expected);
        assert_eq!(
            [expected(3), expected(5), expected(28)],
            [[8.0, 10.0, 10.0], [14.0, 26.0, 18.0], [83.0, 785.0, 110.0]]
        );
        let ours = |replicas| forms().map(|series| formula(series, replicas)).collect::<Vec<_>>();
        assert_eq!([ours(3), ours(5), ours(28)], [[5.0, 4.0], [7.0, 6.0], [30.0, 29.0]]);
    }

    #[test]
    fn a_command_of_each_form_is_counted() {
        for series in forms() {
            let row = counted(series, 3, 50, Wait::Adaptive).expect("a group");
            assert!(row.learns >= Some(2.0) && row.log_lines >= Some(1.0), "{row:?}");
        }
    }
}
