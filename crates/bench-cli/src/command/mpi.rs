//! `corecast bench mpi`: MPI libraries with and without corecast's preload object.

use corecast_bench::{MpiReport, MpiRow, mpi};
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{bytes_arg, gate_text, own_program, printable};
use corecast_race::{Op, Options, Place};

use super::beside::Beside;
use super::race::{MEMBER, RaceArgs};
use crate::columns::Format::{Cost, Digits, Ratio};
use crate::columns::{self, Column, Value, count};
use crate::published_text;
use crate::tell::tell;

/// Options of `bench mpi`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    race: RaceArgs,
    /// The numbers of ranks [default: 2].
    #[arg(long, visible_alias = "n", value_name = "LIST", value_delimiter = ',')]
    ranks: Vec<usize>,
    /// The numbers of bytes that operations carry, such as 8,4Ki [default: 8 bytes to 64 KiB].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes_arg::parse)]
    size: Vec<usize>,
    /// The operations [default: barrier,broadcast,reduce,allreduce].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    op: Vec<Op>,
    #[command(flatten)]
    beside: Beside,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.race.prepare(output)?;
        let place = Place::Processes { program: own_program::path()?, arguments: MEMBER.map(str::to_owned).to_vec() };
        let (participants, sizes, ops) = (self.ranks.clone(), self.size.clone(), self.op.clone());
        let options = Options { participants, sizes, ops, place, busy: self.beside.busy, ..options };
        let _load = Beside::start(&model, &options)?;
        let report = mpi(&model.machine, &options, &mut Meter::start(output))?;
        tell(output, &report, describe)
    }
}

const ROWS: &[Column<MpiRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::words("op", "operation", |row| row.op.name().into()),
    Column::figure("ranks", "ranks", "", |row| count(row.ranks), Digits(0)),
    Column::figure("bytes", "bytes", "", |row| count(row.bytes), Digits(0)),
    Column::figure("without_ns", "without", "ns", |row| Value::Figure(row.without_ns), Cost),
    Column::figure("with_ns", "with", "ns", |row| Value::Figure(row.with_ns), Cost),
    Column::figure("speedup", "x", "", |row| Value::Figure(row.speedup), Ratio(2)),
    Column::figure("corecast_ns", "corecast", "ns", |row: &MpiRow| Value::Figure(row.corecast_ns), Cost).optional(),
    Column::words("skipped", "", |row: &MpiRow| row.skipped.as_deref().unwrap_or_default().into()).optional(),
];

fn describe(MpiReport { machine, warnings, rows, published, gates, .. }: &MpiReport) -> String {
    let machine = printable::line(machine);
    let warnings: String = warnings.iter().map(|warning| format!("{warning}\n")).collect();
    format!(
        "MPI without and with libcorecast_mpi.so on {machine}\n{warnings}{}\n{}\n{}",
        columns::plain(ROWS, rows),
        published_text::describe(published),
        gate_text::describe(gates)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;
    use corecast_race::Timing;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = MpiRow {
            library: "openmpi".to_owned(),
            op: Op::Reduce,
            bytes: 8,
            ranks: 2,
            oversubscribed: false,
            timing: Timing::Windows,
            without_ns: Some(200.0),
            with_ns: Some(100.0),
            corecast_ns: Some(90.0),
            speedup: Some(2.0),
            skipped: Some("not here".to_owned()),
        };
        agree_with_json(ROWS, &row, "bench mpi", "rows[]");
    }
}
