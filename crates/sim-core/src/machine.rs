//! A machine as the simulation sees it: how far its CPUs are from each other, and the costs of accesses.

use crate::costs::{Costs, Ticks};
use crate::error::MachineError;
use crate::smt::Smt;

/// The most CPUs.
pub const MAX_CPUS: usize = 4096;

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    name: String,
    /// Units in a microsecond.
    per_us: f64,
    /// By CPU: its package, and the node whose memory it touches first.
    locations: Vec<Location>,
    /// The distance of each pair of CPUs, row by row.
    distances: Vec<u8>,
    farthest: u8,
    /// The first CPU of each node.
    firsts: Vec<usize>,
    costs: Costs,
    /// The costs of CPUs that share a core; `None` where none do.
    smt: Option<Smt>,
    /// Of each CPU, the others of its core; empty where no CPUs share one.
    siblings: Vec<Vec<usize>>,
}

/// The place of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The package.
    pub package: u16,
    /// The node, which is home to the lines that its CPUs touch first. Nodes are numbered from 0.
    pub node: u16,
}

impl Machine {
    /// A machine of these CPUs. `distance` gives the distance of two CPUs, 0 for the nearest: the times of [`Costs`] by distance
    /// have an entry for each.
    ///
    /// # Errors
    /// [`MachineError`] if there are no CPUs or too many, if a node has none, or if the times of a distance are missing.
    pub fn new(
        name: &str,
        units_per_us: f64,
        locations: Vec<Location>,
        distance: impl Fn(usize, usize) -> u8,
        costs: Costs,
    ) -> Result<Self, MachineError> {
        let cpus = locations.len();
        if cpus == 0 || cpus > MAX_CPUS {
            return Err(MachineError::Cpus { cpus, most: MAX_CPUS });
        }
        let distances: Vec<u8> = (0..cpus * cpus).map(|pair| distance(pair / cpus, pair % cpus)).collect();
        let nodes = locations.iter().map(|location| usize::from(location.node)).max().map_or(0, |last| last + 1);
        let first = |node: usize| locations.iter().position(|location| usize::from(location.node) == node);
        let firsts: Result<_, _> = (0..nodes).map(|node| first(node).ok_or(MachineError::EmptyNode { node })).collect();
        let farthest = distances.iter().max().copied().unwrap_or(0);
        check_costs(&costs, usize::from(farthest) + 1)?;
        let (name, per_us, firsts) = (name.to_owned(), units_per_us, firsts?);
        Ok(Self { name, per_us, locations, distances, farthest, firsts, costs, smt: None, siblings: Vec::new() })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its CPUs.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.locations.len()
    }

    /// The number of its nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.firsts.len()
    }

    /// The place of a CPU.
    #[must_use]
    pub fn location(&self, cpu: usize) -> Location {
        self.locations[cpu]
    }

    /// Its costs.
    #[must_use]
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// The same machine with other costs.
    ///
    /// # Errors
    /// [`MachineError::Times`] if the times of a distance are missing.
    pub fn with_costs(mut self, costs: Costs) -> Result<Self, MachineError> {
        check_costs(&costs, self.farthest() + 1)?;
        self.costs = costs;
        Ok(self)
    }

    /// The same machine with CPUs that share cores, of which `core_of` gives the number for each CPU. Before that each CPU has a
    /// core for itself.
    ///
    /// # Errors
    /// [`MachineError::Slowdown`] if the factor is no number, or below 1.
    pub fn with_smt(mut self, smt: Smt, core_of: impl Fn(usize) -> usize) -> Result<Self, MachineError> {
        if !(smt.slowdown >= 1.0 && smt.slowdown.is_finite()) {
            return Err(MachineError::Slowdown);
        }
        let cores: Vec<usize> = (0..self.cpus()).map(core_of).collect();
        let others =
            |cpu: usize| (0..cores.len()).filter(|&other| other != cpu && cores[other] == cores[cpu]).collect();
        self.siblings = (0..cores.len()).map(others).collect();
        self.smt = Some(smt);
        Ok(self)
    }

    /// The costs of CPUs that share a core, if the machine has such.
    #[must_use]
    pub fn smt(&self) -> Option<Smt> {
        self.smt
    }

    /// The other CPUs of a CPU's core.
    #[must_use]
    pub fn siblings(&self, cpu: usize) -> &[usize] {
        self.siblings.get(cpu).map_or(&[], Vec::as_slice)
    }

    /// Units in a microsecond.
    #[must_use]
    pub fn units_per_us(&self) -> f64 {
        self.per_us
    }

    /// This time in nanoseconds.
    #[must_use]
    pub fn ns(&self, ticks: Ticks) -> f64 {
        ticks as f64 / crate::costs::TICKS as f64 / self.per_us * 1000.0
    }

    /// This number of nanoseconds in ticks, rounded up, so that a thread which waits for a time finds that it has passed.
    #[must_use]
    pub fn ticks(&self, ns: u64) -> Ticks {
        (ns as f64 * crate::costs::TICKS as f64 * self.per_us / 1000.0).ceil() as Ticks
    }

    /// The distance of two CPUs.
    #[must_use]
    pub fn distance(&self, one: usize, other: usize) -> usize {
        usize::from(self.distances[one * self.locations.len() + other])
    }

    /// The greatest distance.
    pub(crate) fn farthest(&self) -> usize {
        usize::from(self.farthest)
    }

    /// The distance of a CPU from the memory of a node.
    pub(crate) fn distance_of_node(&self, node: u16, cpu: usize) -> usize {
        if self.locations[cpu].node == node { 0 } else { self.distance(self.first_of(node), cpu) }
    }

    /// The first CPU of a node.
    pub(crate) fn first_of(&self, node: u16) -> usize {
        self.firsts[usize::from(node)]
    }
}

/// That there is a time for each of the distances.
fn check_costs(costs: &Costs, distances: usize) -> Result<(), MachineError> {
    let Costs { load, store, read_modify_write, memory, gap, protocol, .. } = costs;
    let has_owned = protocol.has_owned;
    let mut rows = vec![("memory", memory), ("gap", gap)];
    for (name, by_state) in [("load", load), ("store", store), ("read_modify_write", read_modify_write)] {
        rows.extend([(name, &by_state.modified), (name, &by_state.exclusive), (name, &by_state.shared)]);
        rows.extend(has_owned.then_some((name, &by_state.owned)));
    }
    match rows.into_iter().find(|(_, times)| times.len() < distances) {
        Some((name, times)) => Err(MachineError::Times { name, times: times.len(), distances }),
        None if costs.store_buffer == 0 => Err(MachineError::NoStoreBuffer),
        None if costs.pause == 0 || costs.system.give_way == 0 => Err(MachineError::NoPause),
        None if costs.system.slice == 0 => Err(MachineError::NoSlice),
        None => Ok(()),
    }
}
