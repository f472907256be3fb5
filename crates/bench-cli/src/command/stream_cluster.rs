//! `corecast bench streamcluster`: clustering that is bound by barriers, with the barrier shim and without.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::{
    STREAM_CLUSTER_PRESET, StreamClusterCell, StreamClusterOptions, StreamClusterReport, StreamClusterRow,
    StreamClusterSize, stream_cluster,
};
use corecast_race::Options;

use super::Shared;
use super::beside::Beside;
use crate::columns::Format::{Digits, Ratio, Thousands};
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

/// The most threads that the kernel has room for.
const MOST_THREADS: u64 = 256;

/// Options of `bench streamcluster`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The numbers of threads [default: that of the CPUs, twice and four times that].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::count(MOST_THREADS))]
    threads: Vec<usize>,
    /// Repeat an experiment that was published: the native input, a CPU for each of 20 threads or fewer, four barriers.
    #[arg(long, value_name = "EXPERIMENT", value_parser = [STREAM_CLUSTER_PRESET])]
    preset: Option<String>,
    /// How much is clustered: PARSEC's inputs, or nothing but barriers [default: simlarge, or simsmall with --quick].
    #[arg(long, value_name = "SIZE", value_parser = size_parser())]
    size: Option<StreamClusterSize>,
    /// Race these only: pthread, shim, pass-through, condvar, mcs, parsec, parsec-shim [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Run PARSEC's own program too, which lies in this folder, or was built in this checkout.
    #[arg(long, value_name = "DIR")]
    parsec_dir: Option<PathBuf>,
    /// Runs of each contender [default: 11, or 5 with --quick].
    #[arg(long, value_name = "N", value_parser = super::count(1000))]
    rounds: Option<usize>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer runs of a small input.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    beside: Beside,
}

fn size_parser() -> impl TypedValueParser<Value = StreamClusterSize> {
    let all = StreamClusterSize::ALL;
    let of_name = move |name: String| all.into_iter().find(|size| size.name() == name).expect("a possible value");
    PossibleValuesParser::new(all.map(StreamClusterSize::name)).map(of_name)
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = Shared::of_machine(&self.machine).prepare(output)?;
        let Self { quick, seed, .. } = *self;
        let options = Options { quick, seed, busy: self.beside.busy, contenders: self.contenders.clone(), ..options };
        let _load = Beside::start(&model, &options)?;
        let preset = self.preset.is_some();
        let usual = match (preset, quick) {
            (true, _) => StreamClusterSize::Native,
            (false, true) => StreamClusterSize::Simsmall,
            (false, false) => StreamClusterSize::Simlarge,
        };
        let wanted = StreamClusterOptions {
            options,
            object: shim::find(Object::Pthread).map_err(|missing| missing.to_string()),
            preset,
            threads: self.threads.clone(),
            size: self.size.unwrap_or(usual),
            rounds: self.rounds,
            parsec: self.parsec_dir.clone(),
        };
        let report = stream_cluster(&model.machine, &wanted, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        let mut failures = OwnFailures::default();
        report.cells.iter().for_each(|cell| failures.add(&many(cell.threads, "thread"), &cell.rows));
        failures.check()
    }
}

/// The columns of a table: clustering with each contender.
const ROWS: &[Column<StreamClusterRow>] = &[
    Column::words("contender", "barrier", |row| row.contender.into()),
    Column::figure("seconds", "median", "s", |row| figure(row.seconds), Digits(3)),
    Column::figure("least_seconds", "least", "s", |row| figure(row.least_seconds), Digits(3)),
    Column::figure("most_seconds", "most", "s", |row| figure(row.most_seconds), Digits(3)),
    Column::figure("speed_up", "plain / this", "", |row| figure(row.speed_up), Ratio(2)),
    Column::figure("barriers", "barriers", "", |row| figure(row.barriers.map(|count| count as f64)), Thousands),
];

fn describe(report: &StreamClusterReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "streamcluster, {}; {} rounds\n\n{}\n{}\n{}",
        report.size,
        report.rounds,
        cells.join("\n"),
        published_text::describe(&report.published),
        gate_text::describe(&report.gates)
    )
}

fn describe_cell(cell: &StreamClusterCell) -> String {
    let crowded = if cell.oversubscribed { ", more than CPUs" } else { "" };
    let result = cell.rows.iter().find_map(|row| row.result.as_deref()).unwrap_or("none");
    let threads = many(cell.threads, "thread");
    format!("{threads}{crowded}; result: {result}\n{}", columns::contenders(ROWS, &cell.rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = StreamClusterRow {
            contender: "shim",
            ours: true,
            seconds: Some(0.25),
            least_seconds: Some(0.2),
            most_seconds: Some(0.3),
            speed_up: Some(1.5),
            barriers: Some(3329),
            ..StreamClusterRow::default()
        };
        agree_with_json(ROWS, &row, "bench streamcluster", "cells[].rows[]");
        let text = describe_cell(&StreamClusterCell { threads: 4, oversubscribed: true, rows: vec![row] });
        assert!(text.contains("4 threads, more than CPUs") && text.contains("3 329"), "{text}");
    }
}
