//! `corecast bench deaths`: how long a process waits for a peer that was killed, and the process that is killed.

use std::path::PathBuf;

use corecast_bench::{DeathOptions, DeathReport, DeathRow, deaths, victim};

use crate::columns::Format::Digits;
use crate::columns::{self, Column, count, figure};
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{gate_text, own_program};

use super::Shared;
use crate::tell::tell;

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
        tell(output, &report, describe)
    }
}

impl Victim {
    pub(super) fn run(&self) -> Result<(), Failure> {
        victim(&self.channel, &self.end, &self.dir).map_err(Failure::of_member)
    }
}

const ROWS: &[Column<DeathRow>] = &[
    Column::words("channel", "channel", |row| row.channel.into()),
    Column::words("killed", "killed", |row| row.killed.into()),
    Column::words("told", "the other is", |row| row.told.into()),
    Column::figure("deaths", "deaths", "", |row| count(row.deaths), Digits(0)),
    Column::figure("median_ms", "median", "ms", |row| figure(row.median_ms), Digits(2)),
    Column::figure("p99_ms", "p99", "ms", |row| figure(row.p99_ms), Digits(2)),
    Column::figure("max_ms", "longest", "ms", |row| figure(row.max_ms), Digits(2)),
    Column::figure("left", "left", "", |row| count(row.left), Digits(0)),
];

fn describe(DeathReport { rows, gates, wait, .. }: &DeathReport) -> String {
    format!(
        "from kill -9 until the other end's call returns, waiting {wait}\n{}\n{}",
        columns::plain(ROWS, rows),
        gate_text::describe(gates)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = DeathRow {
            channel: "ump",
            killed: "sender",
            told: "disconnected",
            deaths: 20,
            median_ms: 1.5,
            p99_ms: 2.5,
            max_ms: 3.5,
            left: 0,
        };
        agree_with_json(ROWS, &row, "bench deaths", "rows[]");
    }
}
