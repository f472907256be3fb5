//! `corecast bench messages`: one-to-one and client-server message passing, one way and there and back.
//!
//! The experiments of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013): a pair at each distance and several pairs at once; one
//! server and more and more clients, which it receives from as they come or from two halves in turns, with work of its own
//! or none; and one server for every few CPUs. Every message has a number and is checked where it arrives, in timed
//! blocks too. Contenders run in turns, in an order drawn anew for each round, with a probe of the bare line beside it.
//!
//! - `pairs`, `servers`: the situations; `race`: contenders in one of them;
//! - `server`, `message`: what servers and clients do, and how messages are checked; pairs are those of `channels`;
//! - `contender`: the registry; `report`, `published`, `gates`: what is told, what others have told, what is asked.

mod contender;
mod family;
mod gates;
mod message;
mod pairs;
mod published;
mod race;
mod report;
mod server;
mod servers;

use std::time::Duration;

use corecast::base::CpuId;
use corecast::machine::Machine;

use crate::counts::{doubled_up_to, or_usual};
use crate::turns::TurnOrder;
use contender::contenders;
use corecast_race::error::BenchError;
use corecast_race::options::Options;
use corecast_race::progress::{Part, Progress};
use race::{Amount, Run};
pub use report::{MessagePairRow, MessageReport, PairCell, Receive, ServerCell, ServerRow, Trip};
use servers::{Job, Layout};

/// The longest message between pairs: beyond, a race of channels tells more.
pub const MAX_PAIR_BYTES: usize = 4096;

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct MessageOptions {
    /// CPUs, contenders, how corecast's channels wait, pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The numbers of pairs at once; by default 1, 2, 4, .. up to all that have CPUs of their own at a distance.
    pub pairs: Vec<usize>,
    /// The lengths of messages between pairs; 56, which fills one line with the channel's own word, and 64 by default.
    pub bytes: Vec<usize>,
    /// The numbers of clients of one server; 1, 2, 4, .. up to one less than there are CPUs, and less than twice the CPUs by
    /// one, by default.
    pub clients: Vec<usize>,
    /// One of this number of participants is a server; 3 by default.
    pub strides: Vec<usize>,
    /// The work of a server for each message; nothing, 0.1 us and 1 us by default.
    pub work: Vec<Duration>,
    /// How long a block is to be where everybody has a CPU, twice that elsewhere; 5 ms by default, 1 ms if quick.
    pub block: Option<Duration>,
}

const THOROUGH: Amount = Amount { rounds: 31, block: Duration::from_millis(5) };
const QUICK: Amount = Amount { rounds: 11, block: Duration::from_millis(1) };

/// Races all channels between pairs, then all servers.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, or the run is cancelled.
///
/// # Panics
/// If a number of pairs or clients is 0, a length is not 1 to [`MAX_PAIR_BYTES`], or a stride is less than 2.
pub fn messages(
    machine: &Machine,
    options: &MessageOptions,
    progress: &mut dyn Progress,
) -> Result<MessageReport, BenchError> {
    let MessageOptions { options: shared, pairs, bytes, clients, strides, .. } = options;
    assert!(pairs.iter().chain(clients).all(|&count| count > 0), "there is a pair, and a client");
    assert!(bytes.iter().all(|bytes| (1..=MAX_PAIR_BYTES).contains(bytes)), "1 to {MAX_PAIR_BYTES} bytes");
    assert!(strides.iter().all(|&stride| stride > 1), "a server has a client");
    let cpus = shared.usable_cpus(machine)?;
    let (amount, seed) = (if shared.quick { QUICK } else { THOROUGH }, shared.seed_or_draw());
    let mut run = Run {
        order: TurnOrder::new(shared, seed),
        cpus: cpus.iter().collect(),
        contenders: shared.chosen(contenders(), |contender| contender.name)?,
        amount: Amount { block: options.block.unwrap_or(amount.block), ..amount },
        wake_cost: machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64)),
    };
    let machine = machine.restricted_to(&cpus);
    let (pairs, servers) = run_all(&mut run, &machine, options, progress)?;
    progress.step(1.0, "done");
    Ok(MessageReport {
        machine: machine.name.clone(),
        commit: shared.commit.clone(),
        seed,
        quick: shared.quick,
        cpus: cpus.iter().map(CpuId::get).collect(),
        wait: shared.wait.name(),
        block_ms: u64::try_from(run.amount.block.as_millis()).unwrap_or(u64::MAX),
        rounds: run.amount.rounds,
        published: published::beside(&machine, &pairs, &servers),
        gates: gates::judge(&pairs),
        pairs,
        servers,
    })
}

