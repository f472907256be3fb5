//! Notices when the cost of a line transfer between the same two CPUs changes.
//!
//! A hypervisor moves virtual CPUs between core complexes without telling: a transfer then takes five times as long, for
//! tens of seconds. Numbers from before and after must not be compared, so a probe runs beside every round. This counts
//! the changes it shows, and says which rounds count. One odd probe is no change, but its rounds do not count: a change takes
//! two probes in a row that agree.

/// A probe that differs from the level by more than this factor begins a change.
const FACTOR: f64 = 1.6;

/// The sequence of probes so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placement {
    level: Option<f64>,
    candidate: Option<f64>,
    changes: u32,
}

impl Placement {
    /// Takes in the next probe.
    pub(crate) fn observe(&mut self, probe_ns: f64) {
        let Some(level) = self.level else {
            self.level = Some(probe_ns);
            return;
        };
        if agree(level, probe_ns) {
            self.candidate = None;
        } else if self.candidate.is_some_and(|candidate| agree(candidate, probe_ns)) {
            self.level = self.candidate.take();
            self.changes += 1;
        } else {
            self.candidate = Some(probe_ns);
        }
    }

    /// How often the level changed.
    pub(crate) fn changes(&self) -> u32 {
        self.changes
    }
}

fn agree(a: f64, b: f64) -> bool {
    a.max(b) <= FACTOR * a.min(b)
}

/// Which of the rounds between these probes count: those during which the cost did not change, at the cost that most rounds
/// had. All count if none would.
pub(crate) fn steady_rounds(probes_ns: &[f64]) -> Vec<bool> {
    let rounds: Vec<(f64, f64)> = probes_ns.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let alike = |at: f64| rounds.iter().filter(|&&(before, after)| agree(before, at) && agree(after, at)).count();
    let usual = rounds.iter().map(|&(before, _)| before).max_by_key(|&at| alike(at)).unwrap_or(0.0);
    let is_steady = |&(before, after): &(f64, f64)| agree(before, after) && agree(before, usual) && agree(after, usual);
    let steady: Vec<bool> = rounds.iter().map(is_steady).collect();
    if steady.contains(&true) { steady } else { vec![true; steady.len()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(probes: &[f64]) -> u32 {
        let mut placement = Placement::default();
        probes.iter().for_each(|&probe| placement.observe(probe));
        placement.changes()
    }

    #[test]
    fn rounds_in_which_the_cpus_were_moved_do_not_count_and_those_elsewhere_neither() {
        let mostly_near = [50.0, 52.0, 49.0, 50.0, 250.0, 260.0, 255.0];
        assert_eq!(steady_rounds(&mostly_near), [true, true, true, false, false, false]);
        assert_eq!(steady_rounds(&[250.0, 260.0, 50.0, 51.0, 52.0, 50.0]), [false, false, true, true, true]);
        assert_eq!(steady_rounds(&[50.0, 400.0, 50.0, 51.0]), [false, false, true]);
        assert_eq!(steady_rounds(&[50.0, 200.0]), [true], "there is no other");
        assert_eq!(steady_rounds(&[50.0]), [false; 0]);
        assert_eq!(steady_rounds(&[]), [false; 0]);
    }

    #[test]
    fn a_lasting_change_counts_and_noise_does_not() {
        assert_eq!(changes(&[50.0, 52.0, 49.0, 60.0, 50.0]), 0);
        assert_eq!(changes(&[50.0, 400.0, 50.0, 51.0, 300.0, 50.0]), 0, "single odd probes");
        assert_eq!(changes(&[50.0, 50.0, 250.0, 260.0, 255.0]), 1);
        assert_eq!(changes(&[50.0, 250.0, 260.0, 52.0, 50.0, 51.0]), 2, "there and back");
        assert_eq!(changes(&[]), 0);
    }
}
