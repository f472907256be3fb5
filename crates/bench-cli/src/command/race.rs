//! `corecast bench collectives`, `corecast bench ump` and `corecast bench select`: every contender of an operation,
//! interleaved.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::{Fairness, SelectReport, select, ump};
use corecast_race::{Op, Options, Place, Report, collective_member, collectives};

use crate::html_arg::HtmlArg;
use corecast_cli::bytes_arg;
use corecast_cli::failure::Failure;
use corecast_cli::machine_args::Model;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::report::render_race;
use corecast_cli::{own_program, race_text};

use super::Shared;
use crate::tell::tell;

/// Options of `bench collectives`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Collectives {
    #[command(flatten)]
    race: RaceArgs,
    /// Race these operations [default: barrier,broadcast,reduce,allreduce].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = collective_parser())]
    op: Vec<Op>,
    /// The numbers of bytes that operations carry, such as 0,8,4Ki,1M [default: a broadcast 56, others 8].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes_arg::parse)]
    size: Vec<usize>,
    /// The numbers of members [default: the number of CPUs, and for barriers also four times that].
    #[arg(long, visible_alias = "n", value_name = "LIST", value_delimiter = ',')]
    members: Vec<usize>,
    /// Race these contenders only, and corecast's own choice [default: all; `corecast list contenders`].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Leave out contenders that run in a program of their own, which takes a compiler and seconds to start.
    #[arg(long)]
    in_process: bool,
    /// Time operations with a root by its clock: until one member's echo has come, or, of reductions, from a message that lets
    /// one member begin; of each member in turn, and the slowest counts.
    #[arg(long)]
    leaf_echo: bool,
    /// Deal fewer members than CPUs over the NUMA nodes in turn [default: the first CPUs].
    #[arg(long)]
    spread: bool,
    /// Members are threads of this process; the default.
    #[arg(long, conflicts_with = "processes")]
    threads: bool,
    /// Members are processes of their own.
    #[arg(long)]
    processes: bool,
    #[command(flatten)]
    html: HtmlArg,
}

/// The hidden subcommand by which a process that is a member is this program again.
pub(super) const MEMBER: [&str; 1] = ["collective-member"];

/// The work of a process that is a member.
pub(super) fn member() -> Result<(), Failure> {
    collective_member().map_err(Failure::of_member)
}

/// Options of `bench ump`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Ump {
    #[command(flatten)]
    race: RaceArgs,
}

/// Options of `bench select`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Select {
    #[command(flatten)]
    race: RaceArgs,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RaceArgs {
    #[command(flatten)]
    shared: Shared,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

fn collective_parser() -> impl TypedValueParser<Value = Op> {
    PossibleValuesParser::new(Op::COLLECTIVES.map(Op::name)).try_map(|name| name.parse::<Op>())
}

impl Collectives {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        self.check_echo()?;
        let (mut model, options) = self.race.prepare(output)?;
        let options = Options {
            participants: self.members.clone(),
            ops: self.op.clone(),
            sizes: self.size.clone(),
            contenders: self.contenders.clone(),
            external: !self.in_process,
            leaf_echo: self.leaf_echo,
            spread: self.spread,
            place: self.place()?,
            ..options
        };
        let report = collectives(&model.machine, &options, &mut Meter::start(output))?;
        model.check_by(&report, "corecast measure", output);
        show(&report, output)?;
        write_page(&self.html, &report, output)?;
        race_text::own_failures(&report).check()
    }

    /// Refuses to time by an echo where nothing is raced that can be.
    fn check_echo(&self) -> Result<(), Failure> {
        if self.leaf_echo && !self.op.is_empty() && !self.op.iter().any(|op| op.can_echo()) {
            let ops: Vec<&str> = self.op.iter().map(|op| op.name()).collect();
            let why = format!("--leaf-echo times operations with a root, expected one in --op {}", ops.join(","));
            return Err(Failure::input(why));
        }
        Ok(())
    }

    fn place(&self) -> Result<Place, Failure> {
        if !self.processes {
            return Ok(Place::Threads);
        }
        let program = own_program::path()?;
        Ok(Place::Processes { program, arguments: MEMBER.map(str::to_owned).to_vec() })
    }
}

impl Ump {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.race.prepare(output)?;
        let report = ump(&model.machine, &options, &mut Meter::start(output))?;
        show(&report, output)?;
        race_text::own_failures(&report).check()
    }
}

impl Select {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.race.prepare(output)?;
        let report = select(&model.machine, &options, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        race_text::own_failures(&report.race).check()
    }
}

fn describe(SelectReport { race, fairness }: &SelectReport) -> String {
    let Fairness { channels, messages, rounds, worst_share, median_share, .. } = fairness;
    format!(
        "{}\nall {channels} channels full, {messages} messages taken, {rounds} times: the worst channel gets {worst_share:.2} \
         of its fair share at worst, {median_share:.2} as a rule\n",
        race_text::describe(race)
    )
}

impl RaceArgs {
    /// The machine to run on, and all that these options say.
    pub(super) fn prepare(&self, output: &Output) -> Result<(Model, Options), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        Ok((model, self.complete(options)))
    }

    fn complete(&self, options: Options) -> Options {
        Options { quick: self.quick, seed: self.seed, ..options }
    }
}

pub(super) fn show(report: &Report, output: &Output) -> Result<(), Failure> {
    tell(output, report, race_text::describe)
}

/// Writes the page about a race, if one is wanted.
pub(super) fn write_page(html: &HtmlArg, report: &Report, output: &Output) -> Result<(), Failure> {
    html.write(report.seed, output, |now, command| render_race(report, now, env!("CARGO_PKG_VERSION"), command))
}
