//! Results of live races beside the predictions of the model: the model's own check.
//!
//! A plan is chosen by predicted costs, and a race runs the best ones and takes the fastest. Each entry keeps both
//! numbers, so that a later planner knows how far to believe this model, for which operation, on which CPUs. The
//! same race run again takes the place of its entry; beyond [`MOST_RACES`] the oldest is dropped.

use corecast_base::{CpuId, CpuSet, MAX_CPU_ID};
use serde::{Deserialize, Serialize};

use crate::cost_matrix::is_cost;

/// The most races a model keeps.
pub const MOST_RACES: usize = 256;

/// One operation by one algorithm among some CPUs: predicted and measured.
///
/// ```
/// use corecast_machine::{Cpu, Machine, RaceCheck, Topology};
/// use corecast_base::CpuId;
/// let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let race = RaceCheck {
///     operation: "broadcast".to_owned(),
///     algorithm: "adaptive".to_owned(),
///     members: machine.cpu_set(),
///     predicted: 150.0,
///     measured: 180.0,
///     date: "2026-01-31T12:00:00Z".to_owned(),
/// };
/// assert_eq!(race.ratio(), Some(1.2));
/// machine.record_race(race.clone())?;
/// machine.record_race(race)?;
/// assert_eq!(machine.extended.races.len(), 1);
/// # Ok::<(), corecast_machine::MachineError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RaceFields", into = "RaceFields")]
pub struct RaceCheck {
    /// The operation: `broadcast`, `reduce`, `barrier`, `two-phase-commit`, or other text.
    pub operation: String,
    /// The algorithm or tree shape.
    pub algorithm: String,
    /// The CPUs that took part: at least one, all of the machine's.
    pub members: CpuSet,
    /// The prediction of the model, in the machine's unit.
    pub predicted: f64,
    /// The median of the race, in the machine's unit.
    pub measured: f64,
    /// The date of the race, in the form of RFC 3339.
    pub date: String,
}

impl RaceCheck {
    /// Measured divided by predicted: near 1 the model can be trusted. `None` if nothing was predicted.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        Some(self.measured / self.predicted).filter(|ratio| ratio.is_finite())
    }

    /// True if both are races of the same operation by the same algorithm among the same CPUs.
    #[must_use]
    pub fn is_same_race(&self, other: &Self) -> bool {
        (&self.operation, &self.algorithm, &self.members) == (&other.operation, &other.algorithm, &other.members)
    }

    /// Checks that this is a race among some of these CPUs; returns what is wrong with it.
    pub(crate) fn check(&self, cpus: &CpuSet) -> Result<(), String> {
        let broken = Err;
        if self.members.is_empty() {
            return broken("has no `members`".to_owned());
        }
        if let Some(&cpu) = self.members.difference(cpus).as_slice().first() {
            return broken(format!("has member CPU {cpu}, which is not among `cpus`"));
        }
        for (field, cost) in [("predicted", self.predicted), ("measured", self.measured)] {
            if !is_cost(cost) {
                return broken(format!("has `{field}` {cost}, expected a number of at least 0"));
            }
        }
        Ok(())
    }
}

/// An entry as the file has it.
#[derive(Serialize, Deserialize)]
struct RaceFields {
    operation: String,
    algorithm: String,
    members: Vec<u32>,
    predicted: f64,
    measured: f64,
    /// For people: derived when written, ignored when read.
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    date: String,
}

impl From<RaceCheck> for RaceFields {
    fn from(race: RaceCheck) -> Self {
        let (ratio, members) = (race.ratio(), race.members.iter().map(CpuId::get).collect());
        let RaceCheck { operation, algorithm, predicted, measured, date, .. } = race;
        Self { operation, algorithm, members, predicted, measured, ratio, date }
    }
}

impl TryFrom<RaceFields> for RaceCheck {
    type Error = String;

