//! `corecast bench deaths`: how long a killed process is waited for, and the process that is killed.

use std::path::PathBuf;

use corecast_bench::{DeathOptions, DeathReport, deaths, victim};

use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{gate_text, own_program, table};

use super::Shared;

/// The hidden subcommand by which a process to be killed is this program again.
const VICTIM: [&str; 1] = ["victim"];

/// Options of `bench deaths`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// Processes killed at each end of each channel [default: 200, or 20 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    deaths: Option<u32>,
    /// Kill fewer.
    #[arg(long)]
    quick: bool,
}

/// The arguments of a process that will be killed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Victim {
    channel: String,
    end: String,
    dir: PathBuf,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        let program = own_program::path()?;
        let deaths_each = self.deaths.unwrap_or(if self.quick { 20 } else { 200 }) as usize;
        let wanted = DeathOptions { deaths: deaths_each, program, arguments: VICTIM.map(str::to_owned).to_vec() };
        let report = deaths(&model.machine, &options, &wanted, &mut Meter::start(output))?;
        if output.is_json() { output.json(&report) } else { output.text(&describe(&report)) }
    }
}

impl Victim {
    pub(super) fn run(&self) -> Result<(), Failure> {
        victim(&self.channel, &self.end, &self.dir).map_err(Failure::of_member)
    }
}

fn describe(DeathReport { rows, gates, wait, .. }: &DeathReport) -> String {
    let mut table = table::table(&[
        "channel",
        "killed",
        "the other is",
        ">deaths",
        ">median ms",
        ">p99 ms",
        ">longest ms",
        ">left",
    ]);
    for row in rows {
        let times = [row.median_ms, row.p99_ms, row.max_ms].map(|ms| format!("{ms:.2}"));
        let words = [row.channel, row.killed, row.told].map(str::to_owned);
        let cells = words.into_iter().chain([row.deaths.to_string()]).chain(times).chain([row.left.to_string()]);
        table.add_row(cells.collect::<Vec<_>>());
    }
    format!(
        "from kill -9 until the other end's call returns, waiting {wait}\n{}\n{}",
        table::text(&table),
        gate_text::describe(gates)
    )
}
