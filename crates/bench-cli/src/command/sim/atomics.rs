//! `corecast sim atomics`.

use corecast_sim::AtomicOperation;

use super::shared::Shared;
use crate::simulated::Program;
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Virtual microseconds before calls count, and in which they do.
const WARM_UP_US: u64 = 200;
const DURATION_US: u64 = 1000;

/// Options of `sim atomics`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Atomics {
    #[command(flatten)]
    shared: Shared,
    /// Take only these operations: cas, tas, fai, swap, fai-by-cas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    operations: Vec<AtomicOperation>,
    /// The words, each on a line of its own, of which each call takes one at random.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=65536))]
    words: usize,
    /// The time for which a thread computes after each call, and up to half of it more.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    pause_ns: u64,
}

impl Atomics {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { words, pause_ns, .. } = *self;
        let operations = if self.operations.is_empty() { &AtomicOperation::ALL[..] } else { &self.operations };
        let names: Vec<String> = operations.iter().map(ToString::to_string).collect();
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, DURATION_US);
        self.shared.run(&Program::Atomics { words, pause_ns, warm_up_us, duration_us }, &names, output)
    }
}
