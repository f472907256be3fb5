//! Increments of contended lines: what lines and their homes can serve where several CPUs, clusters and packages want them.

use serde::{Deserialize, Serialize};

use super::{LONGEST, check_number, wrong};
use crate::machine_error::MachineError;

/// The most lines of a row.
const MOST_LINES: u32 = 65_536;

/// Increments by all CPUs of some clusters at once, each of a line that is drawn at random from some of one home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contended {
    /// The number of clusters, from the first on.
    pub clusters: usize,
    /// The positions of their CPUs, as `distances` has them; the first one has touched the lines first.
    pub cpus: Vec<usize>,
    /// The number of lines.
    pub lines: u32,
    /// The median time of an increment, in the unit of `coherence`.
    pub time: f64,
    /// The share of the increments whose line came from another CPU: a CPU that has a line may increment it several times.
    pub handed: f64,
}

impl Contended {
    /// The time from one move of a line between two CPUs to the next, of all lines together; `None` where none moved, or
    /// increments took no time.
    ///
    /// ```
    /// use corecast_machine::Contended;
    ///
    /// let row = Contended { clusters: 1, cpus: vec![0, 1, 2, 3], lines: 1, time: 120.0, handed: 0.5 };
    /// assert_eq!(row.between_moves(), Some(60.0));
    /// ```
    #[must_use]
    pub fn between_moves(&self) -> Option<f64> {
        let moves = self.cpus.len() as f64 * self.handed;
        (moves > 0.0 && self.time > 0.0).then(|| self.time / moves)
    }

    /// Checks that the row with this number is one of a machine with `cpus` CPUs.
    pub(super) fn check(&self, number: usize, cpus: usize) -> Result<(), MachineError> {
        let error = |rule: String| Err(wrong("contended", rule));
        let Self { clusters, lines, .. } = self;
        if *clusters == 0 {
            return error(format!("has 0 clusters in row {number}, expected 1 or more"));
        }
        if self.cpus.is_empty() {
            return error(format!("has no CPUs in row {number}"));
        }
        for (place, cpu) in self.cpus.iter().enumerate() {
            if *cpu >= cpus {
                return error(format!("has CPU {cpu} in row {number}, and there are {cpus}, from 0"));
            }
            if self.cpus[..place].contains(cpu) {
                return error(format!("has CPU {cpu} twice in row {number}"));
            }
        }
        if !(1..=MOST_LINES).contains(lines) {
            return error(format!("has {lines} lines in row {number}, expected from 1 to {MOST_LINES}"));
        }
        check_number("contended.time", self.time, LONGEST)?;
        check_number("contended.handed", self.handed, 1.0)
    }

    /// The same row of a machine that has the CPUs at these positions; `None` if one of its CPUs is not among them.
    pub(super) fn restricted_to(&self, kept: &[usize]) -> Option<Self> {
        let position = |cpu: &usize| kept.iter().position(|kept| kept == cpu);
        let cpus = self.cpus.iter().map(position).collect::<Option<Vec<usize>>>()?;
        Some(Self { cpus, ..self.clone() })
    }
}
