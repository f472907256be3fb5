//! Which costs a plan counts, as options: those of pairs, or what the model knows beyond them too.

use corecast::Machine;
use corecast::plan::{Problem, Terms};

use crate::failure::Failure;

/// Which costs count.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CostArgs {
    /// The costs that count: those of pairs, or also what bursts, overlap and shared lines change, if measured.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t = CostModel::Pairwise)]
    model: CostModel,
}

/// The cost that a message is taken to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CostModel {
    /// Send and receive of each pair of CPUs.
    Pairwise,
    /// The same, and what the model file has of fan_out, fan_in, readers and fetch_add.
    Extended,
}

impl CostArgs {
    /// All CPUs of the machine with these costs.
    pub(crate) fn problem(&self, machine: &Machine) -> Result<Problem, Failure> {
        let problem = Problem::of_machine(machine)?;
        if self.model == CostModel::Pairwise {
            return Ok(problem);
        }
        let terms = Terms::of(machine);
        if terms.is_pairwise() {
            let error = format!("the model of {} has none of fan_out, fan_in, readers and fetch_add", machine.name);
            let advice = "`corecast measure` measures them; without --model extended the costs of pairs are used";
            return Err(Failure::input(error).with_help(advice));
        }
        Ok(problem.with_terms(terms))
    }
}
