//! `corecast sim collectives`.

use corecast_sim::{Operation, shapes};

use super::shared::Shared;
use crate::simulated::{PLANNED, Program};
use corecast_cli::failure::Failure;
use corecast_cli::output::Output;

/// Episodes before those that count, and those that do.
const WARM_UP: usize = 5;
const EPISODES: u64 = 100;
/// The longest values, bytes.
const MOST_BYTES: usize = 1 << 20;

/// Options of `sim collectives`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Collectives {
    #[command(flatten)]
    shared: Shared,
    /// The operation: broadcast, reduce or allreduce.
    #[arg(long, value_name = "OP", default_value = "broadcast")]
    op: Operation,
    /// The bytes of each member's values, in eights.
    #[arg(long, value_name = "BYTES", default_value_t = 8, value_parser = eights)]
    bytes: usize,
    /// Take only these trees: planned is the one that a group plans for the operation.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = name)]
    trees: Vec<String>,
}

impl Collectives {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let all = || [PLANNED].into_iter().chain(shapes()).map(str::to_owned).collect();
        let names = if self.trees.is_empty() { all() } else { self.trees.clone() };
        let episodes = self.shared.shortened(EPISODES) as usize;
        let Self { op: operation, bytes, .. } = *self;
        self.shared.run(
            &Program::Collectives { operation, bytes, warm_up: WARM_UP, episodes, plans_quickly: self.shared.quick },
            &names,
            output,
        )
    }
}

/// The name of a tree.
fn name(text: &str) -> Result<String, String> {
    let mut known = [PLANNED].into_iter().chain(shapes());
    if known.any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let names: Vec<&str> = shapes().collect();
    Err(format!("unknown tree '{text}': expected {PLANNED} or one of {}", names.join(", ")))
}

/// A length in bytes that is a multiple of eight.
fn eights(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes: &usize| bytes % 8 == 0 && (8..=MOST_BYTES).contains(bytes));
    bytes.ok_or_else(|| format!("expected a multiple of 8, from 8 to {MOST_BYTES}"))
}
