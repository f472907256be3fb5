//! The demands on corecast's collectives, as ratios between the rows of one race.

use corecast::base::wait::Wait;

use crate::contender::{CHOSEN, TWIN};
use crate::gate::Gate;
use crate::op::Op;
use crate::report::{Group, Row};

/// A bare exchange of flags on lines of their own.
const BARE: &str = "two-flags";
/// The control: messages over the tree of the plain cluster shape.
const CONTROL: &str = "corecast/tree/cluster";
/// Barriers that put waiters to sleep.
const BLOCKING: &[&str] = &["std", "pthread", "libgomp", "libomp"];
/// Trees that do not follow the machine.
const STATIC_TREES: &[&str] =
    &["corecast/tree/sequential", "corecast/tree/binary", "corecast/tree/fibonacci", "corecast/tree/mst"];
/// The fewest members of a wide group.
const WIDE: usize = 16;
const CONCURRENCY_KIT: &[&str] = &["ck/centralized", "ck/combining", "ck/dissemination", "ck/tournament", "ck/mcs"];

/// A demand.
enum Rule {
    /// In a spinning barrier of two with a CPU each, corecast takes at most this multiple of a bare exchange.
    Bare { most: f64 },
    /// There, the fastest of these takes at least this multiple of corecast's time.
    Pair { name: &'static str, rivals: &'static [&'static str], least: f64 },
    /// In a barrier of this number of members on two CPUs, corecast takes at most this multiple of the fastest that sleeps.
    Crowd { members: usize, most: f64 },
    /// In every group of the operation, corecast's choice takes at most this multiple of the control.
    Control { op: Op, most: f64 },
    /// Among [`WIDE`] members or more with a CPU each, the fastest of these takes at least this multiple of corecast's time.
    Wide { op: Op, name: &'static str, rivals: &'static [&'static str], least: f64 },
}

const RULES: &[Rule] = &[
    Rule::Bare { most: 1.05 },
    Rule::Pair { name: "libgomp", rivals: &["libgomp"], least: 2.0 },
    Rule::Pair { name: "hurdles", rivals: &["hurdles"], least: 2.0 },
    Rule::Pair { name: "the message tree", rivals: &["corecast/tree"], least: 2.0 },
    Rule::Pair { name: "libomp", rivals: &["libomp"], least: 1.3 },
    Rule::Pair { name: "Open MPI", rivals: &["openmpi"], least: 1.3 },
    Rule::Pair { name: "MPICH", rivals: &["mpich"], least: 3.0 },
    Rule::Pair { name: "pthread", rivals: &["pthread"], least: 100.0 },
    Rule::Pair { name: "std", rivals: &["std"], least: 100.0 },
    Rule::Pair { name: "the best of Concurrency Kit", rivals: CONCURRENCY_KIT, least: 0.95 },
    Rule::Crowd { members: 4, most: 1.5 },
    Rule::Crowd { members: 8, most: 1.5 },
    Rule::Crowd { members: 16, most: 1.5 },
    Rule::Control { op: Op::Barrier, most: 1.02 },
    Rule::Control { op: Op::Broadcast, most: 1.02 },
    Rule::Control { op: Op::Reduce, most: 1.02 },
    Rule::Control { op: Op::Allreduce, most: 1.02 },
    Rule::Wide { op: Op::Broadcast, name: "Open MPI", rivals: &["openmpi"], least: 1.6 },
    Rule::Wide { op: Op::Reduce, name: "Open MPI", rivals: &["openmpi"], least: 1.6 },
    Rule::Wide { op: Op::Barrier, name: "Open MPI", rivals: &["openmpi"], least: 2.0 },
    Rule::Wide { op: Op::Barrier, name: "libgomp", rivals: &["libgomp"], least: 1.5 },
    Rule::Wide {
        op: Op::Barrier,
        name: "the unpadded dissemination barrier",
        rivals: &["mcs-dissemination-unpadded"],
        least: 2.0,
    },
    Rule::Wide {
        op: Op::Barrier,
        name: "the padded dissemination barrier",
        rivals: &["mcs-dissemination"],
        least: 1.0,
    },
    Rule::Wide { op: Op::Broadcast, name: "the best static tree", rivals: STATIC_TREES, least: 1.16 },
    Rule::Wide { op: Op::Reduce, name: "the best static tree", rivals: STATIC_TREES, least: 1.16 },
];

/// Judges every demand by what was raced.
pub(super) fn judge(groups: &[Group], wait: Wait) -> Vec<Gate> {
    RULES.iter().map(|rule| rule.judge(groups, wait)).collect()
}

impl Rule {
    fn judge(&self, groups: &[Group], wait: Wait) -> Gate {
        let (gate, limit, is_most) = self.words();
        Gate::new(gate, limit, is_most, self.measure(groups, wait))
    }

    fn words(&self) -> (String, f64, bool) {
        match *self {
            Self::Bare { most } => ("barrier of 2, spinning, time / two bare flags'".to_owned(), most, true),
            Self::Pair { name, least, .. } => {
                (format!("{name} / corecast, time of a barrier of 2, spinning"), least, false)
            }
            Self::Crowd { members, most } => {
                (format!("barrier of {members} on 2 CPUs, time / the fastest that sleeps"), most, true)
            }
            Self::Control { op, most } => {
                (format!("{op}, the chosen plan's time / the cluster tree's, the worst group"), most, true)
            }
            Self::Wide { op, name, least, .. } => {
                (format!("{name} / corecast, time of a {op} of {WIDE} or more"), least, false)
            }
        }
    }

    /// The ratio, or what it would take.
    fn measure(&self, groups: &[Group], wait: Wait) -> Result<f64, String> {
        match *self {
            Self::Bare { .. } => {
                let pair = spinning_pair(groups, wait)?;
                Ok(median_ns(pair, CHOSEN)? / median_ns(pair, BARE)?)
            }
            Self::Pair { rivals, .. } => {
                let pair = spinning_pair(groups, wait)?;
                Ok(fastest_ns(pair, rivals)? / median_ns(pair, CHOSEN)?)
            }
            Self::Crowd { members, .. } => {
                let crowd = crowd(groups, members, wait)?;
                Ok(median_ns(crowd, CHOSEN)? / fastest_ns(crowd, BLOCKING)?)
            }
            Self::Control { op, .. } => worst_of_controls(groups, op),
            Self::Wide { op, rivals, .. } => {
                let group = wide_group(groups, op)?;
                Ok(fastest_ns(group, rivals)? / median_ns(group, CHOSEN)?)
            }
        }
    }
}

/// The barrier of two members that poll, each on a CPU of its own.
fn spinning_pair(groups: &[Group], wait: Wait) -> Result<&Group, String> {
    let pair = barrier_of(groups, 2)?;
    if pair.oversubscribed {
        return Err("2 CPUs".to_owned());
    }
    if wait == Wait::Spin { Ok(pair) } else { Err("--wait spin".to_owned()) }
}

/// The barrier of this number of members on exactly two CPUs, with contenders whose members let each other run.
fn crowd(groups: &[Group], members: usize, wait: Wait) -> Result<&Group, String> {
    let crowd = barrier_of(groups, members)?;
    let mut cpus = crowd.cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.len() != 2 {
        return Err(format!("{members} members on 2 CPUs"));
    }
    if wait == Wait::Spin { Err("--wait adaptive".to_owned()) } else { Ok(crowd) }
}

fn barrier_of(groups: &[Group], members: usize) -> Result<&Group, String> {
    let is_meant = |group: &&Group| group.op == Op::Barrier && group.participants == members;
    groups.iter().find(is_meant).ok_or_else(|| format!("--op barrier --n {members}"))
}

fn row<'a>(group: &'a Group, name: &str) -> Result<&'a Row, String> {
    group.rows.iter().find(|row| row.contender == name).ok_or_else(|| format!("contender {name}"))
}

fn median_ns(group: &Group, name: &str) -> Result<f64, String> {
    let row = row(group, name)?;
    let why = || format!("contender {name}: {}", row.skipped.as_deref().unwrap_or("no samples"));
    row.summary.map(|summary| summary.median_ns).ok_or_else(why)
}

/// The fastest of those that were timed; what the first lacks if none was.
fn fastest_ns(group: &Group, names: &[&str]) -> Result<f64, String> {
    let timed = names.iter().filter_map(|name| median_ns(group, name).ok());
    timed.min_by(f64::total_cmp).map_or_else(|| median_ns(group, names[0]), Ok)
}

/// The time of the chosen plan divided by the control's, which is that of the row that has its tree if it is not its own;
/// `None` if that row is the chosen plan's, which would be compared with itself.
fn over_control(group: &Group) -> Result<Option<f64>, String> {
    let skipped = row(group, CONTROL)?.skipped.as_deref().unwrap_or_default();
    let twin = skipped.strip_prefix(TWIN[0]).and_then(|rest| rest.strip_suffix(TWIN[1]));
    match twin.unwrap_or(CONTROL) {
        CHOSEN => Ok(None),
        control => Ok(Some(median_ns(group, CHOSEN)? / median_ns(group, control)?)),
    }
}

fn worst_of_controls(groups: &[Group], op: Op) -> Result<f64, String> {
    let of_op: Vec<&Group> = groups.iter().filter(|group| group.op == op).collect();
    let ratios: Result<Vec<Option<f64>>, String> = of_op.iter().map(|group| over_control(group)).collect();
    let needs =
        if of_op.is_empty() { format!("--op {op}") } else { "a group whose chosen plan is not the control".to_owned() };
    ratios?.into_iter().flatten().reduce(f64::max).ok_or(needs)
}

/// The group of the operation, with the bytes it usually has, of the most members, if these have a CPU each and are enough.
fn wide_group(groups: &[Group], op: Op) -> Result<&Group, String> {
    let is_meant = |group: &&Group| group.op == op && group.is_usual() && !group.oversubscribed;
    let widest = groups.iter().filter(is_meant).max_by_key(|group| group.participants);
    widest.filter(|group| group.participants >= WIDE).ok_or_else(|| format!("{WIDE} CPUs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Verdict;
    use crate::harness::Summary;
    use crate::report::Timing;

    /// A time for each name, or why there is none.
    fn group(op: Op, cpus: &[u32], rows: &[(&str, Result<f64, &str>)]) -> Group {
        let summary = |median_ns| Summary {
            median_ns,
            p10_ns: median_ns,
            p90_ns: median_ns,
            p99_ns: median_ns,
            min_ns: median_ns,
            mad_ns: 0.0,
            samples: 1,
        };
        let row = |&(contender, outcome): &(&str, Result<f64, &str>)| Row {
            contender: contender.to_owned(),
            ours: contender.starts_with(CHOSEN),
            summary: outcome.ok().map(summary),
            cpu_ns: None,
            discarded: 0,
            ratio: None,
            skipped: outcome.err().map(str::to_owned),
            failed: false,
        };
        Group {
            op,
            burst: None,
            participants: cpus.len(),
            bytes: op.bytes(),
            cpus: cpus.to_vec(),
            oversubscribed: cpus.len() > 2 || cpus[0] == cpus[1],
            timing: Timing::Batches,
            root: None,
            raw_line_ns: None,
            raw_line_probes_ns: Vec::new(),
            placement_changes: 0,
            rounds_left_out: 0,
            reference: CHOSEN.to_owned(),
            rows: rows.iter().map(row).collect(),
        }
    }

    fn judged(rule: &Rule, groups: &[Group], wait: Wait) -> (Verdict, Option<f64>, Option<String>) {
        let gate = rule.judge(groups, wait);
        (gate.verdict, gate.measured, gate.needs)
    }

    fn unjudged(needs: &str) -> (Verdict, Option<f64>, Option<String>) {
        (Verdict::NotJudged, None, Some(needs.to_owned()))
    }

    #[test]
    fn two_that_spin_are_held_against_the_bare_exchange_and_the_fastest_rival() {
        let rows = [(CHOSEN, Ok(100.0)), (BARE, Ok(80.0)), ("a", Ok(190.0)), ("b", Ok(250.0)), ("c", Err("not here"))];
        let groups = [group(Op::Barrier, &[0, 1], &rows)];
        let pair = |rivals, least| Rule::Pair { name: "these", rivals, least };
        assert_eq!(judged(&Rule::Bare { most: 1.05 }, &groups, Wait::Spin), (Verdict::Missed, Some(1.25), None));
        assert_eq!(judged(&pair(&["c", "b", "a"], 1.9), &groups, Wait::Spin), (Verdict::Holds, Some(1.9), None));
        assert_eq!(judged(&pair(&["b"], 3.0), &groups, Wait::Spin), (Verdict::Missed, Some(2.5), None));
        assert_eq!(judged(&pair(&["c"], 2.0), &groups, Wait::Spin), unjudged("contender c: not here"));
        assert_eq!(judged(&pair(&["c", "d"], 2.0), &groups, Wait::Spin), unjudged("contender c: not here"));
        assert_eq!(judged(&pair(&["b"], 3.0), &groups, Wait::Adaptive), unjudged("--wait spin"));
        assert_eq!(judged(&pair(&["b"], 3.0), &[], Wait::Spin), unjudged("--op barrier --n 2"));
        let on_one = [group(Op::Barrier, &[0, 0], &rows)];
        assert_eq!(judged(&pair(&["b"], 3.0), &on_one, Wait::Spin), unjudged("2 CPUs"));
    }

    #[test]
    fn a_crowd_is_held_against_the_fastest_that_sleeps() {
        let rule = Rule::Crowd { members: 4, most: 1.5 };
        let rows = [(CHOSEN, Ok(30.0)), ("std", Ok(40.0)), ("libomp", Ok(24.0)), ("central", Ok(1.0))];
        let groups = [group(Op::Barrier, &[0, 1, 0, 1], &rows)];
        assert_eq!(judged(&rule, &groups, Wait::Adaptive), (Verdict::Holds, Some(1.25), None));
        assert_eq!(judged(&rule, &groups, Wait::Spin), unjudged("--wait adaptive"));
        let on_three = [group(Op::Barrier, &[0, 1, 2, 0], &rows)];
        assert_eq!(judged(&rule, &on_three, Wait::Adaptive), unjudged("4 members on 2 CPUs"));
        assert_eq!(judged(&rule, &[], Wait::Adaptive), unjudged("--op barrier --n 4"));
    }

    #[test]
    fn the_choice_is_held_against_the_control_or_the_row_with_its_tree() {
        let twin = format!("{}corecast/tree/mst{}", TWIN[0], TWIN[1]);
        let groups = [
            group(Op::Reduce, &[0, 1], &[(CHOSEN, Ok(90.0)), (CONTROL, Ok(100.0))]),
            group(Op::Reduce, &[0, 1], &[(CHOSEN, Ok(55.0)), ("corecast/tree/mst", Ok(50.0)), (CONTROL, Err(&twin))]),
        ];
        let rule = Rule::Control { op: Op::Reduce, most: 1.02 };
        assert_eq!(judged(&rule, &groups, Wait::Adaptive), (Verdict::Missed, Some(1.1), None));
        assert_eq!(judged(&rule, &groups[..1], Wait::Adaptive), (Verdict::Holds, Some(0.9), None));
        assert_eq!(judged(&rule, &[], Wait::Adaptive), unjudged("--op reduce"));
        let chosen = format!("{}{CHOSEN}{}", TWIN[0], TWIN[1]);
        let itself = [group(Op::Reduce, &[0, 1], &[(CHOSEN, Ok(55.0)), (CONTROL, Err(&chosen))])];
        assert_eq!(judged(&rule, &itself, Wait::Adaptive), unjudged("a group whose chosen plan is not the control"));
    }

    #[test]
    fn wide_groups_need_as_many_cpus() {
        let rule = Rule::Wide { op: Op::Reduce, name: "a", rivals: &["a"], least: 1.6 };
        let rows = [(CHOSEN, Ok(50.0)), ("a", Ok(100.0))];
        let cpus: Vec<u32> = (0..16).collect();
        let mut wide = group(Op::Reduce, &cpus, &rows);
        assert_eq!(judged(&rule, &[wide.clone()], Wait::Adaptive), unjudged("16 CPUs"), "they share CPUs");
        wide.oversubscribed = false;
        assert_eq!(judged(&rule, &[wide.clone()], Wait::Adaptive), (Verdict::Holds, Some(2.0), None));
        assert_eq!(judged(&rule, &[group(Op::Reduce, &[0, 1], &rows)], Wait::Adaptive), unjudged("16 CPUs"));
        wide.op = Op::Broadcast;
        assert_eq!(judged(&rule, &[wide], Wait::Adaptive), unjudged("16 CPUs"));
    }

    #[test]
    fn every_rule_has_words_of_its_own_and_names_contenders_that_there_are() {
        let words: std::collections::HashSet<String> = RULES.iter().map(|rule| rule.words().0).collect();
        assert_eq!(words.len(), RULES.len());
        let known: Vec<String> = crate::contender::contenders(Op::Barrier).iter().map(|known| known.name()).collect();
        let rivals = RULES.iter().flat_map(|rule| match rule {
            Rule::Pair { rivals, .. } => *rivals,
            _ => BLOCKING,
        });
        for name in rivals.chain(&[CHOSEN, BARE, CONTROL]) {
            assert!(known.iter().any(|known| known == name), "{name}");
        }
    }
}
