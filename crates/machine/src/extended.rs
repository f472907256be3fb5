//! The optional parts of a model, beyond the costs of pairs.

use std::collections::BTreeMap;

use corecast_base::CpuSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::coherence::Coherence;
use crate::cost_matrix::{CostMatrix, MAX_COST, is_cost};
use crate::curve::{self, Curve};
use crate::machine_error::MachineError;
use crate::race::RaceCheck;

/// The parts of a model beyond pairwise costs; each is optional.
///
/// Matrices are indexed as the costs are and in the machine's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extended {
    /// One-way hand-over of a bare cache line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce: Option<CostMatrix>,
    /// The median absolute deviation of each send cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_spread: Option<CostMatrix>,
    /// The median absolute deviation of each receive cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_spread: Option<CostMatrix>,
    /// Nanoseconds from a futex wake to the sleeper's first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ns: Option<f64>,
    /// Nanoseconds of one yield to the scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yield_ns: Option<f64>,
    /// Nanoseconds of one spin-loop hint (PAUSE).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<f64>,
    /// The time that a sender is busy with k sends in a row, to k receivers if there are as many, beginning with
    /// an empty store buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<Curve>,
    /// The time that a receiver is busy with one message, already there, from each of k senders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<Curve>,
    /// The time from a write to one line until the last of k readers that poll it has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Curve>,
    /// The time in which k CPUs that all increment one word have each had a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_add: Option<Curve>,
    /// Nanoseconds from one holder of a lock to the next where k threads wait for it, by their way of waiting: the
    /// modes of `corecast_lock::Auto` by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lock_hand_over_ns: BTreeMap<String, Curve>,
    /// The costs of single accesses to cache lines, by the state of the line and the distance of its holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<Coherence>,
    /// How well predictions held in races, oldest first: see [`Machine::record_race`](crate::Machine::record_race).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<RaceCheck>,
    /// The machine, kernel and set of CPUs of the measurement: see [`crate::Fingerprint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// When it was measured: an RFC 3339 date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_at: Option<String>,
    /// Remarks of the measurer, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the numbers should be doubted, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Fields of the file that this version does not know, kept as they are when it is written again.
    #[serde(skip)]
    pub other: BTreeMap<String, Value>,
}

impl Extended {
    /// Checks that each cost is valid, and that those of lines are of this number of CPUs.
    pub(crate) fn check_costs(&self, cpus: usize) -> Result<(), MachineError> {
        let single = [("wake_ns", self.wake_ns), ("yield_ns", self.yield_ns), ("pause_ns", self.pause_ns)];
        for (field, cost) in single {
            if let Some(cost) = cost.filter(|&cost| !is_cost(cost)) {
                return Err(MachineError::NoCost { field, cost });
            }
        }
        let curves = [
            ("fan_out", &self.fan_out),
            ("fan_in", &self.fan_in),
            ("readers", &self.readers),
            ("fetch_add", &self.fetch_add),
        ];
        curves.iter().try_for_each(|(field, curve)| curve.iter().try_for_each(|curve| curve::check(field, curve)))?;
        let check = |(mode, curve): (&String, &Curve)| {
            curve::check_positive("lock_hand_over_ns", curve).map_err(|error| of_mode(mode, error))
        };
        self.lock_hand_over_ns.iter().try_for_each(check)?;
        self.coherence.iter().try_for_each(|coherence| coherence.check(cpus))
    }

    /// The part of it for the CPUs at the positions `kept`, which are among `cpus`.
    pub(crate) fn restricted_to(&self, kept: &[usize], cpus: &CpuSet) -> Self {
        let part = |matrix: &Option<CostMatrix>| matrix.as_ref().map(|matrix| matrix.restricted_to(kept));
        let curve = |curve: &Option<Curve>, most| curve.as_ref().and_then(|curve| curve::up_to(most, curve));
        let others = kept.len().saturating_sub(1);
        let stays = |race: &&RaceCheck| race.members.difference(cpus).is_empty();
        Self {
            bounce: part(&self.bounce),
            send_spread: part(&self.send_spread),
            receive_spread: part(&self.receive_spread),
            fan_in: curve(&self.fan_in, others),
            readers: curve(&self.readers, others),
            fetch_add: curve(&self.fetch_add, kept.len()),
            lock_hand_over_ns: self.hand_overs_up_to(others),
            coherence: self.coherence.as_ref().map(|coherence| coherence.restricted_to(kept)),
            races: self.races.iter().filter(stays).cloned().collect(),
            ..self.clone()
        }
    }

    fn hand_overs_up_to(&self, most: usize) -> BTreeMap<String, Curve> {
        let part = |(mode, curve): (&String, &Curve)| Some((mode.clone(), curve::up_to(most, curve)?));
        self.lock_hand_over_ns.iter().filter_map(part).collect()
    }
}

/// The same error, with the name of the invalid curve.
fn of_mode(mode: &str, error: MachineError) -> MachineError {
    match error {
        MachineError::NoCurve { field, rule } => MachineError::NoCurve { field, rule: format!("of {mode} {rule}") },
        MachineError::NoCost { field, cost } => {
            let rule = format!("of {mode} has a cost of {cost}, expected a number above 0, up to {MAX_COST:e}");
            MachineError::NoCurve { field, rule }
        }
        other => other,
    }
}
