//! A machine with its costs, for people: ranges instead of matrices.

use corecast::Machine;
use corecast::machine::{CostMatrix, Provenance};

use crate::printable::line;
use crate::table;

/// The machine, what its messages cost, and why that should be doubted.
pub(crate) fn describe(machine: &Machine) -> String {
    let costs = if machine.cpus.len() > 1 { costs(machine) } else { String::new() };
    let warnings = machine.extended.warnings.iter().map(|warning| format!("warning: {}\n", line(warning)));
    format!("{}\n\n{costs}{}{}", heading(machine), single_costs(machine), warnings.collect::<String>())
}

/// The measurer's notes beside the costs.
pub(crate) fn notes(machine: &Machine) -> String {
    machine.extended.notes.iter().map(|note| format!("note: {}\n", line(note))).collect()
}

fn heading(machine: &Machine) -> String {
    let Provenance { kind, source, .. } = &machine.provenance;
    let date = machine.extended.measured_at.as_ref().map(|date| format!(" on {date}")).unwrap_or_default();
    let source = if source.is_empty() { String::new() } else { format!(" ({source})") };
    let [name, rest] =
        [machine.name.clone(), format!("costs are {kind}{date}{source}")].map(|text| line(&text).into_owned());
    format!("{name}\n{rest}")
}

fn costs(machine: &Machine) -> String {
    let median = format!(">median {}", machine.unit);
    let mut table = table::table(&["between two CPUs", ">least", &median, ">most"]);
    let rows = [
        ("sender busy with a message", Some(&machine.send)),
        ("receiver busy with a message", Some(&machine.receive)),
        ("bare cache line, one way", machine.extended.bounce.as_ref()),
    ];
    for (what, matrix) in rows {
        let Some([least, median, most]) = matrix.and_then(range) else { continue };
        table.add_row([what.to_owned(), table::cost(least), table::cost(median), table::cost(most)]);
    }
    table::text(&table) + "\n"
}

/// The least, middle and largest cost between two different CPUs.
fn range(matrix: &CostMatrix) -> Option<[f64; 3]> {
    let len = matrix.len();
    let pairs = (0..len).flat_map(|i| (0..len).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let mut costs: Vec<f64> = pairs.map(|(i, j)| matrix.get(i, j)).collect();
    costs.sort_unstable_by(f64::total_cmp);
    Some([*costs.first()?, costs[costs.len() / 2], *costs.last()?])
}

fn single_costs(machine: &Machine) -> String {
    let extended = &machine.extended;
    let costs = [
        ("waking a sleeper", extended.wake_ns),
        ("yielding the CPU", extended.yield_ns),
        ("a spin-loop hint", extended.pause_ns),
    ];
    let costs = costs.into_iter().filter_map(|(what, cost)| Some(format!("{what} takes {} ns", table::cost(cost?))));
    let costs = costs.collect::<Vec<_>>().join(", ");
    if costs.is_empty() { costs } else { costs + "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::CpuId;
    use corecast::machine::{Cpu, Topology};

    fn machine(cpus: u32) -> Machine {
        let cpus = (0..cpus).map(|id| Cpu::flat(CpuId::new(id))).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn ranges_leave_out_what_a_cpu_costs_itself() {
        let rows = vec![vec![0.0, 3.0, 9.0], vec![4.0, 0.0, 5.0], vec![6.0, 7.0, 0.0]];
        assert_eq!(range(&CostMatrix::from_rows(rows).expect("costs")), Some([3.0, 6.0, 9.0]));
        assert_eq!(range(&CostMatrix::zero(1)), None);
    }

    #[test]
    fn known_facts_are_told_and_no_more() {
        let mut three = machine(3);
        three.extended.warnings.push("a noisy neighbour".to_owned());
        three.extended.wake_ns = Some(12_000.4);
        let text = describe(&three);
        assert!(text.contains("costs are assumed"), "{text}");
        assert!(text.contains("sender busy") && !text.contains("bare cache line"), "{text}");
        assert!(text.ends_with("\n\nwaking a sleeper takes 12000 ns\nwarning: a noisy neighbour\n"), "{text}");
        assert!(!describe(&machine(1)).contains("sender busy"), "one CPU has no pairs");
    }
}
