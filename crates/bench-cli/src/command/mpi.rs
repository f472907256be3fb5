//! `corecast bench mpi`: MPI libraries with and without corecast's preload object.

use std::path::PathBuf;

use corecast_bench::{MPI_PRESET, MpiForeign, MpiForeignRow, MpiForeignSkip, MpiOptions, MpiReport, MpiRow, mpi};
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::table::many;
use corecast_cli::{bytes_arg, gate_text, own_program, printable};
use corecast_race::{Op, Options, Place};

use super::beside::Beside;
use super::race::{MEMBER, RaceArgs};
use crate::columns::Format::{Cost, Digits, Ratio};
use crate::columns::{self, Column, Value, count, figure};
use crate::published_text;
use crate::tell::tell;

/// Options of `bench mpi`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    race: RaceArgs,
    /// The numbers of ranks [default: 2,4, or 2 with --quick].
    #[arg(long, visible_alias = "n", value_name = "LIST", value_delimiter = ',')]
    ranks: Vec<usize>,
    /// The numbers of bytes that operations carry, such as 8,4Ki [default: 8 bytes to 64 KiB].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes_arg::parse)]
    size: Vec<usize>,
    /// The operations [default: barrier,broadcast,reduce,allreduce].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    op: Vec<Op>,
    /// Repeat an experiment that was published: 20 ranks, or as many as there are CPUs, and operations of 8 bytes.
    #[arg(long, value_name = "EXPERIMENT", value_parser = [MPI_PRESET])]
    preset: Option<String>,
    /// Run OSU's benchmarks in Python as well, which are in this folder: `demo` of mpi4py's sources.
    #[arg(long, value_name = "FOLDER")]
    osu_dir: Option<PathBuf>,
    /// Run Intel's benchmarks as well: the program IMB-MPI1.
    #[arg(long, value_name = "PROGRAM")]
    imb: Option<PathBuf>,
    /// The launcher of OSU's and Intel's benchmarks [default: the mpirun beside IMB-MPI1, or that in PATH].
    #[arg(long, value_name = "PROGRAM")]
    mpirun: Option<PathBuf>,
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
        let foreign = MpiForeign { osu: self.osu_dir.clone(), imb: self.imb.clone(), launcher: self.mpirun.clone() };
        let wanted = MpiOptions { preset: self.preset.is_some(), foreign };
        let report = mpi(&model.machine, &options, &wanted, &mut Meter::start(output))?;
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

/// The benchmarks of others.
const FOREIGN: &[Column<MpiForeignRow>] = &[
    Column::words("program", "program", |row| row.program.as_str().into()),
    Column::words("op", "operation", |row| row.op.name().into()),
    Column::figure("ranks", "ranks", "", |row| count(row.ranks), Digits(0)),
    Column::figure("bytes", "bytes", "", |row| figure(row.bytes as f64), Digits(0)),
    Column::figure("without_us", "without", "us", |row| figure(row.without_us), Digits(2)),
    Column::figure("with_us", "with", "us", |row| figure(row.with_us), Digits(2)),
    Column::figure("speedup", "x", "", |row| figure(row.speedup), Ratio(2)),
    Column::figure("launches", "launches", "", |row: &MpiForeignRow| count(row.launches), Digits(0)).optional(),
];

fn describe(report: &MpiReport) -> String {
    let MpiReport { machine, warnings, rows, published, gates, .. } = report;
    let machine = printable::line(machine);
    let warnings: String = warnings.iter().map(|warning| format!("{warning}\n")).collect();
    format!(
        "MPI without and with libcorecast_mpi.so on {machine}\n{warnings}{}\n{}{}\n{}",
        columns::plain(ROWS, rows),
        describe_foreign(report),
        published_text::describe(published),
        gate_text::describe(gates)
    )
}

/// Nothing where none was asked for.
fn describe_foreign(MpiReport { foreign, foreign_left_out, .. }: &MpiReport) -> String {
    if foreign.is_empty() && foreign_left_out.is_empty() {
        return String::new();
    }
    let left_out = |one: &MpiForeignSkip| {
        format!("{}, {}: {}\n", printable::line(&one.program), many(one.ranks, "rank"), printable::line(&one.reason))
    };
    let left_out: String = foreign_left_out.iter().map(left_out).collect();
    format!("benchmarks of others, which are not judged\n{}{left_out}\n", columns::plain(FOREIGN, foreign))
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
        let row = MpiForeignRow {
            program: "IMB-MPI1".to_owned(),
            op: Op::Allreduce,
            bytes: 8,
            ranks: 2,
            oversubscribed: false,
            without_us: 0.7,
            with_us: 0.35,
            speedup: Some(2.0),
            launches: 11,
        };
        agree_with_json(FOREIGN, &row, "bench mpi", "foreign[]");
    }
}
