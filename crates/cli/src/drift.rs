//! Checks whether the machine behaved in a race as the model describes it.
//!
//! A virtual machine is moved between hosts, and a measurement may have been disturbed: then plans are made for costs that are
//! not there. The bare line that a race probes is compared with the model's, and if these agree, or the model has none, the
//! times of corecast's own choice with what the model predicts for them.

use corecast::Machine;
use corecast::machine::{RaceCheck, Unit};
use corecast_race::Report;

use crate::table;

/// Costs that differ by no more than this factor are the same machine's.
const FACTOR: f64 = 1.5;
/// The contender that is what corecast chooses by itself.
const CHOSEN: &str = "corecast";

/// One line if the race disagrees with a model that was measured; `again` is the command that measures anew.
pub(crate) fn describe(machine: &Machine, race: &Report, checks: &[RaceCheck], again: &str) -> Option<String> {
    if machine.provenance.kind != "measured" || machine.unit != Unit::Ns {
        return None;
    }
    let (what, model_ns, race_ns) = line(machine, race).or_else(|| worst(checks))?;
    let (model, saw) = (table::cost(model_ns), table::cost(race_ns));
    Some(format!(
        "the model does not fit what the race saw, {what}: {model} ns in the model, {saw} ns in the race; `{again}` measures again"
    ))
}

/// The bare line, if it disagrees: the probe that is farthest off.
fn line(machine: &Machine, race: &Report) -> Option<(String, f64, f64)> {
    let bounce = machine.extended.bounce.as_ref()?;
    let position = |id: u32| machine.cpus.iter().position(|cpu| cpu.id.get() == id);
    let lines = race.groups.iter().filter_map(|group| {
        let (first, second) = (*group.cpus.first()?, group.cpus.iter().copied().find(|cpu| *cpu != group.cpus[0])?);
        let model_ns = bounce.get(position(first)?, position(second)?);
        Some((format!("a bare cache line between CPUs {first} and {second}"), model_ns, group.raw_line_ns?))
    });
    farthest(lines)
}

/// The time of corecast's choice that is farthest off.
fn worst(checks: &[RaceCheck]) -> Option<(String, f64, f64)> {
    let chosen = checks.iter().filter(|check| check.algorithm == CHOSEN);
    farthest(chosen.map(|check| {
        let what = format!("{} among CPUs {}", check.operation, check.members);
        (what, check.predicted, check.measured)
    }))
}

fn farthest(pairs: impl Iterator<Item = (String, f64, f64)>) -> Option<(String, f64, f64)> {
    let factor = |&(_, model_ns, race_ns): &(String, f64, f64)| (model_ns / race_ns).max(race_ns / model_ns);
    let far = pairs.filter(|pair| pair.1 > 0.0 && pair.2 > 0.0 && factor(pair) > FACTOR);
    far.max_by(|a, b| factor(a).total_cmp(&factor(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use corecast::machine::CostMatrix;

    fn machine(line_ns: f64) -> Machine {
        let mut machine = example::machine(2);
        machine.provenance.kind = "measured".to_owned();
        machine.unit = Unit::Ns;
        machine.extended.bounce =
            Some(CostMatrix::from_fn(2, |from, to| if from == to { 0.0 } else { line_ns }).expect("costs"));
        machine
    }

    fn race(line_ns: f64) -> Report {
        let mut race = example::race(&[(2, 2)]);
        race.groups.iter_mut().for_each(|group| group.raw_line_ns = Some(line_ns));
        race
    }

    fn check(predicted: f64, measured: f64) -> RaceCheck {
        RaceCheck {
            operation: "barrier".to_owned(),
            algorithm: CHOSEN.to_owned(),
            members: "0-1".parse().expect("a list"),
            predicted,
            measured,
            date: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn a_line_that_costs_something_else_is_told_in_one_line() {
        for (model_ns, race_ns) in [(202.0, 38.0), (38.0, 202.0)] {
            let told = describe(&machine(model_ns), &race(race_ns), &[], "corecast measure").expect("far off");
            let words = [&format!("{} ns in the model", table::cost(model_ns)), "CPUs 0 and 1", "`corecast measure`"];
            assert!(words.iter().all(|words| told.contains(*words)) && !told.contains('\n'), "{told}");
        }
        assert_eq!(describe(&machine(50.0), &race(70.0), &[], "corecast measure"), None);
        let mut assumed = machine(202.0);
        assumed.provenance.kind = "assumed".to_owned();
        assert_eq!(describe(&assumed, &race(38.0), &[], "corecast measure"), None);
    }

    #[test]
    fn without_a_line_the_times_of_the_choice_are_compared() {
        let mut machine = machine(50.0);
        machine.extended.bounce = None;
        let told = |checks: &[RaceCheck]| describe(&machine, &race(50.0), checks, "corecast measure");
        assert_eq!(told(&[check(100.0, 140.0)]), None);
        let words = told(&[check(100.0, 140.0), check(100.0, 900.0)]).expect("far off");
        assert!(words.contains("barrier among CPUs 0-1") && words.contains("900 ns in the race"), "{words}");
        let other = RaceCheck { algorithm: "corecast/tree/bad".to_owned(), ..check(100.0, 900.0) };
        assert_eq!(told(&[other]), None, "only what is chosen counts");
    }
}
