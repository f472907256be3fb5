//! The model of a machine: its CPUs and the cost of a message between every two of them.
//!
//! Costs are directed and have two parts: the time that the sender is busy, and the time that the receiver is. They
//! are indexed by *position* in [`Machine::cpus`]; [`Machine::position`] finds the position of a CPU id. Where nothing
//! was measured yet, [`Machine::from_topology`] assumes costs and says so in [`Machine::provenance`].
//!
//! Source: S. Kaestle, R. Achermann, R. Haecki, M. Hoffmann, S. Ramos, T. Roscoe, Machine-Aware Atomic Broadcast Trees
//! for Multicores, OSDI 2016 (the pairwise send and receive model).

use std::collections::BTreeMap;
use std::fmt;

use corecast_base::{CpuId, CpuSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cost_matrix::CostMatrix;
use crate::extended::Extended;
use crate::machine_error::MachineError;
use crate::race::{MOST_RACES, RaceCheck};
use crate::topology::Cpu;
use crate::unit::Unit;

/// The CPUs of a machine and what messages between them cost.
///
/// ```
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_base::CpuId;
/// let cpus = [4, 6].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// assert_eq!(machine.position(CpuId::new(6)), Some(1));
/// assert!(machine.send.get(0, 1) > 0.0);
/// assert_eq!(machine.provenance.kind, "assumed");
/// ```
#[derive(Clone, PartialEq)]
pub struct Machine {
    /// The name that people use: free text.
    pub name: String,
    /// The unit of every cost below that does not name its own.
    pub unit: Unit,
    /// The CPUs; a CPU's place in this list is its row and column in every matrix. Each id once.
    pub cpus: Vec<Cpu>,
    /// `send.get(i, j)`: the time that i is busy sending one message to j.
    pub send: CostMatrix,
    /// `receive.get(i, j)`: the time that **j** is busy receiving one message from i.
    pub receive: CostMatrix,
    /// Where the costs come from.
    pub provenance: Provenance,
    /// Data beyond pairwise costs.
    pub extended: Extended,
}

/// Where the numbers of a [`Machine`] come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// `measured` (pairwise send and receive), `derived` (from a published latency), `assumed` (from the topology
    /// alone), or what a file written by others says.
    pub kind: String,
    /// The origin of the numbers, in words.
    #[serde(default)]
    pub source: String,
    /// Where the NUMA nodes come from, in words.
    #[serde(default)]
    pub groups: String,
    /// Further fields of the file, kept as they are.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

impl Machine {
    /// The place of a CPU in [`Machine::cpus`], which is its row and column.
    #[must_use]
    pub fn position(&self, cpu: CpuId) -> Option<usize> {
        self.cpus.iter().position(|known| known.id == cpu)
    }

    /// The ids of all its CPUs.
    #[must_use]
    pub fn cpu_set(&self) -> CpuSet {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }

    /// The NUMA node of each CPU, by position.
    ///
    /// Where the node of some CPU is unknown, the next best grouping known of *all* CPUs stands in: the package, then
    /// the third-level cache, then the coarsest of the [clusters](Machine::cost_levels) that measured costs show, then
    /// one node for all. So a planner can rely on every CPU having a node.
    #[must_use]
    pub fn numa_nodes(&self) -> Vec<u32> {
        self.known_groups().or_else(|| self.measured_nodes()).unwrap_or_else(|| vec![0; self.cpus.len()])
    }

    /// The best grouping that the topology has for all CPUs.
    pub(crate) fn known_groups(&self) -> Option<Vec<u32>> {
        let groupings: [fn(&Cpu) -> Option<u32>; 3] = [|cpu| cpu.numa, |cpu| cpu.package, |cpu| cpu.l3];
        groupings.iter().find_map(|group| self.cpus.iter().map(group).collect())
    }

    /// The machine reduced to these CPUs, in the order of [`Machine::cpus`]. CPUs it does not have are ignored; costs
    /// between the others are unchanged, races with others are left out, and costs by the number of participants end
    /// where there are no more. Fields that [`Extended::other`] keeps stay as they are.
    #[must_use]
    pub fn restricted_to(&self, cpus: &CpuSet) -> Self {
        let kept: Vec<usize> = (0..self.cpus.len()).filter(|&i| cpus.contains(self.cpus[i].id)).collect();
        Self {
            cpus: kept.iter().map(|&i| self.cpus[i].clone()).collect(),
            send: self.send.restricted_to(&kept),
            receive: self.receive.restricted_to(&kept),
            extended: self.extended.restricted_to(&kept, cpus),
            ..self.clone()
        }
    }

    /// Checks that the parts fit together: CPUs there and distinct, each matrix with one row for each of them, extended
    /// extended costs valid, races of this machine.
    ///
    /// # Errors
    ///
    /// The first rule broken.
    pub fn check(&self) -> Result<(), MachineError> {
        if self.cpus.is_empty() {
            return Err(MachineError::NoCpus);
        }
        let mut ids: Vec<CpuId> = self.cpus.iter().map(|cpu| cpu.id).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(MachineError::DuplicateCpu { cpu: pair[0] });
        }
        self.check_matrices()?;
        self.extended.check_costs(self.cpus.len())?;
        self.check_races()
    }

    fn check_matrices(&self) -> Result<(), MachineError> {
        let matrices = [
            ("send", Some(&self.send)),
            ("receive", Some(&self.receive)),
            ("bounce", self.extended.bounce.as_ref()),
            ("send_spread", self.extended.send_spread.as_ref()),
            ("receive_spread", self.extended.receive_spread.as_ref()),
        ];
        let expected = self.cpus.len();
        for (matrix, costs) in matrices.into_iter().filter_map(|(name, costs)| Some((name, costs?))) {
            if costs.len() != expected {
                return Err(MachineError::RowCount { matrix, found: costs.len(), expected });
            }
        }
        Ok(())
    }
}

