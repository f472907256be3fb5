//! `corecast sim tm`.

use corecast_sim::MemoryKind;

use super::shared::Shared;
use crate::simulated::Program;
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Virtual microseconds before transactions count, and in which they do; longer where some sum all accounts.
const WARM_UP_US: u64 = 100;
const DURATION_US: u64 = 400;
const LONG_DURATION_US: u64 = 4000;

/// Options of `sim tm`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Tm {
    #[command(flatten)]
    shared: Shared,
    /// Take only these memories, a form and a manager each, such as messages-fair-cm, shared-none; and messages-at-servers.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<MemoryKind>,
    /// One of this number of participants is a server, by messages; of fewer participants one is.
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = number_arg::within::<usize>(2..=4096))]
    every: usize,
    /// The accounts.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = number_arg::within::<usize>(2..=65536))]
    accounts: usize,
    /// Transactions in 100 that sum two accounts; the others transfer.
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    checks: u32,
    /// Transactions in 100 that sum all accounts.
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    scans: u32,
    /// Applications that only sum all accounts.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_arg::within::<usize>(0..=4095))]
    readers: usize,
    /// The time for which an application computes before each transaction, and up to half of it more.
    #[arg(long, value_name = "NS", default_value_t = 50, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    own_ns: u64,
}

impl Tm {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { every, accounts, checks: checks_percent, scans: scans_percent, readers, own_ns, .. } = *self;
        if checks_percent + scans_percent > 100 {
            return Err(Failure::input(format!(
                "--checks {checks_percent} and --scans {scans_percent}: expected at most 100 together"
            )));
        }
        let kinds = if self.contenders.is_empty() { MemoryKind::all().collect() } else { self.contenders.clone() };
        let machine = self.shared.load()?;
        let steps = self.steps(&kinds, machine.1.machine().cpus())?;
        let names: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        let duration_us = if readers == 0 && scans_percent == 0 { DURATION_US } else { LONG_DURATION_US };
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, duration_us);
        let program =
            Program::Tm { every, accounts, checks_percent, scans_percent, readers, own_ns, warm_up_us, duration_us };
        self.shared.run_steps(machine, &program, (&names, &steps), output)
    }

    /// The numbers of participants. Among so few that nobody transfers in one of the memories none is played, unless it was asked
    /// for.
    fn steps(&self, kinds: &[MemoryKind], cpus: usize) -> Result<Vec<usize>, Failure> {
        let Self { every, readers, .. } = *self;
        let mut steps = self.shared.threads(cpus)?;
        let idle = |step: usize| kinds.iter().find(|kind| kind.applications(step, every) <= readers);
        if self.shared.cpus.is_empty() && steps.iter().any(|&step| idle(step).is_none()) {
            steps.retain(|&step| idle(step).is_none());
        }
        match steps.iter().find_map(|&step| Some((step, idle(step)?))) {
            None => Ok(steps),
            Some((step, kind)) => {
                let applications = kind.applications(step, every);
                let reading = if readers == 0 { String::new() } else { format!(", of which {readers} only sum") };
                Err(Failure::input(format!(
                    "--cpus {step}: {kind} has {applications} applications{reading}; expected one that transfers"
                )))
            }
        }
    }
}
