//! Which machine is simulated: a published one by name, or that of a model file.

use std::path::Path;

use corecast::machine::model_file;
use corecast_sim::machine::{Machine, published};
use corecast_sim::{Described as Parameters, Model, WhatIf, corners, of_model, spread, spread_model, with_siblings};
use serde::{Deserialize, Serialize};

use corecast_cli::failure::Failure;

/// The published machines.
pub(crate) const PRESETS: [Preset; 2] = [
    Preset { name: "opteron-4x12", make: published::opteron_4x12 },
    Preset { name: "xeon-8x10", make: published::xeon_8x10 },
];

/// A machine that is known by name.
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    make: fn() -> Machine,
}

/// A machine to simulate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Described {
    /// The name of a published machine, or a file.
    pub(crate) machine: String,
    /// The changes of it.
    pub(crate) what_if: WhatIf,
    /// CPUs that share a core slow each other down.
    pub(crate) smt: bool,
    /// The order in which CPUs are taken.
    pub(crate) fill: Fill,
    /// The corner of what is assumed of the machine; 0 is the machine as given.
    pub(crate) corner: usize,
}

/// The order in which a program takes the CPUs of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fill {
    /// As the machine numbers them.
    #[default]
    Clusters,
    /// By turns over the packages, and in each of them over the nodes.
    Spread,
}

/// A machine that was found.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Its parameters, each with where it comes from.
    pub(crate) parameters: Parameters,
    /// The same in a sentence.
    pub(crate) origin: String,
    /// The model from which groups plan, if it has one of its own.
    pub(crate) model: Option<Model>,
}

impl Loaded {
    pub(crate) fn machine(&self) -> &Machine {
        &self.parameters.machine
    }
}

impl Described {
    /// The machine.
    ///
    /// # Errors
    /// Bad input: no such file, a file that is no model, or a machine that cannot be simulated.
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        let preset = PRESETS.iter().find(|preset| preset.name == self.machine);
        let Loaded { parameters, origin, model } = match preset {
            Some(_) if self.smt => return Err(self.no_siblings()),
            Some(preset) => Loaded {
                parameters: Parameters::published(self.filled((preset.make)())?),
                origin: "costs by state and distance as published (David et al. 2013)".to_owned(),
                model: None,
            },
            None => self.of_file()?,
        };
        let costs = self.what_if.apply(parameters.machine.costs(), parameters.machine.units_per_us());
        let parameters = parameters.with_costs(costs).map_err(Failure::input)?;
        let corner = corners(&parameters.machine).into_iter().nth(self.corner);
        let costs = corner.map(|(_, machine)| machine.costs().clone());
        let parameters = match costs {
            Some(costs) => parameters.with_costs(costs).map_err(Failure::input)?,
            None => parameters,
        };
        // A machine with other times of transfers is planned for as it is; the other changes are not in a model.
        let model = model.filter(|_| self.what_if.interconnect.is_none());
        Ok(Loaded { parameters, origin, model })
    }

    fn filled(&self, machine: Machine) -> Result<Machine, Failure> {
        match self.fill {
            Fill::Clusters => Ok(machine),
            Fill::Spread => spread(&machine).map_err(Failure::input),
        }
    }

    fn no_siblings(&self) -> Failure {
        Failure::input(format!(
            "--smt: no two CPUs of {} share a core; expected a file with `core` of its `cpus`",
            self.machine
        ))
    }

    fn of_file(&self) -> Result<Loaded, Failure> {
        let path = Path::new(&self.machine);
        if !path.exists() {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let words = format!("no machine is called '{}': expected {} or a file", self.machine, names.join(", "));
            return Err(Failure::input(words));
        }
        let known = model_file::read(path)?;
        let known = match self.fill {
            Fill::Clusters => known,
            Fill::Spread => spread_model(&known),
        };
        let parameters = of_model(&known)
            .map_err(|error| Failure::input(format!("{} cannot be simulated: {error}", self.machine)))?;
        let parameters = match self.smt {
            true => with_siblings(parameters, &known)
                .map_err(|error| Failure::input(format!("{} cannot be simulated: {error}", self.machine)))?
                .ok_or_else(|| self.no_siblings())?,
            false => parameters,
        };
        let others = match known.extended.coherence {
            Some(_) => "costs of single accesses as it tells, others assumed",
            None => "all other costs assumed from them",
        };
        let origin = format!("transfers of lines {} in {}, {others}", known.provenance.kind, self.machine);
        // The same model, as the protocols behind the other door know it.
        let text = model_file::render(&known).map_err(Failure::environment)?;
        let model = corecast_sim::model_file::parse(text).map_err(Failure::environment)?;
        Ok(Loaded { parameters, origin, model: Some(model) })
    }
}
