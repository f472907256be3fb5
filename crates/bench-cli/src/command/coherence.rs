//! `corecast measure coherence`: the parameters that a simulated machine takes of this one, added to its model.

use std::path::PathBuf;

use corecast::machine::{Coherence, Origin};
use corecast_bench::coherence_parameters;
use corecast_race::Options;
use corecast_sim::{explain, of_model};

use corecast_cli::added_costs::{self, AddedCosts, ModelText};
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{printable, target_folder};

use crate::simulated::parameter_rows;

/// The field of `coherence` that says that it was measured with fewer samples.
const QUICK: &str = "quick";

/// Options of `measure coherence`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// A tenth of the samples.
    #[arg(long)]
    quick: bool,
    /// The seed of the order of lines [default: drawn].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Also write the model to this file.
    #[arg(long, visible_alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let Self { machine, quick, seed, out } = self;
        out.iter().try_for_each(|path| target_folder::check("the model", path))?;
        let added = AddedCosts { what: "single accesses", machine, quick: *quick, out: out.as_deref(), output };
        let interrupt = Interrupt::watch()?;
        let mut model = added.model(&interrupt)?;
        let cpus = Some(model.machine.cpu_set());
        let options = Options { cpus, quick: *quick, seed: *seed, cancel: interrupt.cancel(), ..Options::default() };
        let measured = coherence_parameters(&model.machine, &options, &mut Meter::start(output))?;
        interrupt.check()?;
        model.machine.extended.coherence = Some(measured);
        // The others as a simulation would assume them, so that the file says what it will run with.
        let mut coherence = of_model(&model.machine).map_err(Failure::environment)?.coherence;
        if *quick {
            coherence.other.insert(QUICK.to_owned(), true.into());
        }
        let kept = added.keep(&mut model, |machine| machine.extended.coherence = Some(coherence.clone()));
        let text = || ModelText { before: describe(&coherence), ..ModelText::default() };
        added_costs::tell(output, &model.machine, out.as_deref(), kept.as_deref(), text)
    }
}

/// A line for each parameter, and what is assumed once more below.
fn describe(coherence: &Coherence) -> String {
    let classes: Vec<_> = coherence.classes.iter().map(|class| printable::line(class)).collect();
    let parameters = explain(coherence);
    let assumed: Vec<&str> = parameters
        .iter()
        .filter(|known| known.origin == Origin::Assumed)
        .map(|known| known.parameter.as_str())
        .collect();
    format!(
        "single accesses, by distance: {}\n{}could not be measured here, and are assumed: {}\n",
        classes.join(", "),
        parameter_rows(coherence),
        assumed.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use corecast::machine::Unit;
    use corecast_sim::Described;
    use corecast_sim::machine::published;

    use super::*;

    #[test]
    fn each_parameter_is_told_with_its_origin_and_the_assumed_ones_again() {
        let text = describe(&Described::published(published::xeon_8x10()).coherence);
        for words in ["load.modified", "109 289 400", "published  cycles", "0.3", "assumed: gap, "] {
            assert!(text.contains(words), "'{words}' is not in\n{text}");
        }
        let hostile = Coherence::unknown(Unit::Ns, vec!["\u{1b}[2J".to_owned()], vec![vec![0]]);
        assert!(!describe(&hostile).contains('\u{1b}'));
    }
}
