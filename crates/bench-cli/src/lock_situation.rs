//! A situation of `bench locks` in words, without its threads and locks.

use corecast_bench::LockCell;

/// How long locks are held and left alone, and what runs beside; empty where all of that is as usual.
pub(crate) fn words(cell: &LockCell) -> String {
    let mut words = String::new();
    if cell.hold_ns > 0 {
        words += &format!(", each held for {} ns", cell.hold_ns);
    }
    if let Some(times) = cell.gap {
        words += &format!(", {times} times that between");
    }
    match cell.foreign {
        0 => {}
        1 => words += ", 1 foreign thread beside",
        foreign => words += &format!(", {foreign} foreign threads beside"),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_settings_are_not_told() {
        let (pinned, oversubscribed, rows) = (true, false, Vec::new());
        let usual = LockCell {
            threads: 2,
            locks: 1,
            hold_ns: 0,
            gap: None,
            gap_ns: 200,
            foreign: 0,
            pinned,
            oversubscribed,
            rows,
        };
        assert_eq!(words(&usual), "");
        let loaded = LockCell { hold_ns: 20, gap: Some(10), gap_ns: 200, foreign: 1, ..usual };
        assert_eq!(words(&loaded), ", each held for 20 ns, 10 times that between, 1 foreign thread beside");
        assert!(words(&LockCell { foreign: 2, ..loaded }).ends_with(", 2 foreign threads beside"));
    }
}
