//! The CPUs that are near each other, for locks that hand over to a near thread.
//!
//! Domains are the leaves of a tree: CPUs that share a third-level cache, below the NUMA nodes and packages that they belong
//! to, as far as a machine has several. A thread is of the domain on whose CPU it runs when it comes to the lock.

use std::sync::Arc;

#[cfg(feature = "machine")]
use corecast_base::CpuId;
use corecast_base::sync::{AtomicU32, Ordering};
#[cfg(feature = "machine")]
use corecast_machine::{Cpu, Machine};

/// The domains of a machine, or made-up ones. Clones are the same.
#[derive(Debug, Clone)]
pub struct Domains(Arc<Tree>);

#[derive(Debug)]
struct Tree {
    /// The node above each; `None` of the root alone, which is the last one. The domains are the first nodes.
    above: Vec<Option<usize>>,
    /// How many domains there are.
    count: usize,
    place: Place,
}

/// The way to find a thread's domain.
#[derive(Debug)]
enum Place {
    /// There is one domain.
    One,
    /// The domain of each CPU, by its number. One that is not there is of the first domain.
    #[cfg(feature = "machine")]
    Cpus(Vec<usize>),
    /// Each newcomer is of the next one. Written by all.
    Dealt(AtomicU32),
}

impl Domains {
    /// All CPUs are near each other.
    #[must_use]
    pub fn one() -> Self {
        Self(Arc::new(Tree { above: vec![None], count: 1, place: Place::One }))
    }

    /// Those that this machine tells of: packages, their NUMA nodes, and the CPUs there that share a third-level cache. A
    /// level with a single member is left out.
    ///
    /// ```
    /// use corecast_lock::{Domains, Hmcs, Mutex, Setup};
    /// use corecast_base::CpuId;
    /// use corecast_machine::{Cpu, Machine, Topology};
    ///
    /// let cpu = |id| Cpu { package: Some(0), l3: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
    /// let machine = Machine::from_topology(&Topology { cpus: (0..8).map(cpu).collect(), ..Topology::default() });
    /// let mut setup = Setup::default();
    /// setup.domains = Domains::of_machine(&machine);
    /// assert_eq!(setup.domains.count(), 2);
    /// let mutex: Mutex<u32, Hmcs> = Mutex::for_setup(7, &setup);
    /// assert_eq!(mutex.with(|value| *value), 7);
    /// ```
    #[cfg(feature = "machine")]
    #[must_use]
    pub fn of_machine(machine: &Machine) -> Self {
        let path = |cpu: &Cpu| [cpu.package, cpu.numa, cpu.l3];
        let mut paths: Vec<(CpuId, [Option<u32>; 3])> = machine.cpus.iter().map(|cpu| (cpu.id, path(cpu))).collect();
        paths.sort_by_key(|(_, path)| *path);
        let mut growing = Growing { above: vec![None], of_cpu: Vec::new() };
        growing.grow(0, 0, &paths);
        growing.finished()
    }

    /// Made-up ones, for tests and experiments: the root has `children[0]` nodes below it, each of those `children[1]`, and so
    /// on. Each newcomer to a lock is of the next domain in turn, wherever its thread runs.
    ///
    /// # Panics
    /// If a number is 0.
    #[must_use]
    #[track_caller]
    pub fn dealt(children: &[usize]) -> Self {
        assert!(!children.contains(&0), "a node of a tree of domains has at least one below it");
        let mut above = Vec::new();
        let counts: Vec<usize> =
            (0..=children.len()).map(|level| children[..level].iter().product::<usize>()).rev().collect();
        for (level, &count) in counts.iter().enumerate() {
            let next_level = above.len() + count;
            let fan = children.len().checked_sub(level + 1).map(|at| children[at]);
            above.extend((0..count).map(|at| fan.map(|fan| next_level + at / fan)));
        }
        Self(Arc::new(Tree { above, count: counts[0], place: Place::Dealt(AtomicU32::new(0)) }))
    }

    /// How many domains there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// The domain where this thread is now.
    #[inline]
    pub(crate) fn here(&self) -> usize {
        match &self.0.place {
            Place::One => 0,
            #[cfg(feature = "machine")]
            Place::Cpus(_) => self.of(CpuId::of_this_thread()),
            // ORDERING: Relaxed, the number is all there is to know
            Place::Dealt(next) => next.fetch_add(1, Ordering::Relaxed) as usize % self.0.count,
        }
    }

    /// The domain of this CPU, unless the domains are dealt in turn.
    #[cfg(feature = "machine")]
    #[inline]
    pub(crate) fn of(&self, cpu: CpuId) -> usize {
        match &self.0.place {
            Place::Cpus(domains) => domains.get(cpu.get() as usize).copied().unwrap_or(0),
            Place::One | Place::Dealt(_) => 0,
        }
    }

    /// The node above each node of the tree, whose first ones are the domains; `None` of the root alone, the last one.
    pub(crate) fn above(&self) -> &[Option<usize>] {
        &self.0.above
    }
}

