//! The CPUs of a machine as groups in groups: package, NUMA node, caches, core.
//!
//! Levels stand from the one with the fewest groups to the one with the most, as a NUMA node has several packages on one
//! machine and a package several nodes on another. A level that splits nothing gives its name to the group around it, and
//! second-level caches of one core each are left out: a box around every core would say nothing.

use std::collections::BTreeMap;

use corecast::machine::{CoreKind, Cpu};

/// A group of CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    /// Its name: `package 0 · NUMA node 0`.
    pub(crate) name: String,
    /// Its contents.
    pub(crate) inside: Inside,
}

/// The contents of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Smaller groups.
    Nests(Vec<Nest>),
    /// Cores, each with the ids of its CPUs.
    Cores(Vec<Vec<u32>>),
}

/// A kind of group.
#[derive(Clone, Copy)]
struct Level {
    name: &'static str,
    of: fn(&Cpu) -> Option<u32>,
}

const LEVELS: [Level; 4] = [
    Level { name: "package", of: |cpu| cpu.package },
    Level { name: "NUMA node", of: |cpu| cpu.numa },
    Level { name: "L3", of: |cpu| cpu.l3 },
    Level { name: "L2", of: |cpu| cpu.l2 },
];

/// All CPUs in one group around all others.
pub(crate) fn nest(cpus: &[Cpu]) -> Nest {
    let all: Vec<&Cpu> = cpus.iter().collect();
    let mut levels: Vec<Level> = LEVELS.into_iter().filter(|level| is_worth_showing(*level, &all)).collect();
    levels.sort_by_key(|level| split(&all, level.of).len());
    let mut whole = nested(Vec::new(), &all, &levels, None);
    if whole.name.is_empty() {
        whole.name = "machine".to_owned();
    }
    whole
}

fn is_worth_showing(level: Level, cpus: &[&Cpu]) -> bool {
    let has_many_cores = |group: &Vec<&Cpu>| cores(group).len() > 1;
    let is_known = cpus.iter().any(|cpu| (level.of)(cpu).is_some());
    is_known && (level.name != "L2" || split(cpus, level.of).values().any(has_many_cores))
}

/// `kind` is that of the group around, if it has one.
fn nested(mut names: Vec<String>, cpus: &[&Cpu], levels: &[Level], kind: Option<CoreKind>) -> Nest {
    let own_kind = kind_of(cpus);
    if kind.is_none() && !names.is_empty() {
        names.extend(own_kind.map(|kind| kind_name(kind).to_owned()));
    }
    for (depth, level) in levels.iter().enumerate() {
        let groups = split(cpus, level.of);
        let name =
            |id: Option<u32>| id.map_or_else(|| format!("no {}", level.name), |id| format!("{} {id}", level.name));
        if groups.len() == 1 {
            names.extend(groups.keys().flatten().map(|&id| name(Some(id))));
            continue;
        }
        let rest = &levels[depth + 1..];
        let nests = groups.iter().map(|(&id, group)| nested(vec![name(id)], group, rest, own_kind)).collect();
        return Nest { name: names.join(" · "), inside: Inside::Nests(nests) };
    }
    Nest { name: names.join(" · "), inside: Inside::Cores(cores(cpus)) }
}

/// The kind of all of these CPUs, if they are of one.
fn kind_of(cpus: &[&Cpu]) -> Option<CoreKind> {
    let first = cpus.first()?.kind?;
    cpus.iter().all(|cpu| cpu.kind == Some(first)).then_some(first)
}

fn kind_name(kind: CoreKind) -> &'static str {
    match kind {
        CoreKind::Performance => "performance",
        CoreKind::Efficiency => "efficiency",
    }
}

fn split<'a>(cpus: &[&'a Cpu], group: fn(&Cpu) -> Option<u32>) -> BTreeMap<Option<u32>, Vec<&'a Cpu>> {
    let mut groups: BTreeMap<_, Vec<&Cpu>> = BTreeMap::new();
    for &cpu in cpus {
        groups.entry(group(cpu)).or_default().push(cpu);
    }
    groups
}

/// CPUs by core, in the order of their first ids; a CPU whose core is not known stands alone.
fn cores(cpus: &[&Cpu]) -> Vec<Vec<u32>> {
    let mut cores: Vec<(Option<u32>, Vec<u32>)> = Vec::new();
    for cpu in cpus {
        match cores.iter_mut().find(|(core, _)| core.is_some() && *core == cpu.core) {
            Some((_, ids)) => ids.push(cpu.id.get()),
            None => cores.push((cpu.core, vec![cpu.id.get()])),
        }
    }
    cores.into_iter().map(|(_, ids)| ids).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::CpuId;

    fn cpu(id: u32) -> Cpu {
        Cpu::flat(CpuId::new(id))
    }

    #[test]
    fn levels_that_split_nothing_give_their_name_to_the_group_around() {
        let cpus: Vec<Cpu> = (0..4)
            .map(|id| Cpu {
                package: Some(0),
                numa: Some(id / 2),
                l3: Some(id / 2),
                l2: Some(id),
                core: Some(id),
                ..cpu(id)
            })
            .collect();
        let part = |numa: u32| Nest {
            name: format!("NUMA node {numa} · L3 {numa}"),
            inside: Inside::Cores(vec![vec![2 * numa], vec![2 * numa + 1]]),
        };
        assert_eq!(nest(&cpus), Nest { name: "package 0".to_owned(), inside: Inside::Nests(vec![part(0), part(1)]) });
    }

    #[test]
    fn siblings_are_one_core_and_nothing_known_is_a_machine() {
        let siblings: Vec<Cpu> = [0, 1, 2, 3].map(|id| Cpu { core: Some(id % 2), l2: Some(id % 2), ..cpu(id) }).into();
        assert_eq!(nest(&siblings).inside, Inside::Cores(vec![vec![0, 2], vec![1, 3]]));
        let flat = nest(&[cpu(0), cpu(1)]);
        assert_eq!((flat.name.as_str(), flat.inside), ("machine", Inside::Cores(vec![vec![0], vec![1]])));
    }

    #[test]
    fn groups_of_one_kind_among_others_say_so_once() {
        let kind = |id: u32| Some(if id < 2 { CoreKind::Performance } else { CoreKind::Efficiency });
        let cpus: Vec<Cpu> =
            (0..6).map(|id| Cpu { l2: Some(id / 2), core: Some(id), kind: kind(id), ..cpu(id) }).collect();
        let Inside::Nests(nests) = nest(&cpus).inside else { panic!("it has second-level caches of two cores") };
        let names: Vec<&str> = nests.iter().map(|nest| nest.name.as_str()).collect();
        assert_eq!(names, ["L2 0 · performance", "L2 1 · efficiency", "L2 2 · efficiency"]);
    }
}
