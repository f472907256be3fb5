//! `corecast sim barriers`.

use corecast_sim::Barrier;

use super::shared::Shared;
use crate::simulated::{AUTO, Program};
use corecast_cli::failure::Failure;
use corecast_cli::output::Output;

/// Episodes before those that count, and those that do.
const WARM_UP: usize = 5;
const EPISODES: u64 = 100;

/// Options of `sim barriers`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Barriers {
    #[command(flatten)]
    shared: Shared,
    /// Take only these barriers; auto is the one that a group chooses without a race.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = name)]
    barriers: Vec<String>,
}

impl Barriers {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let all = || Barrier::ALL.iter().map(ToString::to_string).chain([AUTO.to_owned()]).collect();
        let names = if self.barriers.is_empty() { all() } else { self.barriers.clone() };
        let episodes = self.shared.shortened(EPISODES) as usize;
        self.shared.run(
            &Program::Barriers { warm_up: WARM_UP, episodes, plans_quickly: self.shared.quick },
            &names,
            output,
        )
    }
}

/// The name of a barrier, or auto.
pub(super) fn name(text: &str) -> Result<String, String> {
    match text.parse::<Barrier>() {
        _ if text == AUTO => Ok(text.to_owned()),
        Ok(barrier) => Ok(barrier.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
