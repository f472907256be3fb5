//! Which machine is simulated: a published one by name, or that of a model file.

use std::path::Path;

use corecast::Machine as Known;
use corecast::machine::{Unit, model_file};
use corecast_sim::machine::{Machine, MachineError, Seat, published};
use corecast_sim::{Known as Transfers, assumed};
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

/// Of a file in cycles, which does not tell the clock.
const ASSUMED_CYCLES_PER_US: f64 = 2000.0;
/// The time to look at a line that is there already, which is part of what a model file calls receiving.
const POLL_NS: f64 = 10.0;
const POLL_CYCLES: f64 = 40.0;
/// The part of a published one-way time by atomics that a load takes.
const LOAD_OF_DERIVED: f64 = 0.85;

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
        let origin = format!(
            "transfers of lines {} in {}, all other costs assumed from them",
            known.provenance.kind, self.machine
        );
        Ok((machine, origin))
    }
}

fn of_model(known: &Known) -> Result<Machine, MachineError> {
    let (units_per_us, poll) = match known.unit {
        Unit::Ns => (1000.0, POLL_NS),
        Unit::Cycles => (ASSUMED_CYCLES_PER_US, POLL_CYCLES),
    };
    let is_measured = known.provenance.kind == "measured";
    let transfer = |one: usize, other: usize| match is_measured {
        true => (known.receive.get(one, other) - poll).max(poll),
        false => LOAD_OF_DERIVED * (known.send.get(one, other) + known.receive.get(one, other)),
    };
    let count = known.cpus.len();
    let nodes = numbered(&known.numa_nodes());
    let packages: Vec<u32> =
        known.cpus.iter().zip(&nodes).map(|(cpu, &node)| cpu.package.unwrap_or(node.into())).collect();
    let seats = numbered(&packages).into_iter().zip(nodes).map(|(package, node)| Seat { package, node }).collect();
    let transfers = (0..count).map(|one| (0..count).map(|other| transfer(one, other)).collect()).collect();
    assumed(&Transfers { name: known.name.clone(), units_per_us, seats, transfers })
}

/// The same groups, numbered from 0 without a gap.
fn numbered(groups: &[u32]) -> Vec<u16> {
    let mut known = groups.to_vec();
    known.sort_unstable();
    known.dedup();
    groups.iter().map(|group| known.binary_search(group).unwrap_or(0) as u16).collect()
}
