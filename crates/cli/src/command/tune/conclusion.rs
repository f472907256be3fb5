//! The last lines of `tune`: what messages cost on this machine, what corecast gains where, and what to do next.

use corecast::Machine;
use corecast_race::{Group, Report};

use crate::table;

/// The three lines; the second is missing where nothing could be raced. `disturbed` is true if the race disagreed with the model.
pub(super) fn describe(machine: &Machine, race: Option<&Report>, disturbed: bool) -> String {
    let lines = [Some(messages(machine)), race.and_then(gains), Some(next(disturbed).to_owned())];
    lines.into_iter().flatten().map(|line| format!("{line}\n")).collect()
}

fn messages(machine: &Machine) -> String {
    let len = machine.cpus.len();
    let pairs = (0..len).flat_map(|from| (0..len).filter(move |&to| to != from).map(move |to| (from, to)));
    let costs = pairs.map(|(from, to)| machine.send.get(from, to) + machine.receive.get(from, to));
    let (least, most) = costs.fold((f64::INFINITY, 0.0f64), |(least, most), cost| (least.min(cost), most.max(cost)));
    let (kind, unit) = (&machine.provenance.kind, machine.unit);
    if !least.is_finite() {
        return "messages: there is no pair of CPUs".to_owned();
    }
    let range = if table::cost(least) == table::cost(most) {
        table::cost(least)
    } else {
        format!("{} to {}", table::cost(least), table::cost(most))
    };
    format!("messages: {range} {unit} from CPU to CPU, sending and receiving together ({kind})")
}

/// Corecast's choice against the fastest rival, of each group whose members have a CPU each and carry what they usually do.
fn gains(race: &Report) -> Option<String> {
    let groups = race.groups.iter().filter(|group| !group.oversubscribed && group.is_usual());
    let gains: Vec<String> = groups.filter_map(gain).collect();
    (!gains.is_empty()).then(|| format!("against the fastest rival: {}", gains.join(", ")))
}

fn gain(group: &Group) -> Option<String> {
    let median_ns = |row: &corecast_race::Row| row.summary.map(|summary| summary.median_ns);
    let own_ns = group.rows.iter().find(|row| row.contender == group.reference).and_then(median_ns)?;
    let rivals = group.rows.iter().filter(|row| !row.ours).filter_map(|row| Some((&row.contender, median_ns(row)?)));
    let (rival, rival_ns) = rivals.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let (op, times) = (group.op, rival_ns / own_ns);
    let word = if times >= 1.0 { "as fast as" } else { "as fast as, so slower than," };
    // One digit would call a rival that is a little faster equally fast.
    let digits = if (0.95..1.05).contains(&times) { 2 } else { 1 };
    Some(format!("{op} {times:.digits$} times {word} {rival}"))
}

fn next(disturbed: bool) -> &'static str {
    if disturbed {
        "next: `corecast tune --remeasure`, as the race did not see the costs of the model; then `corecast explain`"
    } else {
        "next: `corecast explain` says why each plan was chosen, and the report shows it; `corecast bench` races more"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn three_lines_say_what_messages_cost_what_is_gained_and_what_to_do() {
        let machine = example::machine(2);
        let race = example::race(&[(2, 2), (8, 2)]);
        let text = describe(&machine, Some(&race), false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("messages: ") && lines[0].contains("from CPU to CPU"), "{text}");
        assert!(lines[1].starts_with("against the fastest rival: barrier ") && lines[1].contains(" times as fast as"));
        assert_eq!(lines[1].matches("barrier").count(), 1, "members that share CPUs are left out: {text}");
        assert!(lines[2].contains("corecast explain"), "{text}");
        assert!(describe(&machine, Some(&race), true).contains("--remeasure"));
        assert_eq!(describe(&machine, None, false).lines().count(), 2);
    }

    #[test]
    fn a_rival_that_is_faster_is_named_as_such() {
        let mut race = example::race(&[(2, 2)]);
        let group = &mut race.groups[0];
        let own_ns = group.rows[0].summary.expect("timed").median_ns;
        for row in group.rows.iter_mut().filter(|row| !row.ours) {
            row.summary.iter_mut().for_each(|summary| summary.median_ns = own_ns / 2.0);
        }
        let text = describe(&example::machine(2), Some(&race), false);
        assert!(text.contains("barrier 0.5 times as fast as, so slower than, "), "{text}");
    }
}
