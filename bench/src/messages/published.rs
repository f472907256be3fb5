//! SSYNC's figures of libssmp, beside the same of libssmp's buffer (`one-line`) and of corecast's channel here.

use corecast::machine::Machine;

use super::gates;
use super::report::{PairCell, Receive, ServerCell, Trip};
use crate::published::{self, Published, PublishedFigure, is_one_package};
use crate::stats::most;

/// The measurements of this machine.
struct Evidence<'a> {
    pairs: &'a [PairCell],
    servers: &'a [ServerCell],
    /// Whether all CPUs are known to be in one package.
    is_one_package: bool,
}

const MANY: &str = "all machines of the study";
const XEON: &str = "Xeon, 8 sockets of 10";

const SERVER: &str = "server in a socket, one way, millions of messages in a second; here ump";

fn table<'a>() -> [Published<Evidence<'a>>; 6] {
    type Here<'a> = fn(&Evidence<'a>) -> Option<f64>;
    let row = |figure, machine, there, here: Here<'a>| Published { figure, machine, there, here };
    let (one_way, round_trip) = ([2.0, 3.2], [5.2, 6.8]);
    [
        row("one way / line transfer; here one-line", MANY, one_way, |found| found.lines("one-line", Trip::OneWay)),
        row("one way / line transfer; here ump", MANY, one_way, |found| found.lines("ump", Trip::OneWay)),
        row("round trip / line transfer; here one-line", MANY, round_trip, |found| {
            found.lines("one-line", Trip::RoundTrip)
        }),
        row("round trip / line transfer; here ump", MANY, round_trip, |found| found.lines("ump", Trip::RoundTrip)),
        row(SERVER, XEON, [25.0; 2], |found| servers_mops(found.servers).filter(|_| found.is_one_package)),
        row("the same with one client in another socket", XEON, [8.0; 2], |_| None),
    ]
}

impl Evidence<'_> {
    fn lines(&self, contender: &str, trip: Trip) -> Option<f64> {
        gates::worst(self.pairs, contender, trip)
    }
}

/// All of it. Its messages are lines of 64 bytes; what is set beside are messages that fill one.
pub(super) fn beside(machine: &Machine, pairs: &[PairCell], servers: &[ServerCell]) -> Vec<PublishedFigure> {
    published::beside(&table(), &Evidence { pairs, servers, is_one_package: is_one_package(machine) })
}

/// The most messages in a second that a server received through `ump` from any of its clients, with a CPU for each.
fn servers_mops(servers: &[ServerCell]) -> Option<f64> {
    let is_such = |cell: &&ServerCell| {
        let is_idle = cell.work_ns == 0 && !cell.oversubscribed;
        cell.servers == 1 && cell.trip == Trip::OneWay && cell.receive == Receive::Any && is_idle
    };
    let mops = |cell: &ServerCell| cell.rows.iter().find(|row| row.contender == "ump")?.mops;
    most(servers.iter().filter(is_such).map(mops))
}

#[cfg(test)]
mod tests {
    use corecast::base::CpuId;
    use corecast::machine::{Cpu, Topology};

    use super::super::gates::tests::pair;
    use super::super::report::ServerRow;
    use super::*;

    fn server(work_ns: u64, mops: f64) -> ServerCell {
        let row = ServerRow { contender: "ump", ours: true, mops: Some(mops), ..ServerRow::default() };
        ServerCell {
            servers: 1,
            clients: 1,
            cpus: vec![0, 1],
            oversubscribed: false,
            trip: Trip::OneWay,
            receive: Receive::Any,
            work_ns,
            line_ns: None,
            placement_changes: 0,
            rows: vec![row],
        }
    }

    #[test]
    fn each_figure_stands_beside_its_like_and_sockets_must_be_known() {
        let machine = |package| {
            let cpus = (0..2).map(|id| Cpu { package, ..Cpu::flat(CpuId::new(id)) }).collect();
            Machine::from_topology(&Topology { cpus, ..Topology::default() })
        };
        let pairs = [pair(Trip::OneWay, Some(0.5)), pair(Trip::RoundTrip, Some(4.5))];
        let crowded = ServerCell { oversubscribed: true, ..server(0, 90.0) };
        let servers = [server(0, 30.0), server(0, 40.0), server(100, 80.0), crowded];
        let here = |package| beside(&machine(package), &pairs, &servers).into_iter().map(|row| row.here);
        assert_eq!(here(Some(0)).collect::<Vec<_>>(), [None, Some(0.5), None, Some(4.5), Some(40.0), None]);
        assert_eq!(here(None).collect::<Vec<_>>(), [None, Some(0.5), None, Some(4.5), None, None]);
    }
}
