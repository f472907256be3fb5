//! `corecast sim locks`.

use corecast_sim::Algorithm;

use super::shared::Shared;
use crate::simulated::Program;
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Virtual microseconds before acquisitions count, and in which they do. `auto` judges windows of 400 us, and needs some of them.
const WARM_UP_US: u64 = 4000;
const DURATION_US: u64 = 2000;

/// Options of `sim locks`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Locks {
    #[command(flatten)]
    shared: Shared,
    /// Take only these locks.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    locks: Vec<Algorithm>,
    /// The number of locks, of which each acquisition takes one at random.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=65536))]
    number: usize,
    /// The time that a holder computes for, beyond reading and writing a line.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    inside_ns: u64,
    /// The time for which a thread computes between two acquisitions, and up to half of it more.
    #[arg(long, value_name = "NS", default_value_t = 100, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    outside_ns: u64,
}

impl Locks {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { number: locks_taken, inside_ns, outside_ns, .. } = *self;
        let locks = if self.locks.is_empty() { Algorithm::ALL } else { &self.locks };
        let names: Vec<String> = locks.iter().map(ToString::to_string).collect();
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, DURATION_US);
        let program = Program::Locks { locks: locks_taken, warm_up_us, duration_us, inside_ns, outside_ns };
        self.shared.run(&program, &names, output)
    }
}
