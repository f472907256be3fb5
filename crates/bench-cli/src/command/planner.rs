//! `corecast bench planner`: every shape, planner and effort on subsets of many machine models.

use std::path::{Path, PathBuf};

use corecast::Machine;
use corecast::machine::{measure, model_file, write_atomically};
use corecast::plan::Operation;
use corecast_bench::study::{self, SIZES, StudyOptions, summary, table};

use corecast_cli::failure::{Failure, NotWritten};
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::planner_args::operation_parser;
use corecast_cli::target_folder;

/// Options of `bench planner`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder with the models, corecast-machine/1 files that end in .json.
    #[arg(long, value_name = "DIR")]
    machines: PathBuf,
    /// The operations [default: all].
    #[arg(long, value_name = "OP", value_delimiter = ',', value_parser = operation_parser())]
    op: Vec<Operation>,
    /// The numbers of members; machines with fewer CPUs are left out [default: 4 to 256 in 13 steps].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    sizes: Vec<u16>,
    /// Rounds of the tight lower bound, a fifth of them beyond 128 members; 0 leaves it out.
    #[arg(long, value_name = "N", default_value_t = 1500)]
    rounds: u32,
    /// Let every plan start from the lowest CPU of its case; bounds are tighter then, and take less time.
    #[arg(long)]
    fixed_root: bool,
    /// The seed of every search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the tables to this file instead of standard output, as Markdown.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a line for each case to this file, as comma-separated values.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.out.iter().try_for_each(|path| target_folder::check("the study", path))?;
        self.table.iter().try_for_each(|path| target_folder::check("the table", path))?;
        let machines = machines(&self.machines)?;
        let operations = if self.op.is_empty() { Operation::ALL.to_vec() } else { self.op.clone() };
        let cancel = Interrupt::watch()?.cancel();
        let sizes = if self.sizes.is_empty() { SIZES.to_vec() } else { self.sizes.iter().map(|&n| n.into()).collect() };
        let options = StudyOptions {
            operations,
            sizes,
            rounds: self.rounds,
            is_root_fixed: self.fixed_root,
            seed: self.seed,
            cancel,
        };
        let cases = study::study(&machines, &options, &mut Meter::start(output))?;
        if let Some(path) = &self.table {
            write(path, "the table", &table::csv(&cases))?;
        }
        let text = summary::markdown(&cases, &self.origin());
        match &self.out {
            Some(path) => Ok(write(path, "the study", &text)?),
            None if output.is_json() => output.json(&cases),
            None => output.text(&text),
        }
    }

    fn origin(&self) -> summary::Origin {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let date = measure::date::now();
        let mut command = format!("corecast bench planner --machines {}", self.machines.display());
        if !self.op.is_empty() {
            let names: Vec<&str> = self.op.iter().map(|op| op.name()).collect();
            command += &format!(" --op {}", names.join(","));
        }
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(u16::to_string).collect();
            command += &format!(" --sizes {}", sizes.join(","));
        }
        if self.fixed_root {
            command += " --fixed-root";
        }
        command += &format!(" --rounds {} --seed {}", self.rounds, self.seed);
        summary::Origin {
            place: format!("a machine with {cpus} CPUs"),
            date: date.split('T').next().unwrap_or(&date).to_owned(),
            version: format!("version {}", env!("CARGO_PKG_VERSION")),
            is_root_fixed: self.fixed_root,
            command,
        }
    }
}

/// The models in a folder, by file name.
fn machines(folder: &Path) -> Result<Vec<Machine>, Failure> {
    let unreadable = |error| Failure::input(format!("--machines {}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut paths: Vec<PathBuf> =
        paths.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    if paths.is_empty() {
        let expected = "expected a folder with corecast-machine/1 files that end in .json";
        return Err(Failure::input(format!("--machines {}: {expected}", folder.display())));
    }
    Ok(paths.iter().map(|path| model_file::read(path)).collect::<Result<_, _>>()?)
}

fn write(path: &Path, what: &'static str, text: &str) -> Result<(), NotWritten> {
    write_atomically(path, text.as_bytes()).map_err(|error| NotWritten { what, path: path.to_owned(), error })
}
