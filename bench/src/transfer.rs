//! The cost of handing over a bare cache line, between one pair of CPUs for each distance.

use corecast::base::CpuSet;
use corecast::machine::{Machine, distance_classes};
use serde::Serialize;

use corecast_race::error::BenchError;
use corecast_race::options::Options;
use corecast_race::race::LineProbe;

/// Probes of each pair.
const PROBES: usize = 9;

/// The hand-over between two CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineTransfer {
    /// The distance of the two in words.
    pub distance: &'static str,
    /// The two.
    pub cpus: [u32; 2],
    /// The median of the probes, for one way; `null` if they failed.
    pub line_ns: Option<f64>,
}

/// The first pair at each distance among these CPUs, from near to far; none if there is only one CPU.
pub(crate) fn transfers(machine: &Machine, cpus: &CpuSet, options: &Options) -> Result<Vec<LineTransfer>, BenchError> {
    let machine = machine.restricted_to(cpus);
    let mut transfers = Vec::new();
    for class in distance_classes(&machine) {
        let (first, second) = class.pairs[0];
        let pair = [first, second].map(|position| machine.cpus[position].id);
        let mut probe = LineProbe::start(&pair.into_iter().collect())?;
        for _ in 0..PROBES {
            options.go_on()?;
            probe.iter_mut().for_each(LineProbe::probe);
        }
        let line_ns = probe.as_ref().and_then(LineProbe::median_ns);
        transfers.push(LineTransfer { distance: class.name, cpus: pair.map(|cpu| cpu.get()), line_ns });
    }
    Ok(transfers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn there_is_a_transfer_for_each_distance_and_none_for_one_cpu() {
        let machine = this_machine();
        let (cpus, options) = (machine.cpu_set(), Options::default());
        let found = transfers(&machine, &cpus, &options).expect("allowed CPUs");
        assert_eq!(found.len(), distance_classes(&machine).len());
        assert!(found.iter().all(|found| found.line_ns.is_some_and(|ns| ns > 0.0)), "{found:?}");
        let one: CpuSet = cpus.iter().take(1).collect();
        assert_eq!(transfers(&machine, &one, &options), Ok(Vec::new()));
        options.cancel.cancel();
        assert_eq!(transfers(&machine, &cpus, &options).is_err(), cpus.len() > 1);
    }
}