/// Pairs, then servers: each of their situations takes about the same time.
fn run_all(
    run: &mut Run<'_>,
    machine: &Machine,
    options: &MessageOptions,
    progress: &mut dyn Progress,
) -> Result<(Vec<PairCell>, Vec<ServerCell>), BenchError> {
    let seatings = pairs::seatings(machine, &options.pairs);
    let lengths = or_usual(&options.bytes, || vec![gates::LINE_MESSAGE, 64]);
    let (layouts, jobs) = server_situations(options, run.cpus.len());
    let (of_pairs, of_servers) = (seatings.len() * lengths.len() * Trip::ALL.len(), layouts.len() * jobs.len());
    let border = of_pairs as f64 / (of_pairs + of_servers).max(1) as f64;
    let mut part = Part { whole: &mut *progress, from: 0.0, to: border };
    let pairs = run_pairs(run, &seatings, &lengths, &mut part)?;
    let mut part = Part { whole: &mut *progress, from: border, to: 1.0 };
    let servers = run_servers(run, &layouts, &jobs, &mut part)?;
    Ok((pairs, servers))
}

fn run_pairs(
    run: &mut Run<'_>,
    seatings: &[pairs::Seating],
    lengths: &[usize],
    progress: &mut dyn Progress,
) -> Result<Vec<PairCell>, BenchError> {
    let total = (seatings.len() * lengths.len() * Trip::ALL.len()) as f64;
    let mut cells = Vec::new();
    for seating in seatings {
        for &bytes in lengths {
            for trip in Trip::ALL {
                progress.step(cells.len() as f64 / total, &format!("pairs, {bytes} bytes"));
                cells.push(pairs::cell(run, seating, bytes, trip)?);
            }
        }
    }
    Ok(cells)
}

/// The numbers of clients of each server, and what they do.
fn server_situations(options: &MessageOptions, cpus: usize) -> (Vec<Layout>, Vec<Job>) {
    let MessageOptions { strides, .. } = options;
    let clients = or_usual(&options.clients, || usual_clients(cpus));
    let strides = or_usual(strides, || vec![3]);
    let work = or_usual(&options.work, || [0, 100, 1000].map(Duration::from_nanos).to_vec());
    let mut jobs = Vec::new();
    for trip in Trip::ALL {
        for receive in Receive::ALL {
            jobs.extend(work.iter().map(|&work| Job { trip, receive, work }));
        }
    }
    (servers::layouts(&clients, &strides, cpus), jobs)
}

fn run_servers(
    run: &mut Run<'_>,
    layouts: &[Layout],
    jobs: &[Job],
    progress: &mut dyn Progress,
) -> Result<Vec<ServerCell>, BenchError> {
    let total = (layouts.len() * jobs.len()) as f64;
    let mut cells = Vec::new();
    for layout in layouts {
        let doing = format!("{} servers, {} clients", layout.len(), layout.iter().sum::<usize>());
        for &job in jobs {
            progress.step(cells.len() as f64 / total, &doing);
            cells.push(servers::cell(run, layout, job)?);
        }
    }
    Ok(cells)
}

