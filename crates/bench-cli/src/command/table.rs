//! `corecast bench table`: the hash table experiment of SSYNC, over every lock, over messages, and with today's maps.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use corecast_bench::{MAX_BATCH, Published, TableCell, TableOptions, TableReport, table, table_member};
use corecast_race::{Options, Place};

use crate::columns;
use crate::columns::hash_tables::{CELL, PUBLISHED, SITUATION};
use crate::html_arg::HtmlArg;
use crate::page::render_table;
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::table::many;
use corecast_cli::{gate_text, own_program};

use super::{Shared, count};

/// The hidden subcommand by which a process is this program again.
const MEMBER: [&str; 1] = ["table-member"];
/// The most threads: every client has two channels to every server.
const MOST_THREADS: u64 = 256;
/// The most buckets: each has lines of its own.
const MOST_BUCKETS: u64 = 1 << 16;
/// The most elements of a bucket: each is looked at.
const MOST_ELEMENTS: u64 = 1 << 10;

/// Options of `bench table`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The numbers of threads [default: 1, 2, 4, .. and that of the CPUs and 4 times that, or 1, 2 and that of the CPUs with
    /// --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_THREADS))]
    threads: Vec<usize>,
    /// The numbers of buckets.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "12,512", value_parser = count(MOST_BUCKETS))]
    buckets: Vec<usize>,
    /// The numbers of elements in a bucket, on average.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "12,48", value_parser = count(MOST_ELEMENTS))]
    elements: Vec<usize>,
    /// One participant in K is a server, for the contenders that have servers; each further K races them once more.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "3", value_parser = share())]
    every: Vec<usize>,
    /// How many operations a client of messages-batched has under way.
    #[arg(long, value_name = "OPS", default_value_t = MAX_BATCH, value_parser = count(MAX_BATCH as u64))]
    batch: usize,
    /// Race locks over nodes that do not begin on a cache line, too.
    #[arg(long)]
    misaligned: bool,
    /// Race the paper's program, too: PROGRAM is called with the name of a lock (tas, ticket, mcs, clh), the numbers of threads
    /// and of buckets, the mean number of elements of one and the time of a block in milliseconds, runs it so, and prints
    /// millions of tries in a second last.
    #[arg(long, value_name = "PROGRAM")]
    original: Option<PathBuf>,
    /// Draw keys by Zipf's law with this exponent [default: uniformly].
    #[arg(long, value_name = "EXPONENT", value_parser = exponent)]
    zipf: Option<f64>,
    /// Let threads run where the system puts them.
    #[arg(long)]
    unpinned: bool,
    /// Write the 64 bytes of each put.
    #[arg(long)]
    write_payload: bool,
    /// End critical sections without the full fence of the paper's, those of every contender.
    #[arg(long)]
    no_fence: bool,
    /// How long each of the blocks lasts, in milliseconds [default: 1000, or 5 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    block: Option<u64>,
    /// Race these only: names of locks, of other tables, dashmap, papaya, scc, std, std-sharded [default: all, or the paper's
    /// and a few with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks: seconds in the place of minutes for each number of threads.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    html: HtmlArg,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        let (model, options) = self.shared.prepare(output)?;
        let Self { quick, seed, .. } = *self;
        let program = own_program::path()?;
        let place = Place::Processes { program, arguments: MEMBER.map(str::to_owned).to_vec() };
        let options = Options { quick, seed, contenders: self.contenders.clone(), place, ..options };
        let (threads, buckets, means) = (self.threads.clone(), self.buckets.clone(), self.elements.clone());
        let block = self.block.map(Duration::from_millis);
        let (every, batch) = (self.every.clone(), Some(self.batch));
        let Self { zipf, unpinned, misaligned, write_payload: writes_payload, no_fence: without_fence, .. } = *self;
        let options = TableOptions {
            options,
            threads,
            buckets,
            means,
            every,
            batch,
            misaligned,
            original: self.original.clone(),
            zipf,
            unpinned,
            writes_payload,
            without_fence,
            block,
        };
        let report = table(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_table)?;
        own_failures(&report).check()
    }
}

/// The work of a process that is a server or a client of a table.
pub(super) fn member() -> Result<(), Failure> {
    table_member().map_err(Failure::of_member)
}

/// One participant in this number may be a server.
fn share() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(2..=MOST_THREADS).map(|every| every as usize)
}

/// A number above 0, up to which nothing overflows.
fn exponent(text: &str) -> Result<f64, String> {
    let is_exponent = |exponent: &f64| *exponent > 0.0 && *exponent <= 8.0;
    text.parse().ok().filter(is_exponent).ok_or_else(|| "expected a number above 0, up to 8".to_owned())
}

fn describe(report: &TableReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "{} blocks of {} ms; a client counts every try{}\n\n{}\n{}{}{}",
        report.rounds,
        report.block_ms,
        departures(report),
        cells.join("\n"),
        describe_published(report),
        gate_text::describe(&report.gates),
        own_failures(report).text()
    )
}

fn own_failures(report: &TableReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.cells.iter().for_each(|cell| own.add(&title(cell), &cell.rows));
    own
}

/// The ways in which this run differs from the paper's experiment.
fn departures(report: &TableReport) -> String {
    let zipf = report.zipf.map(|exponent| format!("keys by Zipf's law, {exponent}"));
    let unpinned = report.unpinned.then(|| "threads not bound".to_owned());
    let written = report.writes_payload.then(|| "puts write their bytes".to_owned());
    let unfenced = (!report.fence).then(|| "no fence".to_owned());
    let every: Vec<String> = report.every.iter().map(usize::to_string).collect();
    let every = (report.every != [3]).then(|| format!("one of {} a server", every.join(", ")));
    [zipf, unpinned, written, unfenced, every].into_iter().flatten().map(|words| format!("; {words}")).collect()
}

fn describe_cell(cell: &TableCell) -> String {
    format!("{}; hits in M/s, times in ns\n{}", title(cell), columns::contenders(CELL, &cell.rows))
}

fn title(cell: &TableCell) -> String {
    let threads = many(cell.threads, "thread");
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    format!("{} buckets of {} on average, {threads}{shared}", cell.buckets, cell.mean)
}

/// The published figures of the tables that were run.
fn describe_published(report: &TableReport) -> String {
    let is_of =
        |published: &Published, cell: &TableCell| (published.buckets, published.mean) == (cell.buckets, cell.mean);
    let is_run = |published: &&Published| report.cells.iter().any(|cell| is_of(published, cell));
    let published: Vec<&Published> = report.published.iter().filter(is_run).collect();
    if published.is_empty() {
        return String::new();
    }
    let head = "published of other machines, of 2010 to 2012 (David, Guerraoui, Trigonakis, SOSP 2013, files in \
                LPD-EPFL/CLHT): M/s and name of the best lock, and M/s of messages with 36 threads";
    // Two tables, as one of all columns would be wider than a screen.
    let (situation, figures) = PUBLISHED.split_at(SITUATION);
    let (few_threads, many_threads) = figures.split_at(2);
    let tables = [few_threads, many_threads]
        .map(|figures| columns::plain(&[situation, figures].concat(), published.iter().copied()));
    format!("{head}\n{}\n", tables.join("\n"))
}
