//! Whether the threads of a trial keep their CPUs.

use std::fmt;

use corecast_sim_core::Run;

/// Whether the threads of a trial keep their CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Each stays on its CPU.
    #[default]
    Pinned,
    /// They may move among the CPUs of the trial. Another program computes on the first of these, so that they do.
    Unpinned,
}

impl Placement {
    /// Once the threads have been put on their CPUs.
    pub(super) fn apply(self, run: &mut Run) {
        if self == Self::Pinned {
            return;
        }
        let cpus = run.cpus_in_use();
        run.let_move(&cpus);
        cpus.first().into_iter().for_each(|&cpu| run.foreign(cpu, 0));
    }
}

impl fmt::Display for Placement {
    /// Words behind those of a trial; none of one that is pinned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pinned => "",
            Self::Unpinned => ", among which they move",
        })
    }
}
