//! The demands on the preload object, and whether they hold here.

use corecast_race::gate::Gate;

use super::EpccRow;
use crate::rules::{Rule, at_least, at_most, judge_beside};
use crate::stats::most;

const COMMAND: &str = "corecast bench epcc";
/// The threads from which on the authors of Smelt are to be met.
pub(super) const MANY: usize = 16;

/// The evidence by which gates are judged.
pub(super) struct Evidence {
    pub(super) rows: Vec<EpccRow>,
    pub(super) cpus: usize,
    /// Busy processes beside the launches.
    pub(super) busy: usize,
}

/// The constructs whose barriers are served.
const SERVED: [&str; 6] = ["BARRIER", "FOR", "FOR DYNAMIC", "SECTIONS", "SINGLE", "COPYPRIVATE"];

const RULES: &[Rule<Evidence>] = &[
    Rule::new(at_least(2.0, "BARRIER of 2 threads, without / with the object", COMMAND), |all| all.of("BARRIER", 2)),
    Rule::new(at_least(4.0, "BARRIER of 4 threads on 2 CPUs, without / with", COMMAND), |all| match all.cpus {
        2 => all.of("BARRIER", 4),
        _ => Err("2 CPUs: `taskset -c 0,1`".to_owned()),
    }),
    Rule::new(at_least(1.67, "BARRIER of 16 threads or more, without / with", COMMAND), |all| all.of_many("BARRIER")),
    Rule::new(at_least(1.67, "FOR of 16 threads or more, without / with", COMMAND), |all| all.of_many("FOR")),
    Rule::new(at_least(1.44, "SINGLE of 16 threads or more, without / with", COMMAND), |all| all.of_many("SINGLE")),
    Rule::new(at_least(2.25, "COPYPRIVATE of 16 threads or more, without / with", COMMAND), |all| {
        all.of_many("COPYPRIVATE")
    }),
    Rule::new(at_most(1.03, "PARALLEL of 2 threads, with / without the object", COMMAND), |all| all.cost("PARALLEL")),
    Rule::new(at_most(1.03, "REDUCTION of 2 threads, with / without", COMMAND), |all| all.cost("REDUCTION")),
    Rule::new(at_most(1.03, "TASK of 2 threads, with / without", COMMAND), |all| all.cost("TASK")),
];

const BESIDE: Rule<Evidence> = Rule::new(
    at_most(1.05, "beside busy processes: with / without, the worst of the served constructs", COMMAND),
    |all| {
        let served = all.rows.iter().filter(|row| SERVED.contains(&row.construct.as_str()));
        let costs: Vec<f64> = served.map(|row| row.ratio().map(f64::recip)).collect::<Result<_, _>>()?;
        most(costs).ok_or_else(|| "a served construct".to_owned())
    },
);

/// A gate for each demand.
pub(super) fn gates(evidence: &Evidence) -> Vec<Gate> {
    judge_beside(evidence.busy, RULES, &BESIDE, evidence)
}

impl Evidence {
    fn of(&self, construct: &str, threads: usize) -> Result<f64, String> {
        if self.cpus < 2 {
            return Err("2 CPUs".to_owned());
        }
        let row = self.rows.iter().find(|row| row.construct == construct && row.threads == threads);
        row.ok_or_else(|| format!("`--threads {threads}`"))?.ratio()
    }

    /// The cost of the object to a construct that it does not serve.
    fn cost(&self, construct: &str) -> Result<f64, String> {
        self.of(construct, 2).map(f64::recip)
    }

    /// The ratio at the largest team with a CPU for each of 16 threads or more.
    pub(super) fn of_many(&self, construct: &str) -> Result<f64, String> {
        let fits = |row: &&EpccRow| row.construct == construct && row.threads >= MANY && row.threads <= self.cpus;
        let row = self.rows.iter().filter(fits).max_by_key(|row| row.threads);
        row.ok_or_else(|| format!("{MANY} CPUs"))?.ratio()
    }
}

impl EpccRow {
    fn ratio(&self) -> Result<f64, String> {
        self.ratio.ok_or_else(|| format!("an overhead of {} that is long enough to tell", self.construct))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_race::gate::Verdict;

    fn row(construct: &str, threads: usize, ratio: f64) -> EpccRow {
        let construct = construct.to_owned();
        let ratio = Some(ratio).filter(|ratio| *ratio > 0.0);
        EpccRow { construct, threads, oversubscribed: false, alone_us: 1.0, shim_us: 1.0, ratio, launches: 3 }
    }

    #[test]
    fn gates_are_judged_where_the_machine_can() {
        let rows = vec![row("BARRIER", 2, 2.5), row("BARRIER", 4, 3.0), row("PARALLEL", 2, 0.9), row("TASK", 2, 1.0)];
        let verdicts = |cpus, busy| {
            let evidence = Evidence { rows: rows.clone(), cpus, busy };
            gates(&evidence).iter().map(|gate| gate.verdict).collect::<Vec<_>>()
        };
        let [holds, missed, open] = [Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
        assert_eq!(verdicts(2, 0), [holds, missed, open, open, open, open, missed, open, holds, open]);
        assert_eq!(verdicts(4, 0), [holds, open, open, open, open, open, missed, open, holds, open]);
        assert_eq!(verdicts(2, 1).pop(), Some(holds));
        let short = Evidence { rows: vec![row("BARRIER", 2, 2.0), row("FOR", 2, 0.0)], cpus: 2, busy: 1 };
        assert_eq!(gates(&short).last().map(|gate| gate.verdict), Some(open));
        let many = vec![row("FOR", 16, 1.5), row("FOR", 32, 2.0)];
        assert_eq!(Evidence { rows: many, cpus: 20, busy: 0 }.of_many("FOR"), Ok(1.5));
    }
}
