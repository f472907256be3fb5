//! The machine: topology, measurement and model files of `corecast-machine`, and [`detect`].

pub use corecast_machine::{
    BoundedReadError, ByDistance, Cache, CacheMiss, Coherence, CoherenceProtocol, Contended, CoreKind, CostMatrix,
    CostMatrixError, Cpu, Curve, DistanceClass, Extended, Fingerprint, LineProbe, LineReceiver, LineSender, MAX_COST,
    MOST_AHEAD, MOST_RACES, Machine, MachineError, ModelError, ModelFileError, NumaDistances, Origin, Parameter, Probe,
    ProbeReceiver, ProbeSender, Provenance, RaceCheck, SmtCosts, StateCosts, SystemCosts, Topology, TopologyJson, Unit,
    clusters, distance_classes, measure, model_file, pin, read_bounded, source, user_cache_folder, write_atomically,
};

use corecast_machine::source::{DiscoverError, DiscoveryRequest, discover};

/// The model of the machine this runs on: the one that was measured and cached (`corecast measure` does that), or else
/// one with costs assumed from the topology alone, whose `provenance.kind` says so. Takes about a millisecond.
///
/// # Errors
/// Only if not even the CPUs of this process can be found out.
pub fn detect() -> Result<Machine, DiscoverError> {
    let topology = discover(&DiscoveryRequest::default())?;
    let cached = Cache::of_user().and_then(|cache| cache.load(&Fingerprint::of_this_machine(&topology)).ok());
    Ok(cached.unwrap_or_else(|| Machine::from_topology(&topology)))
}
