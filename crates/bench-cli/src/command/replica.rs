//! `corecast bench replica`: replicated state, raced or, with `--crash`, killed, stopped and started again.

use std::path::PathBuf;

use corecast_bench::{CrashOptions, CrashReport, CrashRow, crash, crash_node};
use corecast_cli::failure::Failure;
use corecast_cli::gate_text;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::own_program;
use corecast_race::Options;

use super::replica_race::RaceArguments;
use crate::columns::Format::Digits;
use crate::columns::{self, Column, count};
use crate::tell::tell;

/// The hidden subcommand by which a node is this program again.
const NODE: [&str; 1] = ["replica-node"];

/// Options of `bench replica`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Kill, stop and restart nodes at random while clients read and write, and check all that they were answered.
    #[arg(long)]
    crash: bool,
    #[command(flatten)]
    race: RaceArguments,
    /// With --crash: nodes that send each other messages, one of which is killed or stopped at a time.
    #[arg(long)]
    messages: bool,
    /// With --crash: groups that keep files. All nodes are killed now and then, and the group is made anew from its files.
    #[arg(long)]
    files: bool,
    /// With --crash: the length of the run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// With --crash: end after this number of kills and stops.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    kills: Option<u64>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// With --crash: the folder that gets a file with the history of each fault.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    faults: PathBuf,
}

/// The arguments of a process that is a node.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct NodeArguments {
    words: Vec<String>,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        if self.crash { self.crash(output) } else { self.race.run(self.seed, output) }
    }

    fn crash(&self, output: &Output) -> Result<(), Failure> {
        let cancel = Interrupt::watch()?.cancel();
        let options = Options { cancel, commit: super::commit(), seed: self.seed, ..Options::default() };
        let seed = options.seed_or_draw();
        let wanted = CrashOptions {
            seconds: self.seconds,
            kills: self.kills,
            is_by_messages: self.messages,
            has_files: self.files,
            seed,
            faults: self.faults.clone(),
            program: own_program::path()?,
            arguments: NODE.map(str::to_owned).to_vec(),
        };
        let report = crash(&options, &wanted, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        match report.faults.len() {
            0 => Ok(()),
            faults => Err(Failure::environment(format!("{faults} things happened that must not; the seed is {seed}"))),
        }
    }
}

impl NodeArguments {
    pub(super) fn run(&self) -> Result<(), Failure> {
        crash_node(&self.words).map_err(Failure::of_member)
    }
}

const ROWS: &[Column<CrashRow>] = &[
    Column::words("event", "event", |row| row.event.into()),
    Column::figure("events", "events", "", |row| count(row.events), Digits(0)),
    Column::figure("median_ms", "median", "ms", |row| columns::Value::Figure(row.median_ms), Digits(2)),
    Column::figure("p99_ms", "p99", "ms", |row| columns::Value::Figure(row.p99_ms), Digits(2)),
    Column::figure("max_ms", "longest", "ms", |row| columns::Value::Figure(row.max_ms), Digits(2)),
];

fn describe(report: &CrashReport) -> String {
    let counts = &report.counts;
    let faults: String = report.faults.iter().map(|fault| format!("{}: {}\n", fault.seed, fault.what)).collect();
    format!(
        "{} groups in {:.0} s, seed {}: {} kills, {} stops, {} crash points, {} joined again, {} of them with little memory, \
         {} put out, {} not joined, {} groups made anew from files\n\
         {} writes, {} reads, {} histories: {} lost, {} twice, {} not linearizable, {} undecided, {} diverged, {} stuck, {} gone, \
         {} sessions expired\n\
         from the signal until a write is answered that was asked for after it\n{}\n{faults}{}",
        report.episodes,
        report.seconds,
        report.seed,
        counts.kills,
        counts.stops,
        counts.crash_points,
        counts.respawns,
        counts.cramped,
        counts.put_out,
        counts.not_joined,
        counts.restarts,
        counts.writes,
        counts.reads,
        counts.histories,
        counts.lost,
        counts.twice,
        counts.not_linearizable,
        counts.undecided,
        counts.diverged,
        counts.stuck,
        counts.gone,
        counts.expired,
        columns::plain(ROWS, &report.rows),
        gate_text::describe(&report.gates),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::{agree_with_json, assert_fields_documented};
    use corecast_bench::CrashFault;

    #[test]
    fn the_table_shows_what_json_has() {
        let row =
            CrashRow { event: "leader killed", events: 20, median_ms: Some(1.5), p99_ms: Some(2.5), max_ms: None };
        agree_with_json(ROWS, &row, "bench replica --crash", "rows[]");
        let fault = CrashFault { seed: 7, what: "stuck".into(), file: None };
        let report = CrashReport { rows: vec![row], faults: vec![fault], ..CrashReport::default() };
        assert_fields_documented(&report, "bench replica --crash");
    }
}