impl Machine {
    /// Keeps the result of a race. An entry of the same race is replaced; beyond [`MOST_RACES`] the oldest is dropped.
    ///
    /// # Errors
    ///
    /// If it cannot be a race of this machine: it has no members, or CPUs that the machine lacks, or invalid costs.
    /// The machine stays as it was.
    pub fn record_race(&mut self, race: RaceCheck) -> Result<(), MachineError> {
        check_race(&race, &self.cpu_set())?;
        let races = &mut self.extended.races;
        races.retain(|known| !known.is_same_race(&race));
        races.push(race);
        races.drain(..races.len().saturating_sub(MOST_RACES));
        Ok(())
    }

    pub(crate) fn check_races(&self) -> Result<(), MachineError> {
        let (races, cpus) = (&self.extended.races, self.cpu_set());
        if races.len() > MOST_RACES {
            return Err(MachineError::TooManyRaces { found: races.len() });
        }
        for (at, race) in races.iter().enumerate() {
            check_race(race, &cpus)?;
            if races[..at].iter().any(|earlier| earlier.is_same_race(race)) {
                return Err(no_race(race, "is listed twice".to_owned()));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machine({:?}, {} CPUs, in {})", self.name, self.cpus.len(), self.unit)
    }
}

fn check_race(race: &RaceCheck, cpus: &CpuSet) -> Result<(), MachineError> {
    race.check(cpus).map_err(|rule| no_race(race, rule))
}

fn no_race(race: &RaceCheck, rule: String) -> MachineError {
    MachineError::NoRace { operation: race.operation.clone(), algorithm: race.algorithm.clone(), rule }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn machine(ids: &[u32]) -> Machine {
        let cpus: Vec<Cpu> = ids.iter().map(|&id| Cpu::flat(CpuId::new(id))).collect();
        let costs = CostMatrix::from_fn(ids.len(), |i, j| if i == j { 0.0 } else { (10 * i + j) as f64 });
        let costs = costs.expect("valid costs");
        Machine {
            name: "test".to_owned(),
            unit: Unit::Ns,
            cpus,
            send: costs.clone(),
            receive: costs.clone(),
            provenance: Provenance::default(),
            extended: Extended { bounce: Some(costs), ..Extended::default() },
        }
    }

    #[test]
    fn debug_is_one_short_line() {
        let machine = machine(&std::array::from_fn::<_, 16, _>(|id| id as u32));
        assert_eq!(format!("{machine:?}"), "Machine(\"test\", 16 CPUs, in ns)");
        assert_eq!(format!("{:?}", machine.send), "CostMatrix(16 rows, largest 164)");
        let topology = Topology { cpus: machine.cpus, source: "sysfs".to_owned(), ..Topology::default() };
        assert_eq!(format!("{topology:?}"), "Topology(16 CPUs by sysfs)");
    }

    #[test]
    fn restricting_keeps_the_costs_of_the_pairs_that_stay() {
        let part = machine(&[8, 3, 5]).restricted_to(&"5,8,99".parse().expect("a list"));
        assert_eq!(part.cpu_set().to_string(), "5,8");
        assert_eq!(part.send.get(0, 1), 2.0);
        assert_eq!(part.extended.bounce.as_ref().expect("kept").get(1, 0), 20.0);
        part.check().expect("still a machine");
    }

    #[test]
    fn check_names_what_does_not_fit() {
        let mut duplicate = machine(&[1, 2, 3]);
        duplicate.cpus[2].id = CpuId::new(1);
        let mut rows = machine(&[1, 2, 3]);
        rows.extended.send_spread = Some(CostMatrix::zero(2));
        let mut negative = machine(&[1, 2]);
        negative.extended.fan_in = Some(vec![(1, 3.0), (2, -1.0)]);
        for (bad, expected) in [
            (machine(&[]), "`cpus` is empty"),
            (duplicate, "CPU 1 is listed twice"),
            (rows, "`send_spread` has 2 rows, expected 3"),
            (negative, "`fan_in` is -1"),
        ] {
            let error = bad.check().expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_package_stands_in_for_unknown_nodes() {
        let mut machine = machine(&[0, 1]);
        assert_eq!(machine.numa_nodes(), [0, 0]);
        machine.cpus[0].package = Some(4);
        machine.cpus[1].package = Some(7);
        machine.cpus[0].numa = Some(1);
        assert_eq!(machine.numa_nodes(), [4, 7], "one unknown node makes the nodes unusable");
        machine.cpus[1].numa = Some(2);
        assert_eq!(machine.numa_nodes(), [1, 2]);
    }
}
