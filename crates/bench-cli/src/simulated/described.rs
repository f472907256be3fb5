//! Which machine is simulated: a published one by name, or that of a model file.

use std::path::Path;

use corecast::machine::model_file;
use corecast_sim::machine::{Machine, published};
use corecast_sim::of_model;
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
    /// The factor of the interconnect's times.
    pub(crate) interconnect: f64,
}

impl Described {
    /// The machine, and where its costs come from in words.
    ///
    /// # Errors
    /// Bad input: no such file, a file that is no model, or a machine that cannot be simulated.
    pub(crate) fn load(&self) -> Result<(Machine, String), Failure> {
        let preset = PRESETS.iter().find(|preset| preset.name == self.machine);
        let (machine, origin) = match preset {
            Some(preset) => {
                ((preset.make)(), "costs by state and distance as published (David et al. 2013)".to_owned())
            }
            None => self.of_file()?,
        };
        let costs = machine.costs().clone().with_interconnect(self.interconnect);
        Ok((machine.with_costs(costs).map_err(Failure::input)?, origin))
    }

    fn of_file(&self) -> Result<(Machine, String), Failure> {
        let path = Path::new(&self.machine);
        if !path.exists() {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let words = format!("no machine is called '{}': expected {} or a file", self.machine, names.join(", "));
            return Err(Failure::input(words));
        }
        let known = model_file::read(path)?;
        let machine = of_model(&known)
            .map_err(|error| Failure::input(format!("{} cannot be simulated: {error}", self.machine)))?;
        let others = match known.extended.coherence {
            Some(_) => "costs of single accesses as it tells, others assumed",
            None => "all other costs assumed from them",
        };
        let origin = format!("transfers of lines {} in {}, {others}", known.provenance.kind, self.machine);
        Ok((machine.machine, origin))
    }
}
