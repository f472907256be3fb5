//! `corecast bench stream`: very many checked messages through one channel.

use corecast_bench::{StreamOptions, StreamReport, stream};

use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;

use super::Shared;
use crate::tell::tell;

/// Messages of a thorough run and of a quick one.
const MESSAGES: u64 = 1_000_000_000;
const QUICK_MESSAGES: u64 = 20_000_000;

/// Options of `bench stream`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The number of messages [default: 10^9, or 2 * 10^7 with --quick].
    #[arg(long, value_name = "N")]
    messages: Option<u64>,
    /// Slots of the channel.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    slots: u32,
    /// Send fewer messages.
    #[arg(long)]
    quick: bool,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        let messages = self.messages.unwrap_or(if self.quick { QUICK_MESSAGES } else { MESSAGES });
        let wanted = StreamOptions { messages, slots: self.slots as usize };
        let report = stream(&model.machine, &options, &wanted, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        if report.is_clean() { Ok(()) } else { Err(Failure::environment("messages were torn, lost or out of order")) }
    }
}

fn describe(report: &StreamReport) -> String {
    let StreamReport { messages, torn, lost, reordered, seconds, slots, wait, .. } = report;
    let [from, to] = report.cpus;
    let millions = report.messages_per_s / 1e6;
    format!(
        "{messages} messages from CPU {from} to CPU {to} through {slots} slots, waiting {wait}\n\
         {torn} torn, {lost} lost, {reordered} out of order\n\
         {seconds:.2} s, {millions:.1} million messages per second\n"
    )
}
