//! `corecast bench channels`: one sender and some receivers over every channel, interleaved; and what a receiver does
//! that is a process of its own.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::channels::{self, ChannelOptions, PAPER_PER_ROW, PER_ROW, Place, Traffic};
use corecast_race::Options;

use crate::channel_text;
use crate::html_arg::HtmlArg;
use crate::page::render_channels;
use corecast_cli::bytes_arg;
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::own_program;

use super::Shared;
use crate::tell::tell;

/// The hidden subcommand by which a process that takes part is this program again.
const MEMBER: [&str; 1] = ["channel-member"];

/// Options of `bench channels`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// List the contenders and race none.
    #[arg(long, conflicts_with = "html")]
    list: bool,
    /// Race these contenders only [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Play a program's messages instead of a stream: PaxosInside, or a checkpoint.
    #[arg(long = "macro", value_name = "PROGRAM", value_parser = traffic_parser())]
    traffic: Option<Traffic>,
    /// The lengths of messages in bytes, such as 64,4Ki,1M [default: nine from 1 to 1000000, or three with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes_arg::parse)]
    sizes: Vec<usize>,
    /// The numbers of receivers [default: those of 1, 2, 3, 4, 7, 8, 15, 16, 22, 23 that leave the sender a CPU, and the
    /// next].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    receivers: Vec<usize>,
    /// Receivers, or all nodes of a program, are threads of this process; the default.
    #[arg(long, conflicts_with = "processes")]
    threads: bool,
    /// Receivers, or all nodes of a program, are processes of their own.
    #[arg(long)]
    processes: bool,
    /// Bind every participant to a CPU; the default.
    #[arg(long, conflicts_with = "no_pin")]
    pin: bool,
    /// Leave it to the system where participants run.
    #[arg(long)]
    no_pin: bool,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    /// As long as ZIMP's authors: 360 seconds for each contender on each row.
    #[arg(long, conflicts_with_all = ["quick", "seconds"])]
    paper: bool,
    /// Time each contender on each row for so long [default: 2, or 0.04 with --quick].
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<Duration>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    html: HtmlArg,
}

fn traffic_parser() -> impl TypedValueParser<Value = Traffic> {
    let programs = Traffic::ALL.into_iter().filter(|&traffic| traffic != Traffic::Stream);
    PossibleValuesParser::new(programs.map(Traffic::name)).map(|name| {
        let of_name = |traffic: &Traffic| traffic.name() == name;
        Traffic::ALL.into_iter().find(of_name).expect("one of the names just offered")
    })
}

/// A time that is worth measuring, and not longer than a week.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is no number of seconds"))?;
    if !(0.001..=604_800.0).contains(&seconds) {
        return Err(format!("{text} s is not between 0.001 and 604800"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        if self.list {
            return tell(output, &channels::list()[..], channel_text::list);
        }
        self.html.check()?;
        let wanted = self.wanted()?;
        let (model, options) = self.shared.prepare(output)?;
        let options = Options { quick: self.quick, seed: self.seed, ..options };
        let report = channels::race(&model.machine, &options, &wanted, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), channel_text::describe, render_channels)?;
        channel_text::own_failures(&report).check()
    }

    fn wanted(&self) -> Result<ChannelOptions, Failure> {
        let place = if self.processes {
            let program = own_program::path()?;
            Place::Processes { program, arguments: MEMBER.map(str::to_owned).to_vec() }
        } else {
            Place::Threads
        };
        let per_row = match (self.seconds, self.paper, self.quick) {
            (Some(seconds), ..) => Some(seconds),
            (None, true, _) => Some(PAPER_PER_ROW),
            (None, false, true) => None,
            (None, false, false) => Some(PER_ROW),
        };
        Ok(ChannelOptions {
            traffic: self.traffic.unwrap_or_default(),
            contenders: self.contenders.clone(),
            sizes: self.sizes.clone(),
            receivers: self.receivers.clone(),
            place,
            unpinned: self.no_pin,
            per_row,
        })
    }
}

/// The work of a process that takes part.
pub(super) fn member() -> Result<(), Failure> {
    channels::member().map_err(Failure::of_member)
}
