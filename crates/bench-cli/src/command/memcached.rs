//! `corecast bench memcached`: memcached with corecast's locks preloaded under it, and without.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::{
    MEMCACHED_PRESET, MemcachedCell, MemcachedGenerator, MemcachedLeftOut, MemcachedMix, MemcachedOptions,
    MemcachedReport, MemcachedRow, memcached,
};
use corecast_race::Options;

use super::Shared;
use super::beside::Beside;
use crate::columns::Format::{Micros, Ratio, Thousands};
use crate::columns::{self, Column, figure};
use crate::published_text;
use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::gate_text;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::shim;
use corecast_cli::shim::family::Object;
use corecast_cli::table::many;

/// More threads than memcached itself finds sensible.
const MOST_THREADS: u64 = 64;
/// The most requests of a batch.
const MOST_PIPELINE: u64 = 1000;

/// Options of `bench memcached`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The numbers of the server's threads [default: 1, 2, 4, .. up to twice its CPUs].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::count(MOST_THREADS))]
    threads: Vec<usize>,
    /// Repeat an experiment that was published: gets and sets, a CPU for each of the server's threads, three locks.
    #[arg(long, value_name = "EXPERIMENT", value_parser = [MEMCACHED_PRESET])]
    preset: Option<String>,
    /// Requests: gets, sets, or 90 gets and 10 sets, or half and half, by Zipf's law [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = mix_parser())]
    mix: Vec<MemcachedMix>,
    /// Race these only: none, pthread, and the names of locks [default: all, or six with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Ask by these load generators of others as well, or by none [default: those that are installed].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = generator_parser())]
    generators: Option<Vec<Asked>>,
    /// Requests that a connection sends before it reads the answers, in closed loops [default: 1].
    #[arg(long, value_name = "N", value_parser = super::count(MOST_PIPELINE))]
    pipeline: Option<usize>,
    /// Blocks of each contender in each situation [default: 10, or 3 with --quick].
    #[arg(long, value_name = "N", value_parser = super::count(1000))]
    rounds: Option<usize>,
    /// How long a block is, in milliseconds [default: 2000, or 300 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    block: Option<u64>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer contenders, fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    beside: Beside,
}

/// A generator, or the word for none.
type Asked = Option<MemcachedGenerator>;

fn generator_parser() -> impl TypedValueParser<Value = Asked> {
    let all = MemcachedGenerator::ALL;
    let of_name = move |name: String| all.into_iter().find(|generator| generator.name() == name);
    PossibleValuesParser::new(["none"].into_iter().chain(all.map(MemcachedGenerator::name))).map(of_name)
}

fn mix_parser() -> impl TypedValueParser<Value = MemcachedMix> {
    let of_name =
        |name: String| MemcachedMix::ALL.into_iter().find(|mix| mix.name() == name).expect("a possible value");
    PossibleValuesParser::new(MemcachedMix::ALL.map(MemcachedMix::name)).map(of_name)
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = Shared::of_machine(&self.machine).prepare(output)?;
        let Self { quick, seed, .. } = *self;
        let options = Options { quick, seed, busy: self.beside.busy, contenders: self.contenders.clone(), ..options };
        let _load = Beside::start(&model, &options)?;
        let wanted = MemcachedOptions {
            options,
            object: shim::find(Object::Pthread).map_err(|missing| missing.to_string()),
            preset: self.preset.is_some(),
            threads: self.threads.clone(),
            mixes: self.mix.clone(),
            generators: self.generators.as_ref().map(|asked| asked.iter().copied().flatten().collect()),
            pipeline: self.pipeline,
            rounds: self.rounds,
            block: self.block.map(Duration::from_millis),
        };
        let report = memcached(&model.machine, &wanted, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        let mut failures = OwnFailures::default();
        let cells = report.cells.iter().chain(&report.generated);
        cells.for_each(|cell| failures.add(&situation(cell), &cell.rows));
        failures.check()
    }
}

/// The columns of a table: memcached with each contender.
const ROWS: &[Column<MemcachedRow>] = &[
    Column::words("contender", "lock", |row| row.contender.clone().into()),
    Column::figure("rps", "requests/s", "", |row| figure(row.rps), Thousands),
    Column::figure("ratio", "of none", "", |row| figure(row.ratio), Ratio(3)),
    Column::figure("cpu_ns", "CPU", "us", |row| figure(row.cpu_ns), Micros),
    Column::figure("p50_ns", "p50", "us", |row| figure(row.p50_ns), Micros),
    Column::figure("p99_ns", "p99", "us", |row| figure(row.p99_ns), Micros),
    Column::figure("p999_ns", "p99.9", "us", |row| figure(row.p999_ns), Micros),
];

fn describe(report: &MemcachedReport) -> String {
    let places = if report.server_cpus.is_empty() { "all CPUs shared" } else { "CPUs of their own each" };
    let MemcachedReport { keys, key_bytes, value_bytes, connections, pipeline, rounds, block_ms, .. } = report;
    let cells: Vec<String> = report.cells.iter().chain(&report.generated).map(describe_cell).collect();
    let left_out = |one: &MemcachedLeftOut| format!("{}: {}\n", one.generator, one.reason);
    let left_out: String = report.left_out.iter().map(left_out).collect();
    format!(
        "{}, {keys} keys of {key_bytes} bytes, values of {value_bytes}; {connections} connections over a Unix socket, \
         {} at once, server and clients: {places}; {rounds} rounds of {block_ms} ms\n\n{}\n{left_out}{}\n{}",
        report.version.as_deref().unwrap_or("no memcached"),
        many(*pipeline, "request"),
        cells.join("\n"),
        published_text::describe(&report.published),
        gate_text::describe(&report.gates)
    )
}

fn describe_cell(cell: &MemcachedCell) -> String {
    let open = cell.open_rps.map_or_else(String::new, |rate| format!("; open loops: {rate:.0} requests/s"));
    format!("{}{open}\n{}", situation(cell), columns::contenders(ROWS, &cell.rows))
}

fn situation(cell: &MemcachedCell) -> String {
    let crowded = if cell.oversubscribed { ", more than CPUs" } else { "" };
    let client = if cell.client == "corecast" { String::new() } else { format!(" by {}", cell.client) };
    format!("{}{client}, {} keys, {}{crowded}", cell.mix, cell.keys, many(cell.threads, "server thread"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = MemcachedRow {
            contender: "auto".to_owned(),
            ours: true,
            rps: Some(123_456.0),
            ratio: Some(1.01),
            cpu_ns: Some(7000.0),
            p50_ns: Some(20_000.0),
            p99_ns: None,
            ..MemcachedRow::default()
        };
        agree_with_json(ROWS, &row, "bench memcached", "cells[].rows[]");
        let cell = MemcachedCell {
            client: "corecast",
            threads: 2,
            mix: "set",
            keys: "uniform",
            rows: vec![row],
            ..MemcachedCell::default()
        };
        let text = describe_cell(&cell);
        assert!(text.contains("2 server threads") && text.contains("123 456") && text.contains("7.00"), "{text}");
        let of_other = MemcachedCell { client: "memslap", mix: "set", keys: "its own", ..MemcachedCell::default() };
        assert!(situation(&of_other).starts_with("set by memslap, its own keys"));
    }
}