    fn try_from(fields: RaceFields) -> Result<Self, String> {
        if let Some(id) = fields.members.iter().find(|&&id| id > MAX_CPU_ID) {
            return Err(format!("member {id} of a race is above {MAX_CPU_ID}, the highest CPU id believed"));
        }
        let members = fields.members.into_iter().map(CpuId::new).collect();
        let RaceFields { operation, algorithm, predicted, measured, date, .. } = fields;
        Ok(Self { operation, algorithm, members, predicted, measured, date })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use crate::topology::{Cpu, Topology};

    fn machine(ids: u32) -> Machine {
        let cpus = (0..ids).map(|id| Cpu::flat(CpuId::new(id))).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    fn race(algorithm: &str, members: &str, measured: f64) -> RaceCheck {
        RaceCheck {
            operation: "reduce".to_owned(),
            algorithm: algorithm.to_owned(),
            members: members.parse().expect("a list"),
            predicted: 100.0,
            measured,
            date: "2026-01-31T12:00:00Z".to_owned(),
        }
    }

    #[test]
    fn the_same_race_is_replaced_and_others_are_kept() {
        let mut machine = machine(4);
        for (algorithm, members, measured) in
            [("binary", "0-3", 1.0), ("binary", "0-2", 2.0), ("mst", "0-3", 3.0), ("binary", "0-3", 4.0)]
        {
            machine.record_race(race(algorithm, members, measured)).expect("a race");
        }
        let measured: Vec<f64> = machine.extended.races.iter().map(|race| race.measured).collect();
        assert_eq!(measured, [2.0, 3.0, 4.0], "newest last");
        machine.check().expect("fits together");
    }

    #[test]
    fn the_oldest_go() {
        let mut machine = machine(2);
        for n in 0..MOST_RACES + 3 {
            machine.record_race(race(&n.to_string(), "0-1", 1.0)).expect("a race");
        }
        assert_eq!(machine.extended.races.len(), MOST_RACES);
        assert_eq!(machine.extended.races[0].algorithm, "3");
    }

    #[test]
    fn foreign_races_are_refused() {
        let mut machine = machine(2);
        let unpredicted = RaceCheck { predicted: f64::NAN, ..race("mst", "0-1", 1.0) };
        for (race, expected) in [
            (race("mst", "0-2", 1.0), "`reduce` by `mst` has member CPU 2, which is not among `cpus`"),
            (RaceCheck { members: CpuSet::default(), ..race("mst", "0", 1.0) }, "has no `members`"),
            (race("mst", "0", -1.0), "`measured` -1"),
            (race("mst", "0", f64::INFINITY), "`measured` inf"),
            (unpredicted, "`predicted` NaN"),
        ] {
            let error = machine.record_race(race.clone()).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
            machine.extended.races = vec![race];
            assert_eq!(machine.check().expect_err(expected).to_string(), error, "and in a file");
            machine.extended.races.clear();
        }
        machine.extended.races = vec![race("mst", "0-1", 1.0), race("mst", "0-1", 2.0)];
        assert!(machine.check().expect_err("twice").to_string().contains("listed twice"));
        machine.extended.races = (0..=MOST_RACES).map(|n| race(&n.to_string(), "0", 1.0)).collect();
        assert!(machine.check().expect_err("too many").to_string().contains("257 entries"));
    }

    #[test]
    fn races_among_cpus_that_stay_are_kept() {
        let mut machine = machine(4);
        machine.record_race(race("mst", "0-1", 1.0)).expect("a race");
        machine.record_race(race("mst", "0-3", 2.0)).expect("a race");
        let part = machine.restricted_to(&"0-2".parse().expect("a list"));
        assert_eq!(part.extended.races, [race("mst", "0-1", 1.0)]);
        part.check().expect("still a machine");
    }

    #[test]
    fn a_race_without_a_prediction_has_no_ratio() {
        assert_eq!(RaceCheck { predicted: 0.0, ..race("mst", "0", 1.0) }.ratio(), None);
        assert_eq!(RaceCheck { predicted: 0.0, ..race("mst", "0", 0.0) }.ratio(), None);
    }
}
