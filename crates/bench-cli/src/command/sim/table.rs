//! `corecast sim table`.

use corecast_sim::Algorithm;

use super::shared::Shared;
use crate::simulated::Program;
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Virtual microseconds before operations count, and in which they do.
const WARM_UP_US: u64 = 1000;
const DURATION_US: u64 = 1000;

/// Options of `sim table`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Table {
    #[command(flatten)]
    shared: Shared,
    /// Take only these locks.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    locks: Vec<Algorithm>,
    /// The buckets, each of twelve entries with a lock.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = number_arg::within::<usize>(1..=65536))]
    buckets: usize,
    /// The time for which a thread computes in each operation besides its accesses to memory, half of it with the lock.
    #[arg(long, value_name = "NS", default_value_t = 50, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    own_ns: u64,
}

impl Table {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { buckets, own_ns, .. } = *self;
        let locks = if self.locks.is_empty() { Algorithm::ALL } else { &self.locks };
        let names: Vec<String> = locks.iter().map(ToString::to_string).collect();
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, DURATION_US);
        self.shared.run(&Program::Table { buckets, own_ns, warm_up_us, duration_us }, &names, output)
    }
}
