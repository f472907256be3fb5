//! `corecast topo`: the CPUs that may be used and what they share, as a drawing and as a table.

use std::collections::BTreeSet;

use corecast::CpuSet;
use corecast::machine::{CoreKind, Cpu, Topology, TopologyJson};

use crate::failure::Failure;
use crate::machine_args::MachineArgs;
use crate::output::Output;
use crate::{box_text, nesting, printable, screen, table};

/// Options of `topo`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let topology = arguments.machine.topology()?;
    if output.is_json() {
        return output.json(&TopologyJson::from(&topology));
    }
    output.text(&describe(&topology))
}

/// A summary, the machine as boxes in boxes, a line for each CPU, and remarks of the source.
fn describe(topology: &Topology) -> String {
    let quota = topology.quota.map(|quota| format!("quota: control groups grant the time of {quota} CPUs\n"));
    let notes = topology.notes.iter().map(|note| format!("note: {}\n", printable::line(note)));
    let remarks: String = quota.into_iter().chain(notes).collect();
    let gap = if remarks.is_empty() { "" } else { "\n" };
    let boxes = box_text::draw(&nesting::nest(&topology.cpus), screen::width());
    format!("{}\n\n{boxes}\n{}{gap}{remarks}", summary(topology), cpu_table(topology))
}

/// One line: how many CPUs, and what they are grouped in.
fn summary(topology: &Topology) -> String {
    let cpus: CpuSet = topology.cpus.iter().map(|cpu| cpu.id).collect();
    let groups = [
        ("core", count(topology, |cpu| cpu.core)),
        ("L2 cache", count(topology, |cpu| cpu.l2)),
        ("L3 cache", count(topology, |cpu| cpu.l3)),
        ("NUMA node", count(topology, |cpu| cpu.numa)),
        ("package", count(topology, |cpu| cpu.package)),
    ];
    let groups = groups.into_iter().filter(|&(_, number)| number > 0).map(|(name, number)| plural(number, name));
    let groups = groups.collect::<Vec<_>>().join(", ");
    let grouped = if groups.is_empty() { String::new() } else { format!(" on {groups}") };
    format!("{} ({cpus}){grouped}, told by {}", plural(cpus.len(), "CPU"), topology.source)
}

fn count(topology: &Topology, group: impl Fn(&Cpu) -> Option<u32>) -> usize {
    topology.cpus.iter().filter_map(group).collect::<BTreeSet<_>>().len()
}

fn plural(number: usize, name: &str) -> String {
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}s") }
}

fn cpu_table(topology: &Topology) -> String {
    let mut table = table::table(&[">CPU", ">core", ">L2", ">L3", ">NUMA", ">package", "kind"]);
    for cpu in &topology.cpus {
        let groups = [cpu.core, cpu.l2, cpu.l3, cpu.numa, cpu.package];
        let groups = groups.map(|group| group.map_or_else(|| "?".to_owned(), |group| group.to_string()));
        let kind = match cpu.kind {
            Some(CoreKind::Performance) => "performance",
            Some(CoreKind::Efficiency) => "efficiency",
            None => "",
        };
        table.add_row([cpu.id.to_string()].into_iter().chain(groups).chain([kind.to_owned()]));
    }
    table::text(&table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::CpuId;

    #[test]
    fn the_summary_counts_groups_and_leaves_out_unknown_ones() {
        let cpu = |id| Cpu { core: Some(id / 2), package: Some(0), ..Cpu::flat(CpuId::new(id)) };
        let topology = Topology {
            cpus: (0..4).map(cpu).collect(),
            quota: Some(0.5),
            source: "sysfs".to_owned(),
            notes: vec!["odd".to_owned()],
            ..Topology::default()
        };
        let text = describe(&topology);
        assert!(text.starts_with("4 CPUs (0-3) on 2 cores, 1 package, told by sysfs\n\n"), "{text}");
        assert!(text.contains("time of 0.5 CPUs") && text.contains("note: odd"), "{text}");
        assert!(text.contains("   3     1   ?   ?     ?        0\n"), "{text}");
    }
}
