//! Races of servers that receive from their clients, with and without answers.

use std::time::Duration;

use corecast::base::{Clock, CpuId};

use super::family::Serving;
use super::race::{Entrant, Outcome, Run, ticks};
use super::report::{Receive, ServerCell, ServerRow, Trip};
use crate::stats::{jain, least, median, median_of, most};
use corecast_race::error::BenchError;
use corecast_race::harness::Stamps;

/// How many clients each server has.
pub(super) type Layout = Vec<usize>;

/// The work of servers and clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) trip: Trip,
    pub(super) receive: Receive,
    pub(super) work: Duration,
}

/// One server for each number of clients asked for; and layouts with one server for each `stride` participants, with one
/// participant for each CPU, or two servers at least.
pub(super) fn layouts(clients: &[usize], strides: &[usize], cpus: usize) -> Vec<Layout> {
    let alone = clients.iter().map(|&clients| vec![clients]);
    alone.chain(strides.iter().map(|&stride| dealt(stride, cpus.max(2 * stride)))).collect()
}

/// Every `stride`th of these participants is a server, and those up to the next are its clients. A last one without any is
/// left out.
fn dealt(stride: usize, participants: usize) -> Layout {
    let clients = |first: usize| (participants - first).min(stride) - 1;
    (0..participants).step_by(stride).map(clients).filter(|&clients| clients > 0).collect()
}

/// One situation.
pub(super) fn cell(run: &mut Run<'_>, layout: &Layout, job: Job) -> Result<ServerCell, BenchError> {
    let Job { trip, receive, work } = job;
    let participants = layout.len() + layout.iter().sum::<usize>();
    let seats: Vec<CpuId> = run.cpus.iter().copied().cycle().take(participants).collect();
    let (wait, wake_cost) = (run.order.options.wait, run.wake_cost);
    let contenders = run.contenders.iter().copied().filter(|contender| contender.serve.is_some()).collect();
    let raced = run.race(&seats, contenders, &|contender, _abort| {
        let serve = contender.serve.expect("chosen for that");
        let bodies = |&clients: &usize| serve(&Serving { clients, trip, receive, work, wait, wake_cost });
        Ok(layout.iter().map(bodies).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })?;
    let Outcome { entrants, line_ns, placement_changes } = raced;
    Ok(ServerCell {
        servers: layout.len(),
        clients: layout.iter().sum(),
        cpus: seats.iter().map(|cpu| cpu.get()).collect(),
        oversubscribed: run.is_crowded(participants),
        trip,
        receive,
        work_ns: u64::try_from(work.as_nanos()).unwrap_or(u64::MAX),
        line_ns,
        placement_changes,
        rows: entrants.iter().map(|entrant| row(entrant, layout, line_ns)).collect(),
    })
}

fn row(entrant: &Entrant, layout: &Layout, line_ns: Option<f64>) -> ServerRow {
    let (clock, each) = (Clock::get(), entrant.iterations as f64);
    let messages = layout.iter().sum::<usize>() as f64 * each;
    let mops: Vec<f64> = entrant.raced.blocks.iter().map(|block| messages * 1e3 / clock.ns(ticks(block))).collect();
    let times = |block: &Vec<Stamps>| -> Vec<f64> {
        clients(layout).map(|rank| clock.ns(ticks(&block[rank..=rank])) / each).collect()
    };
    let by_block: Vec<Vec<f64>> = entrant.raced.blocks.iter().map(times).collect();
    // Messages of each client in a second.
    let rates = |ns: &Vec<f64>| ns.iter().map(|ns| (1e9 / ns.max(1.0)) as u64).collect::<Vec<u64>>();
    let middle = median(&mops);
    let server_ns = middle.map(|mops| layout.len() as f64 * 1e3 / mops);
    ServerRow {
        contender: entrant.contender.name,
        ours: entrant.contender.ours,
        messages: (messages * entrant.raced.blocks.len() as f64) as u64,
        mops: middle,
        min_mops: least(mops.iter().copied()),
        max_mops: most(mops.iter().copied()),
        lines: server_ns.zip(line_ns).map(|(server_ns, line_ns)| server_ns / line_ns),
        client_ns: median(&by_block.concat()),
        jain: median_of(by_block.iter().map(|ns| jain(&rates(ns)))),
        skipped: entrant.raced.skipped(),
        failed: entrant.raced.has_failed(),
    }
}

/// The ranks of clients, among all participants.
fn clients(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    let mut rank = 0;
    layout.iter().flat_map(move |&clients| {
        let first = rank + 1;
        rank = first + clients;
        first..rank
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_every_stride_of_participants_is_a_server() {
        assert_eq!(layouts(&[1, 3], &[3], 2), [vec![1], vec![3], vec![2, 2]]);
        assert_eq!(layouts(&[], &[3, 6], 8), [vec![2, 2, 1], vec![5, 5]]);
        assert_eq!(dealt(3, 10), [2, 2, 2], "the tenth would have no clients");
    }

    #[test]
    fn clients_stand_behind_their_servers() {
        assert_eq!(clients(&vec![2, 1, 3]).collect::<Vec<_>>(), [1, 2, 4, 6, 7, 8]);
    }
}
