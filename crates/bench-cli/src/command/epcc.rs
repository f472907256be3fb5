//! `corecast bench epcc`: OpenMP constructs with the preload object, and without it.

use std::path::PathBuf;

use corecast_bench::{EPCC_PRESET, EpccOptions, EpccReport, EpccRow, epcc};

use super::Shared;
use super::beside::Beside;
use crate::columns::Format::Digits;
use crate::columns::{self, Column, count, figure};
use crate::published_text;
use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::shim::family::Object;
use corecast_cli::shim::{self, MissingObject};
use corecast_cli::{gate_text, printable};
use corecast_race::Options;

/// Options of `bench epcc`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The threads of a team [default: 2, 4, 8 and the number of CPUs].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Repeat an experiment that was published: a team of 20 threads, or of as many as there are CPUs.
    #[arg(long, value_name = "EXPERIMENT", value_parser = [EPCC_PRESET])]
    preset: Option<String>,
    /// Fewer launches, and shorter ones.
    #[arg(long)]
    quick: bool,
    /// Measure EPCC's own syncbench, whose sources are in this folder.
    #[arg(long, value_name = "FOLDER")]
    epcc_dir: Option<PathBuf>,
    /// The seed of the order of launches [default: drawn].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    beside: Beside,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = Shared::of_machine(&self.machine).prepare(output)?;
        let options = Options { quick: self.quick, seed: self.seed, busy: self.beside.busy, ..options };
        let _load = Beside::start(&model, &options)?;
        let object = shim::find(Object::Omp).map_err(not_here)?;
        let (threads, sources) = (self.threads.clone(), self.epcc_dir.clone());
        let settings = EpccOptions { object, threads, preset: self.preset.is_some(), sources };
        let report = epcc(&model.machine, &settings, &options, &mut Meter::start(output))?;
        tell(output, &report, describe)
    }
}

fn not_here(error: MissingObject) -> Failure {
    Failure::input(error).with_help("CORECAST_SHIM_DIR names the folder of the preload objects")
}

const ROWS: &[Column<EpccRow>] = &[
    Column::words("construct", "construct", |row| row.construct.as_str().into()),
    Column::figure("threads", "threads", "", |row| count(row.threads), Digits(0)),
    Column::figure("alone_us", "without, us", "", |row| figure(row.alone_us), Digits(3)),
    Column::figure("shim_us", "with the object, us", "", |row| figure(row.shim_us), Digits(3)),
    Column::figure("ratio", "without / with", "", |row| figure(row.ratio), Digits(2)),
];

fn describe(report: &EpccReport) -> String {
    let EpccReport { machine, compiler, launches, outer_repetitions, rows, published, gates, .. } = report;
    let machine = printable::line(machine);
    let rows = columns::plain(ROWS, rows);
    let published = published_text::describe(published);
    format!(
        "overheads of OpenMP constructs of {compiler}, medians of {launches} launches of {outer_repetitions} repetitions, on \
         {machine}\n{rows}\n{published}\n{}",
        gate_text::describe(gates)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let construct = "BARRIER".to_owned();
        let row = EpccRow {
            construct,
            threads: 2,
            oversubscribed: false,
            alone_us: 0.25,
            shim_us: 0.125,
            ratio: Some(2.0),
            launches: 5,
        };
        agree_with_json(ROWS, &row, "bench epcc", "rows[]");
    }
}