#[cfg(feature = "machine")]
/// A tree in the making, with its root first.
struct Growing {
    above: Vec<Option<usize>>,
    /// The leaf of each CPU.
    of_cpu: Vec<(CpuId, usize)>,
}

#[cfg(feature = "machine")]
impl Growing {
    /// Puts these CPUs, sorted by their paths, below `node`, as they differ from `depth` on.
    fn grow(&mut self, node: usize, depth: usize, cpus: &[(CpuId, [Option<u32>; 3])]) {
        if depth == 3 {
            return self.of_cpu.extend(cpus.iter().map(|(cpu, _)| (*cpu, node)));
        }
        let mut parts = cpus.chunk_by(|(_, a), (_, b)| a[depth] == b[depth]).peekable();
        let Some(first) = parts.next() else { return };
        if parts.peek().is_none() {
            return self.grow(node, depth + 1, first);
        }
        for part in std::iter::once(first).chain(parts) {
            self.above.push(Some(node));
            self.grow(self.above.len() - 1, depth + 1, part);
        }
    }

    /// The same with its leaves first and its root last.
    fn finished(self) -> Domains {
        let is_inner = |node: &usize| self.above.contains(&Some(*node));
        let mut order: Vec<usize> = (0..self.above.len()).collect();
        order.sort_by_key(|node| (is_inner(node), self.above[*node].is_none()));
        let count = order.iter().filter(|node| !is_inner(node)).count();
        let name = |old: usize| order.iter().position(|&node| node == old).expect("an order of all nodes");
        let above = order.iter().map(|&node| self.above[node].map(name)).collect();
        let most = self.of_cpu.iter().map(|(cpu, _)| cpu.get() as usize + 1).max().unwrap_or(0);
        let mut domains = vec![0; most];
        self.of_cpu.iter().for_each(|&(cpu, node)| domains[cpu.get() as usize] = name(node));
        let place = if count == 1 { Place::One } else { Place::Cpus(domains) };
        Domains(Arc::new(Tree { above, count, place }))
    }
}

#[cfg(all(test, feature = "machine", not(loom)))]
mod tests {
    use corecast_machine::Topology;

    use super::*;

    fn machine(cpus: impl IntoIterator<Item = (u32, u32, u32)>) -> Machine {
        let cpu = |(id, (package, numa, l3))| Cpu {
            package: Some(package),
            numa: Some(numa),
            l3: Some(l3),
            ..Cpu::flat(CpuId::new(id))
        };
        let cpus = (0..).zip(cpus).map(cpu).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    /// The domain of each CPU, and the tree.
    fn told(domains: &Domains) -> (Vec<usize>, Vec<Option<usize>>) {
        let of_cpu = match &domains.0.place {
            Place::Cpus(of_cpu) => of_cpu.clone(),
            _ => Vec::new(),
        };
        (of_cpu, domains.above().to_vec())
    }

    #[test]
    fn a_single_domain_of_a_machine_is_no_level() {
        let one = Domains::of_machine(&machine([(0, 0, 0), (0, 0, 0)]));
        assert_eq!((told(&one), one.count(), one.here()), ((vec![], vec![None]), 1, 0));
        let caches = Domains::of_machine(&machine([(0, 0, 3), (0, 0, 5), (0, 0, 3)]));
        assert_eq!((told(&caches), caches.count()), ((vec![0, 1, 0], vec![Some(2), Some(2), None]), 2));
        assert!(caches.here() < 2);
        let empty = Domains::of_machine(&machine([]));
        assert_eq!((told(&empty).1, empty.count()), (vec![None], 1));
    }

    #[test]
    fn caches_are_below_packages() {
        // Two packages with two caches, and one with one.
        let domains = Domains::of_machine(&machine([(0, 0, 0), (0, 0, 1), (1, 1, 2), (1, 1, 3), (2, 2, 4), (0, 0, 0)]));
        assert_eq!(domains.count(), 5);
        let (of_cpu, above) = told(&domains);
        assert_eq!(of_cpu[0], of_cpu[5]);
        let package = |cpu: usize| above[of_cpu[cpu]].expect("there are several");
        assert_eq!((package(0), package(2)), (package(1), package(3)));
        assert_eq!(above[package(0)], Some(package(4)), "the package of one cache is a leaf below the root");
        assert_eq!(above.iter().position(Option::is_none), Some(above.len() - 1));
    }

    #[test]
    fn made_up_domains_are_dealt_in_turn() {
        let domains = Domains::dealt(&[2, 3]);
        let root = Some(8);
        let expected = [6, 6, 6, 7, 7, 7].map(Some).into_iter().chain([root, root, None]).collect::<Vec<_>>();
        assert_eq!((domains.above(), domains.count()), (&*expected, 6));
        assert_eq!([(); 7].map(|()| domains.clone().here()), [0, 1, 2, 3, 4, 5, 0]);
        assert_eq!((Domains::dealt(&[]).above(), Domains::dealt(&[1]).above()), (&[None][..], &[Some(1), None][..]));
    }

    #[test]
    #[should_panic(expected = "a node of a tree of domains has at least one below it")]
    fn a_node_without_children_is_refused() {
        let _domains = Domains::dealt(&[2, 0]);
    }
}
