//! `corecast bench idle`: the CPU time that waiting costs.

use std::time::Duration;

use corecast_bench::{IdleReport, IdleRow, idle};
use corecast_race::Options;

use crate::columns::Format::Digits;
use crate::columns::{self, Column, figure};
use corecast_cli::failure::Failure;
use corecast_cli::gate_text;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;

use super::Shared;
use crate::tell::tell;

/// Options of `bench idle`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The number of members of a group, one of which is late [default: the number of CPUs].
    #[arg(long, value_name = "N")]
    members: Option<usize>,
    /// How late it is, and the message to a receiver [default: 1000, or 100 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    late: Option<u64>,
    /// Be late for a shorter time.
    #[arg(long)]
    quick: bool,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        let options = Options { participants: self.members.into_iter().collect(), ..options };
        let late = Duration::from_millis(self.late.unwrap_or(if self.quick { 100 } else { 1000 }));
        let report = idle(&model.machine, &options, late, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        own_failures(&report).check()
    }
}

fn describe(report: &IdleReport) -> String {
    let IdleReport { participants, late_ms, wait, rows, channels, gates, .. } = report;
    format!(
        "{participants} members, one of them {late_ms} ms late, waiting {wait}: CPU time of the others\n{}\n\
         a receiver whose message is {late_ms} ms late: its CPU time\n{}\n{}{}",
        columns::contenders(BARRIER, rows),
        columns::contenders(CHANNEL, channels),
        gate_text::describe(gates),
        own_failures(report).text()
    )
}

const BARRIER: &[Column<IdleRow>] = &[Column::words("contender", "barrier", |row| row.contender.as_str().into()), CPU];
const CHANNEL: &[Column<IdleRow>] = &[Column::words("contender", "channel", |row| row.contender.as_str().into()), CPU];
const CPU: Column<IdleRow> =
    Column::figure("cpu_percent", "% of one CPU", "", |row| figure(row.cpu_percent), Digits(1));

fn own_failures(report: &IdleReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    own.add("a barrier with a late member", &report.rows);
    own.add("a channel with a late message", &report.channels);
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_tables_show_what_json_has() {
        let (contender, skipped) = ("ump".to_owned(), None);
        let row = IdleRow { contender, ours: true, cpu_percent: Some(1.5), skipped, failed: false };
        agree_with_json(BARRIER, &row, "bench idle", "rows[]");
        agree_with_json(CHANNEL, &row, "bench idle", "rows[]");
    }
}