/// Up to one client less than there are CPUs, and one crowd of two participants for each CPU.
fn usual_clients(cpus: usize) -> Vec<usize> {
    let mut clients = if cpus > 1 { doubled_up_to(cpus - 1) } else { Vec::new() };
    clients.push(2 * cpus - 1);
    clients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::gate::Verdict;

    fn quick() -> MessageOptions {
        let options = Options { quick: true, seed: Some(5), ..Options::default() };
        MessageOptions { options, block: Some(Duration::from_millis(1)), ..MessageOptions::default() }
    }

    #[test]
    fn every_contender_is_told_in_every_situation() {
        let options = MessageOptions {
            bytes: vec![56],
            clients: vec![1, 3],
            work: vec![Duration::ZERO, Duration::from_nanos(100)],
            ..quick()
        };
        let report = messages(&this_machine(), &options, &mut ()).expect("it runs");
        let names = |is_asked: fn(&contender::Contender) -> bool| -> Vec<&str> {
            contenders().iter().filter(|contender| is_asked(contender)).map(|contender| contender.name).collect()
        };
        for cell in &report.pairs {
            let found: Vec<&str> = cell.rows.iter().map(|row| row.contender).collect();
            assert_eq!(found, names(|contender| contender.is_pair));
            for row in &cell.rows {
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.messages > 0 && row.mops > Some(0.0), "{row:?}");
                assert!(row.lines.is_some() == cell.line_ns.is_some() && row.summary.is_some(), "{row:?}");
            }
        }
        assert_eq!(report.servers.len(), 3 * 2 * 2 * 2, "layouts, trips, ways to receive, work");
        for cell in &report.servers {
            let found: Vec<&str> = cell.rows.iter().map(|row| row.contender).collect();
            assert_eq!(found, names(|contender| contender.serve.is_some()));
            for row in &cell.rows {
                let refuses = cell.receive == Receive::Subset && row.contender.ends_with("-channel");
                assert_eq!(row.skipped.is_some(), refuses, "{row:?}");
                assert_eq!(row.messages > 0 && row.mops > Some(0.0) && row.client_ns > Some(0.0), !refuses, "{row:?}");
                assert!(row.jain.is_none_or(|jain| jain <= 1.0 + 1e-9), "{row:?}");
            }
        }
        let is_judged = report.pairs.iter().any(|cell| !cell.oversubscribed);
        assert!(report.gates.iter().all(|gate| (gate.verdict != Verdict::NotJudged) == is_judged), "{report:?}");
    }

    #[test]
    fn clients_double_up_to_the_last_cpu_and_then_share_cpus() {
        assert_eq!([1, 2, 4, 9].map(usual_clients), [vec![1], vec![1, 3], vec![1, 2, 3, 7], vec![1, 2, 4, 8, 17]]);
    }

    #[test]
    #[should_panic(expected = "there is a pair, and a client")]
    fn a_server_without_clients_is_refused() {
        let _refused = messages(&this_machine(), &MessageOptions { clients: vec![2, 0], ..quick() }, &mut ());
    }

    #[test]
    #[should_panic(expected = "1 to 4096 bytes")]
    fn a_message_of_nothing_is_refused() {
        let _refused = messages(&this_machine(), &MessageOptions { bytes: vec![0], ..quick() }, &mut ());
    }

    #[test]
    fn the_user_stops_it_and_an_unknown_contender_is_named() {
        let run = |options: Options| {
            let options = MessageOptions { options, ..quick() };
            messages(&this_machine(), &options, &mut ()).expect_err("no report")
        };
        let unknown = run(Options { contenders: vec!["zimp".to_owned()], ..Options::default() }).to_string();
        assert!(unknown.starts_with("no contender is called 'zimp': there are ump, one-line, rtrb, "), "{unknown}");
        let stopped = Options::default();
        stopped.cancel.cancel();
        assert_eq!(run(stopped), BenchError::Cancelled);
    }
}
