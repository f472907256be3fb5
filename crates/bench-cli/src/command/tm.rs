//! `corecast bench tm`: transactional memory by messages and in shared memory, beside locks and other memories.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast::tm::{MAX_PARTICIPANTS, Manager};
use corecast_bench::{TmCell, TmOptions, TmPreset, TmReport, TmWorkload, tm, tm_member};
use corecast_race::{Options, Place};

use crate::columns;
use crate::columns::memories::CELL;
use crate::html_arg::HtmlArg;
use crate::page::render_tm;
use crate::published_text;
use crate::tm_situation::{over_one_lock, title};
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::{gate_text, own_program};

use super::{Shared, count};

/// The hidden subcommand of its processes.
const MEMBER: [&str; 1] = ["tm-member"];

/// Options of `bench tm`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// Repeat an experiment that was published: its work, its numbers of participants, and blocks of 2 s.
    #[arg(long, value_name = "NAME", value_parser = preset_parser())]
    preset: Option<TmPreset>,
    /// The kinds of work [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = workload_parser())]
    workloads: Vec<TmWorkload>,
    /// The numbers of participants, servers among them [default: 1, 2, 4, .. and that of the CPUs, 6, and twice the CPUs; or 1, 2
    /// and that of the CPUs with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MAX_PARTICIPANTS as u64))]
    participants: Vec<usize>,
    /// One participant in D is a server; each further D races the memories with servers once more [default: 3, of fewer
    /// participants the last one; of the bank of transfers also 2 and all, unless --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = share())]
    every: Vec<usize>,
    /// The contention managers [default: all where one client only sums all accounts, else fair-cm].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = manager_parser())]
    managers: Vec<Manager>,
    /// Transactions of the bank, in 100, that sum two accounts; the others transfer [default: 0, 50, 90].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=100))]
    checks: Vec<u32>,
    /// The numbers of clients of the bank that only sum all accounts [default: 0, 1].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = readers())]
    readers: Vec<usize>,
    /// Transactions of the bank's other clients, in 100, that sum all accounts [default: 0].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=100))]
    scans: Vec<u32>,
    /// Operations of the table, in 100, that move a value from one key to another [default: 0].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=100))]
    moves: Vec<u32>,
    /// Operations of the table, in 100, that look at all keys at one moment [default: 0].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=100))]
    snapshots: Vec<u32>,
    /// The file whose letters are counted, its first 64 MiB [default: that of this program].
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// How long each of the blocks lasts, in milliseconds [default: 100, 2000 of a preset, or 15 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    block: Option<u64>,
    /// Race these only, such as messages-fair-cm, shared-fair-cm, shared-processes, auto, one-lock, object-locks, sequential,
    /// stm, fast-stm, libitm.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks, and fewer situations: seconds in the place of minutes.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    html: HtmlArg,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        self.check()?;
        let (model, options) = self.shared.prepare_for_best(output)?;
        let Self { quick, seed, preset, .. } = *self;
        let place = Place::Processes { program: own_program::path()?, arguments: MEMBER.map(str::to_owned).to_vec() };
        let options = TmOptions {
            options: Options { quick, seed, contenders: self.contenders.clone(), place, ..options },
            preset,
            workloads: self.workloads.clone(),
            participants: self.participants.clone(),
            every: self.every.clone(),
            managers: self.managers.clone(),
            checks_percent: self.checks.clone(),
            readers: self.readers.clone(),
            scans_percent: self.scans.clone(),
            moves_percent: self.moves.clone(),
            snapshots_percent: self.snapshots.clone(),
            file: self.file.clone(),
            block: self.block.map(Duration::from_millis),
        };
        let report = tm(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_tm)?;
        own_failures(&report).check()?;
        if report.cut { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// Those that make no sense together, or with the files that there are.
    fn check(&self) -> Result<(), Failure> {
        let most = self.participants.iter().copied().max().unwrap_or(MAX_PARTICIPANTS);
        if let Some(every) = self.every.iter().find(|every| **every > most) {
            let why =
                format!("--every {every}: one of {every} is no server of {most} participants, expected 2 to {most}");
            return Err(Failure::input(why));
        }
        if let Some(readers) = self.readers.iter().find(|readers| **readers >= most) {
            let why = format!("--readers {readers}: of {most} participants none would transfer, expected fewer");
            return Err(Failure::input(why));
        }
        let most = |percents: &[u32]| percents.iter().copied().max().unwrap_or(0);
        let pairs =
            [("checks", &self.checks, "scans", &self.scans), ("moves", &self.moves, "snapshots", &self.snapshots)];
        for (first, some, second, others) in pairs {
            let (some, others) = (most(some), most(others));
            if some + others > 100 {
                let why = format!("--{first} {some} and --{second} {others}: expected 100 % together at most");
                return Err(Failure::input(why));
            }
        }
        let Some(file) = &self.file else { return Ok(()) };
        let opened = std::fs::File::open(file).and_then(|file| file.metadata());
        let readable = opened
            .and_then(|data| if data.is_file() { Ok(()) } else { Err(std::io::Error::other("it is no regular file")) });
        readable.map_err(|error| Failure::input(format!("--file {}: {error}", file.display())))
    }
}

