//! `corecast sim table`.

use corecast_sim::Algorithm;

use super::shared::Shared;
use crate::simulated::{MESSAGE_SERVER, MESSAGES, Program};
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
    /// Take only these: locks, one on each bucket; messages, where every third thread is a server that owns buckets and the
    /// others ask; msg-server, the same with servers that do nothing but look at their rings.
    #[arg(long, visible_alias = "contenders", value_name = "LIST", value_delimiter = ',', value_parser = name)]
    locks: Vec<String>,
    /// The buckets.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = number_arg::within::<usize>(1..=65536))]
    buckets: usize,
    /// The keys that are in a bucket on average, of twice as many.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = number_arg::within::<usize>(1..=1024))]
    mean: usize,
    /// The time for which a thread computes in each operation besides its accesses to memory, half of it with the lock, or at the
    /// server.
    #[arg(long, value_name = "NS", default_value_t = 50, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    own_ns: u64,
}

impl Table {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { buckets, mean, own_ns, .. } = *self;
        let served = [MESSAGES, MESSAGE_SERVER].map(str::to_owned);
        let all = || Algorithm::ALL.iter().map(ToString::to_string).chain(served).collect();
        let names = if self.locks.is_empty() { all() } else { self.locks.clone() };
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, DURATION_US);
        self.shared.run(&Program::Table { buckets, mean, own_ns, warm_up_us, duration_us }, &names, output)
    }
}

/// The name of a lock, or of servers.
fn name(text: &str) -> Result<String, String> {
    match text.parse::<Algorithm>() {
        _ if [MESSAGES, MESSAGE_SERVER].contains(&text) => Ok(text.to_owned()),
        Ok(lock) => Ok(lock.to_string()),
        Err(error) => Err(format!("{error}, {MESSAGES} or {MESSAGE_SERVER}")),
    }
}
