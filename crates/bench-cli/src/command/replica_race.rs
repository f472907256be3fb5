//! `corecast bench replica` without `--crash`: robustness, exact costs, wall clock and simulation of replicated state.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::{Preset, ReplicaCell, ReplicaOptions, ReplicaReport, RobustPart, replica, replica_member};
use corecast_race::{Options, Place};

use crate::columns;
use crate::columns::replicas::{CELL, COSTS, PAUSES, PREDICTIONS, REDIS, ROBUST, SIMULATED, WAITS};
use crate::html_arg::HtmlArg;
use crate::page::render_replica;
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::table::many;
use corecast_cli::{gate_text, own_program, skipped};

use super::beside::Beside;
use super::{Shared, count};

/// The hidden subcommand by which a process is this program again.
const MEMBER: [&str; 1] = ["replica-member"];
/// The most replicas: each is a thread or a process.
const MOST_MEMBERS: u64 = 64;
/// The name of the program that serves a store, beside this one.
const CORECAST: &str = "corecast";

/// Options of `bench replica` that are not about `--crash`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RaceArguments {
    #[command(flatten)]
    shared: Shared,
    /// Repeat this experiment [default: robustness, costs, a store with all its rivals, and the simulation].
    #[arg(long, value_name = "EXPERIMENT", value_parser = presets())]
    preset: Option<Preset>,
    /// Do these parts of the robustness and nothing else: held-back (Q3), pauses (Q2), restarts (Q9).
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parts(), conflicts_with_all = ["preset", "members", "contenders", "redis"])]
    only: Vec<RobustPart>,
    /// The numbers of replicas [default: those of the experiment].
    #[arg(long, visible_alias = "n", value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_MEMBERS))]
    members: Vec<usize>,
    /// Race these only: names of stores [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// How long each of the blocks lasts, in milliseconds [default: 500, or 10 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    block: Option<u64>,
    /// With zimp-paxos: the requests of each block, however long that takes (the paper has 100000) [default: those of its time].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    requests: Option<u64>,
    /// Blocks of each contender in each situation [default: 10, or 3 with --quick].
    #[arg(long, value_name = "N", value_parser = count(1000))]
    rounds: Option<usize>,
    /// Kills and stops of each kind [default: 200, or 5 with --quick].
    #[arg(long, value_name = "N", value_parser = count(100_000))]
    events: Option<usize>,
    /// Operations in a second of all clients of an open loop together [default: 20000, or 2000 beside busy processes].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    rate: Option<u32>,
    /// Run redis-benchmark against `corecast kv serve` with three replicas and against redis-server, too.
    #[arg(long)]
    redis: bool,
    /// Fewer kills, writes, situations and blocks: less than a minute.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    beside: Beside,
    #[command(flatten)]
    html: HtmlArg,
}

fn presets() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(|name| name.parse::<Preset>())
}

fn parts() -> impl TypedValueParser<Value = RobustPart> {
    PossibleValuesParser::new(RobustPart::ALL.map(RobustPart::name)).try_map(|name| name.parse::<RobustPart>())
}

impl RaceArguments {
    pub(super) fn run(&self, seed: Option<u64>, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        let (model, options) = self.shared.prepare(output)?;
        let program = own_program::path()?;
        let corecast = program.parent().map(|folder| folder.join(CORECAST)).filter(|corecast| corecast.exists());
        let place = Place::Processes { program, arguments: MEMBER.map(str::to_owned).to_vec() };
        let contenders = self.contenders.clone();
        let options = Options { quick: self.quick, seed, contenders, place, busy: self.beside.busy, ..options };
        let _load = Beside::start(&model, &options)?;
        let options = ReplicaOptions {
            options,
            preset: self.preset,
            only: self.only.clone(),
            members: self.members.clone(),
            block: self.block.map(Duration::from_millis),
            requests: self.requests,
            rounds: self.rounds,
            events: self.events,
            rate: self.rate.map(f64::from),
            redis: self.redis,
            corecast,
        };
        let report = replica(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_replica)?;
        own_failures(&report).check()
    }
}

/// The work of a process that takes part.
pub(super) fn member() -> Result<(), Failure> {
    replica_member().map_err(Failure::of_member)
}

fn describe(report: &ReplicaReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    let left_out = report.left_out.iter().map(|one| (one.contender, one.reason.as_str()));
    [
        section("1. robustness, in ms", &columns::contenders(ROBUST, &report.robustness), report.robustness.is_empty()),
        section("2. for each command, by counters", &columns::plain(COSTS, &report.costs), report.costs.is_empty()),
        section(
            "system calls of waiting for each command, where all clients poll",
            &columns::plain(WAITS, &report.waits),
            report.waits.is_empty(),
        ),
        section("3. wall clock here", &cells.join("\n"), cells.is_empty()),
        section(
            "the longest operation of users at the node that writes its state, beside a checkpoint and without one",
            &columns::plain(PAUSES, &report.pauses),
            report.pauses.is_empty(),
        ),
        section(
            "does the simulation predict it?",
            &columns::plain(PREDICTIONS, &report.predictions),
            report.predictions.is_empty(),
        ),
        section(
            "4. simulated on machine models, not measured: by messages alone, and with the work of this machine's nodes",
            &columns::plain(SIMULATED, &report.simulated),
            report.simulated.is_empty(),
        ),
        section("redis-benchmark", &describe_redis(report), report.redis.is_empty()),
        skipped::reasons("left out", left_out),
        gate_text::describe(&report.gates),
        own_failures(report).text(),
    ]
    .concat()
}

fn section(heading: &str, body: &str, is_empty: bool) -> String {
    if is_empty { String::new() } else { format!("{heading}\n\n{body}\n") }
}

fn describe_redis(report: &ReplicaReport) -> String {
    let reason = |row: &corecast_bench::RedisRow| row.skipped.clone().map(|reason| (row.command.clone(), reason));
    let reasons: Vec<(String, String)> = report.redis.iter().filter_map(reason).collect();
    let reasons = reasons.iter().map(|(command, reason)| (command.as_str(), reason.as_str()));
    format!("{}{}", columns::plain(REDIS, &report.redis), skipped::lines(reasons))
}

fn describe_cell(cell: &ReplicaCell) -> String {
    format!("{}\n{}", title(cell), columns::contenders(CELL, &cell.rows))
}

/// A situation in words.
pub(crate) fn title(cell: &ReplicaCell) -> String {
    let (replicas, clients) = (many(cell.replicas, "replica"), many(cell.clients, "client"));
    let shared = if cell.oversubscribed { ", oversubscribed" } else { "" };
    format!("{}: {replicas}, {clients} that are {}{shared}", cell.workload, cell.place)
}

fn own_failures(report: &ReplicaReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    own.add("robustness", &report.robustness);
    report.cells.iter().for_each(|cell| own.add(&title(cell), &cell.rows));
    own
}
