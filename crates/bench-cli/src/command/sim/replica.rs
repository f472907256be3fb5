//! `corecast sim replica`.

use corecast_sim::{MAX_REPLICAS, MOST_OUTSTANDING, Wait, shapes};

use super::shared::Shared;
use crate::simulated::{PLANNED, Program, ReplicaFigure};
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;
use corecast_cli::output::Output;

/// Virtual microseconds before commands count, and in which they do.
const WARM_UP_US: u64 = 500;
const DURATION_US: u64 = 2000;
/// The ways of learning besides trees, of which a static one begins at the acceptor.
const OTHERS: [&str; 2] = ["sequential", "ring"];

/// Options of `sim replica`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Replica {
    #[command(flatten)]
    shared: Shared,
    /// Take only these ways in which replicas learn what is decided: planned is the tree that the library plans, sequential one
    /// send after another by the acceptor, ring one write that all read; or static trees.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = name)]
    learning: Vec<String>,
    /// The rate of commands, or the time until half or 99 in 100 of them have their answers.
    #[arg(long, value_name = "FIGURE", value_enum, default_value = "commands")]
    figure: ReplicaFigure,
    /// The most clients: one at a replica, the leader and the acceptor last.
    #[arg(long, value_name = "N", default_value_t = MAX_REPLICAS, value_parser = number_arg::within::<usize>(1..=MAX_REPLICAS as u64))]
    clients: usize,
    /// The commands of a client that have no answer yet.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=MOST_OUTSTANDING as u64))]
    outstanding: usize,
    /// How nodes and clients wait: adaptive, yield or park.
    #[arg(long, value_name = "POLICY", default_value_t = Wait::Adaptive)]
    wait: Wait,
    /// The time for which each replica computes to apply a command.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = number_arg::within::<u64>(0..=1_000_000))]
    own_ns: u64,
}

impl Replica {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { figure, clients, outstanding, wait, own_ns, .. } = *self;
        if wait == Wait::Spin {
            return Err(Failure::input(
                "--wait spin: nodes and their clients share CPUs, expected adaptive, yield or park",
            ));
        }
        let names = if self.learning.is_empty() { names().map(str::to_owned).collect() } else { self.learning.clone() };
        let machine = self.shared.load()?;
        let steps = self.steps(machine.1.machine().cpus())?;
        let (warm_up_us, duration_us) = self.shared.times_us(WARM_UP_US, DURATION_US);
        let wait = wait.to_string();
        let program = Program::Replica { figure, clients, outstanding, wait, own_ns, warm_up_us, duration_us };
        self.shared.run_steps(machine, &program, (&names, &steps), output)
    }

    /// The numbers of replicas.
    fn steps(&self, cpus: usize) -> Result<Vec<usize>, Failure> {
        if let Some(replicas) = self.shared.cpus.iter().find(|&&replicas| replicas > MAX_REPLICAS) {
            return Err(Failure::input(format!("--cpus {replicas}: a group has at most {MAX_REPLICAS} replicas")));
        }
        let steps = self.shared.threads(cpus)?;
        Ok(steps.into_iter().filter(|&replicas| replicas <= MAX_REPLICAS).collect())
    }
}

/// All ways of learning. The static tree of one level is another name for one of them.
fn names() -> impl Iterator<Item = &'static str> {
    let trees = shapes().filter(|name| !OTHERS.contains(name));
    [PLANNED].into_iter().chain(OTHERS).chain(trees)
}

/// The name of a way of learning.
fn name(text: &str) -> Result<String, String> {
    if names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let known: Vec<&str> = names().collect();
    Err(format!("unknown way of learning '{text}': expected one of {}", known.join(", ")))
}
