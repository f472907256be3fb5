//! `corecast bench messages`: pairs at each distance, and servers with their clients.

use std::time::Duration;

use corecast_bench::{MAX_PAIR_BYTES, MessageOptions, MessageReport, PairCell, Receive, ServerCell, Trip, messages};
use corecast_race::Options;

use crate::columns;
use crate::columns::messages::{PAIR, SERVER};
use crate::html_arg::HtmlArg;
use crate::page::render_messages;
use crate::published_text;
use corecast_cli::bytes_arg;
use corecast_cli::failure::Failure;
use corecast_cli::gate_text;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::table::many;

use super::{Shared, count};

/// The most pairs, and the most clients: each participant has a stack, and a channel or two.
const MOST_PAIRS: u64 = 128;
const MOST_CLIENTS: u64 = 255;
/// The longest work of a server for a message, in nanoseconds.
const MOST_WORK: u64 = 1_000_000;

/// Options of `bench messages`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The numbers of pairs at once [default: 1, 2, 4, .. up to all that have CPUs of their own at a distance].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_PAIRS))]
    pairs: Vec<usize>,
    /// The lengths in bytes of what pairs send [default: 56, which makes one line with the channel's own word, and 64].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes_arg::within(1..=MAX_PAIR_BYTES))]
    bytes: Vec<usize>,
    /// The numbers of clients of one server [default: 1, 2, 4, .. up to one less than CPUs, and one less than twice these].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_CLIENTS))]
    clients: Vec<usize>,
    /// Also race one server for every N participants: one participant for each CPU, or two servers at least [default: 3].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = stride())]
    every: Vec<usize>,
    /// For how long a server works for each message, in nanoseconds [default: 0, 100 and 1000].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(..=MOST_WORK))]
    work: Vec<u64>,
    /// How long each of the blocks is to last, in milliseconds [default: 5, or 1 with --quick; twice that
    /// where participants share CPUs].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    block: Option<u64>,
    /// Race these only: ump, one-line, rtrb, crossbeam-channel, crossbeam-select, std-sync-channel [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    html: HtmlArg,
}

/// A server and a client at least.
fn stride() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u64).range(2..=MOST_CLIENTS).map(|stride| stride as usize)
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        let (model, options) = self.shared.prepare(output)?;
        let Self { quick, seed, .. } = *self;
        let options = MessageOptions {
            options: Options { quick, seed, contenders: self.contenders.clone(), ..options },
            pairs: self.pairs.clone(),
            bytes: self.bytes.clone(),
            clients: self.clients.clone(),
            strides: self.every.clone(),
            work: self.work.iter().copied().map(Duration::from_nanos).collect(),
            block: self.block.map(Duration::from_millis),
        };
        let report = messages(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_messages)?;
        own_failures(&report).check()
    }
}

fn describe(report: &MessageReport) -> String {
    let pairs: Vec<String> = report.pairs.iter().map(describe_pair).collect();
    let servers: Vec<String> = report.servers.iter().map(describe_server).collect();
    format!(
        "{} blocks of some {} ms; every message is checked where it arrives\n\n{}\n{}\n{}\n{}{}",
        report.rounds,
        report.block_ms,
        pairs.join("\n"),
        servers.join("\n"),
        published_text::describe(&report.published),
        gate_text::describe(&report.gates),
        own_failures(report).text()
    )
}

fn own_failures(report: &MessageReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.pairs.iter().for_each(|cell| own.add(&pair_title(cell), &cell.rows));
    report.servers.iter().for_each(|cell| own.add(&server_title(cell), &cell.rows));
    own
}

fn trip(trip: Trip) -> &'static str {
    match trip {
        Trip::OneWay => "one way",
        Trip::RoundTrip => "there and back",
    }
}

/// The words about a situation that pairs and servers share.
fn place(oversubscribed: bool, line_ns: Option<f64>, placement_changes: u32) -> String {
    let crowded = if oversubscribed { ", more participants than CPUs" } else { "" };
    let line = line_ns.map_or(String::new(), |ns| format!(", a bare line {ns:.0} ns"));
    let changes = if placement_changes > 0 { ", which changed meanwhile" } else { "" };
    format!("{crowded}{line}{changes}")
}

fn describe_pair(cell: &PairCell) -> String {
    let place = place(cell.oversubscribed, cell.line_ns, cell.placement_changes);
    format!("{}{place}\n{}", pair_title(cell), columns::contenders(PAIR, &cell.rows))
}

fn pair_title(cell: &PairCell) -> String {
    let (distance, pairs) = (cell.distance.unwrap_or("the same CPU"), many(cell.pairs, "pair"));
    format!("{distance}, {pairs}, {} bytes {}", cell.bytes, trip(cell.trip))
}

fn describe_server(cell: &ServerCell) -> String {
    let place = place(cell.oversubscribed, cell.line_ns, cell.placement_changes);
    format!("{}{place}\n{}", server_title(cell), columns::contenders(SERVER, &cell.rows))
}

fn server_title(cell: &ServerCell) -> String {
    let from = match cell.receive {
        Receive::Any => "from any",
        Receive::Subset => "from halves in turns",
    };
    let work = if cell.work_ns == 0 { String::new() } else { format!(", {} ns of work", cell.work_ns) };
    let (servers, clients) = (many(cell.servers, "server"), many(cell.clients, "client"));
    format!("{servers}, {clients}, {from}, {}{work}", trip(cell.trip))
}
