//! The demand Q1 on a run.

use corecast_race::gate::Gate;

use super::report::CrashReport;
use crate::rules::{Rule, at_most, judge};

const MESSAGES: &str = "--messages";
const FILES: &str = "--files";
const MESSAGES_FILES: &str = "--messages --files";
/// The kills and stops that Q1 asks for. Deaths at places in the code come on top.
const EVENTS: u64 = 10_000;

/// One rule for each kind of group.
const RULES: &[Rule<CrashReport>] = &[
    Rule::new(
        at_most(
            0.0,
            "Q1, 10,000 kills and stops in shared memory: writes lost or done twice, histories not linearizable or undecided, \
             groups diverged, stuck or gone",
            "corecast bench replica --crash --kills 10000 --seconds 3600",
        ),
        |report| found(report, ""),
    ),
    Rule::new(
        at_most(
            0.0,
            "Q1, the same over messages",
            "corecast bench replica --crash --messages --kills 10000 --seconds 3600",
        ),
        |report| found(report, MESSAGES),
    ),
    Rule::new(
        at_most(
            0.0,
            "Q1, the same in shared memory with files, all processes killed now and then",
            "corecast bench replica --crash --files --kills 10000 --seconds 3600",
        ),
        |report| found(report, FILES),
    ),
    Rule::new(
        at_most(
            0.0,
            "Q1, the same over messages with files",
            "corecast bench replica --crash --messages --files --kills 10000 --seconds 3600",
        ),
        |report| found(report, MESSAGES_FILES),
    ),
];

pub(super) fn gates(report: &CrashReport) -> Vec<Gate> {
    judge(RULES, report)
}

/// The options by which the groups of a run are of their kind.
fn kind(report: &CrashReport) -> &'static str {
    match (report.messages, report.files) {
        (false, false) => "",
        (true, false) => MESSAGES,
        (false, true) => FILES,
        (true, true) => MESSAGES_FILES,
    }
}

/// One wrong thing is enough for the verdict, however few events there were.
fn found(report: &CrashReport, options: &'static str) -> Result<f64, String> {
    if kind(report) != options {
        let neither = "neither `--messages` nor `--files`";
        return Err(if options.is_empty() { neither.to_owned() } else { format!("`{options}`") });
    }
    let counts = &report.counts;
    let wrong = [counts.lost, counts.twice, counts.not_linearizable, counts.undecided];
    let counted: u64 = wrong.into_iter().chain([counts.diverged, counts.stuck, counts.gone]).sum();
    // Some have no count: a client or a node that ended with an error of its own.
    let wrong = counted.max(report.faults.len() as u64);
    let is_enough = counts.kills + counts.stops >= EVENTS;
    if is_enough || wrong > 0 { Ok(wrong as f64) } else { Err(format!("`--kills {EVENTS} --seconds 3600`")) }
}

#[cfg(test)]
mod tests {
    use super::super::report::CrashEpisode;
    use super::*;
    use corecast_race::gate::Verdict;

    #[test]
    fn a_run_is_judged_once_it_is_long_enough_or_something_is_wrong() {
        let verdicts = |counts: CrashEpisode, messages| {
            let report = CrashReport { counts, messages, ..CrashReport::default() };
            gates(&report).iter().map(|gate| gate.verdict).collect::<Vec<_>>()
        };
        let counts = |kills, stops, undecided| CrashEpisode { kills, stops, undecided, ..CrashEpisode::default() };
        let [holds, missed, open] = [Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
        assert_eq!(verdicts(counts(7_000, 2_999, 0), false), [open; 4]);
        assert_eq!(verdicts(counts(7_000, 3_000, 0), false), [holds, open, open, open]);
        assert_eq!(verdicts(counts(7_000, 3_000, 0), true), [open, holds, open, open]);
        assert_eq!(verdicts(counts(10, 3, 1), false), [missed, open, open, open]);
        let report = CrashReport { counts: counts(10_000, 0, 0), files: true, ..CrashReport::default() };
        assert_eq!(Vec::from_iter(gates(&report).iter().map(|gate| gate.verdict)), [open, open, holds, open]);
        let gone = CrashEpisode { kills: 20_000, gone: 1, ..CrashEpisode::default() };
        assert_eq!(verdicts(gone, false), [missed, open, open, open]);
    }
}
