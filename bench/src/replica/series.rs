//! The forms of our own replication that are raced: one list, to which another transport adds its lines.

use corecast::replica::Placement;

/// One form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Series {
    /// Its name in every table.
    pub(super) name: &'static str,
    pub(super) placement: Placement,
    /// Whether reads look into the lines of the table, beside the thread that applies, or take the lock of the state.
    pub(super) reads_lines: bool,
    /// Whether it is a form of its own, or differs in its reads only.
    pub(super) is_form: bool,
}

/// All of them. The log of `shm` lies in memory that outlives its writer.
pub(super) const SERIES: &[Series] = &[
    Series { name: "shm-separate", placement: Placement::Separate, reads_lines: false, is_form: true },
    Series { name: "shm-fused", placement: Placement::Fused, reads_lines: false, is_form: true },
    Series { name: "shm-separate-lines", placement: Placement::Separate, reads_lines: true, is_form: false },
    Series { name: "shm-fused-lines", placement: Placement::Fused, reads_lines: true, is_form: false },
];

/// The forms whose writes differ.
pub(super) fn forms() -> impl Iterator<Item = &'static Series> {
    SERIES.iter().filter(|series| series.is_form)
}
