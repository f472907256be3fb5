//! Measurements of the machine at hand, small ones: what comes out is checked, how long it takes is not.

mod broken_probes;
mod cancelling;
mod real;

use corecast_base::CpuSet;
use corecast_machine::Topology;
use corecast_machine::measure::Options;
use corecast_machine::source::{DiscoveryRequest, discover};

/// This machine as discovered.
fn here() -> Topology {
    discover(&DiscoveryRequest::default()).expect("this machine has a topology")
}

/// Two CPUs of this machine, or `None`, said in words, if it has fewer.
fn two_cpus() -> Option<CpuSet> {
    let cpus: CpuSet = here().cpus.iter().take(2).map(|cpu| cpu.id).collect();
    if cpus.len() < 2 {
        corecast_testing::skipped("measuring", format!("only CPU {cpus} can be used, and a message takes two"));
        return None;
    }
    Some(cpus)
}

/// As little as possible, on these CPUs.
fn brief(cpus: CpuSet) -> Options<'static> {
    Options { cpus: Some(cpus), quick: true, budget: Some(std::time::Duration::ZERO), ..Options::default() }
}