/// The work of a process that is a server or an application of a transactional memory.
pub(super) fn member() -> Result<(), Failure> {
    tm_member().map_err(Failure::of_member)
}

fn workload_parser() -> impl TypedValueParser<Value = TmWorkload> {
    PossibleValuesParser::new(TmWorkload::ALL.map(TmWorkload::name)).try_map(|name| name.parse::<TmWorkload>())
}

fn preset_parser() -> impl TypedValueParser<Value = TmPreset> {
    PossibleValuesParser::new(TmPreset::ALL.map(TmPreset::name)).try_map(|name| name.parse::<TmPreset>())
}

fn manager_parser() -> impl TypedValueParser<Value = Manager> {
    PossibleValuesParser::new(Manager::ALL.map(Manager::name)).try_map(|name| name.parse::<Manager>())
}

/// One participant in this number may be a server.
fn share() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(2..=MAX_PARTICIPANTS as u64).map(|every| every as usize)
}

fn readers() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(0..MAX_PARTICIPANTS as u64).map(|readers| readers as usize)
}

fn describe(report: &TmReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "{} blocks of {} ms; millions of transactions in a second, of all clients{}\n\n{}\n{}\n{}{}{}",
        report.rounds,
        report.block_ms,
        if report.cut { "; the run was cut, and the situations that are missing were not raced" } else { "" },
        cells.join("\n"),
        published_text::describe(&report.published),
        over_one_lock(report).map_or_else(String::new, |words| format!("{words}\n\n")),
        gate_text::describe(&report.gates),
        own_failures(report).text()
    )
}

fn own_failures(report: &TmReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.cells.iter().for_each(|cell| own.add(&title(cell), &cell.rows));
    own
}

fn describe_cell(cell: &TmCell) -> String {
    format!("{}\n{}", title(cell), columns::contenders(CELL, &cell.rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::assert_fields_documented;
    use corecast_bench::{PublishedFigure, TmRow};

    #[test]
    fn every_field_is_documented() {
        let bank = TmCell {
            workload: "bank",
            checks_percent: Some(50),
            readers: Some(1),
            scans_percent: Some(5),
            participants: 3,
            oversubscribed: true,
            rows: vec![TmRow::default()],
            ..TmCell::default()
        };
        let figure =
            PublishedFigure { figure: "bank", machine: "Opteron", least: 2.5, most: 2.5, source: "TM2C", here: None };
        let report = TmReport {
            machine: "here".to_owned(),
            commit: None,
            seed: 7,
            quick: true,
            preset: None,
            cpus: Vec::new(),
            wait: "adaptive".to_owned(),
            every: Vec::new(),
            text_bytes: 4096,
            block_ms: 15,
            rounds: 3,
            cut: true,
            cells: vec![bank],
            published: vec![figure],
            over_one_lock: Some(0.25),
            gates: Vec::new(),
        };
        assert_fields_documented(&report, "bench tm");
        let words = describe(&report);
        assert!(words.contains("bank, 50 % check") && words.contains("of one auto lock: 0.25, not judged"), "{words}");
        assert!(words.contains("the run was cut"), "{words}");
    }
}
