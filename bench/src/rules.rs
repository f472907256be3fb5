//! Gates as tables: a rule is a demand and a function that finds its figure in a report, and one function judges all rules.

use corecast_race::gate::{Demand, Gate};

/// One line of a table of gates.
pub(crate) struct Rule<E: ?Sized> {
    pub(crate) demand: Demand,
    /// The number, or what it would take to find it.
    pub(crate) found: fn(&E) -> Result<f64, String>,
    /// A figure to tell beside that number, which is not judged.
    told: fn(&E) -> Option<String>,
}

impl<E: ?Sized> Rule<E> {
    pub(crate) const fn new(demand: Demand, found: fn(&E) -> Result<f64, String>) -> Self {
        Self { demand, found, told: |_| None }
    }

    /// The same rule, which also tells a figure that is not judged.
    pub(crate) const fn telling(self, told: fn(&E) -> Option<String>) -> Self {
        Self { told, ..self }
    }

    fn judge(&self, found: Result<f64, String>, evidence: &E) -> Gate {
        self.demand.judge(found).telling((self.told)(evidence))
    }
}

/// A gate for each rule, in the same order.
pub(crate) fn judge<E: ?Sized>(rules: &[Rule<E>], evidence: &E) -> Vec<Gate> {
    rules.iter().map(|rule| rule.judge((rule.found)(evidence), evidence)).collect()
}

/// As [`judge`] for a run without busy processes beside it, with one more rule, which is for runs beside some. Of the two kinds
/// only the one that fits the run is judged.
pub(crate) fn judge_beside<E: ?Sized>(busy: usize, rules: &[Rule<E>], beside: &Rule<E>, evidence: &E) -> Vec<Gate> {
    let judged = |rule: &Rule<E>, fits, needs: &str| {
        rule.judge(if fits { (rule.found)(evidence) } else { Err(needs.to_owned()) }, evidence)
    };
    let quiet = rules.iter().map(|rule| judged(rule, busy == 0, "a machine that nothing else uses, without `--busy`"));
    quiet.chain([judged(beside, busy > 0, "`--busy 2`")]).collect()
}

/// At most this is asked for.
pub(crate) const fn at_most(limit: f64, gate: &'static str, command: &'static str) -> Demand {
    Demand { gate, limit, is_most: true, command }
}

/// At least this is asked for.
pub(crate) const fn at_least(limit: f64, gate: &'static str, command: &'static str) -> Demand {
    Demand { gate, limit, is_most: false, command }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    #[test]
    fn beside_busy_processes_only_the_rule_for_them_is_judged() {
        let found = |found: &f64| Ok(*found);
        let rules = [Rule::new(at_most(2.0, "quiet", "corecast bench a"), found)];
        let beside = Rule::new(at_most(1.05, "beside", "corecast bench a"), found);
        let verdicts = |busy| judge_beside(busy, &rules, &beside, &1.5).into_iter().map(|gate| gate.verdict).collect();
        let [quiet, busy]: [Vec<_>; 2] = [0, 2].map(verdicts);
        assert_eq!(quiet, [Verdict::Holds, Verdict::NotJudged]);
        assert_eq!(busy, [Verdict::NotJudged, Verdict::Missed]);
    }

    #[test]
    fn each_rule_is_judged_by_its_own_number() {
        const RULES: &[Rule<[f64]>] = &[
            Rule::new(at_most(2.0, "the first", "corecast bench a"), |found| {
                found.first().copied().ok_or("one".into())
            }),
            Rule::new(at_least(2.0, "the second", "corecast bench a"), |found| {
                found.get(1).copied().ok_or("two".into())
            }),
        ];
        let gates = judge(RULES, &[1.5]);
        assert_eq!((gates[0].gate.as_str(), gates[0].verdict), ("the first", Verdict::Holds));
        assert_eq!((gates[1].verdict, gates[1].needs.as_deref()), (Verdict::NotJudged, Some("two")));
        assert!(gates.iter().all(|gate| gate.told.is_none()), "{gates:?}");
        let [first, _] = RULES else { unreachable!("two rules") };
        let telling = Rule::new(first.demand, first.found).telling(|found| Some(format!("of {}", found.len())));
        let gates = judge(&[telling], &[1.5]);
        assert_eq!((gates[0].told.as_deref(), gates[0].verdict), (Some("of 1"), Verdict::Holds));
        assert!(judge(RULES, &[2.5, 1.5]).iter().all(|gate| gate.verdict == Verdict::Missed));
    }
}
