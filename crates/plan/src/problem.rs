//! The input of planning: a set of members and what messages between them cost.
//!
//! Members are numbered from 0 (their *rank*). A problem is cut out of a [`Machine`] once and then only read: dense,
//! with every cost checked, so that shapes and the simulator index by rank instead of CPU id.

use std::fmt;

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{CostMatrix, Machine, MachineError, Unit};

use crate::levels;
use crate::noise::noise;
use crate::terms::Terms;

/// The cost assumed between members on one CPU where the machine has no pair of CPUs to learn from: about a
/// switch between threads in nanoseconds.
const SAME_CPU_COST: f64 = 1000.0;

/// Members, the CPUs they run on, and the costs between them.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::Problem;
/// let cpus = [2, 3, 7].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let problem = Problem::new(&machine, &"3,7".parse()?)?;
/// assert_eq!((problem.len(), problem.cpu(1)), (2, CpuId::new(7)));
/// assert!(Problem::new(&machine, &"3-4".parse()?).is_err(), "the machine has no CPU 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Problem {
    machine: String,
    unit: Unit,
    cpus: Vec<CpuId>,
    numa: Vec<u32>,
    /// Ranks by NUMA node, ascending in each.
    listing: Vec<usize>,
    /// By rank: see [`Problem::siblings`].
    siblings: Vec<u32>,
    /// `send[i * len + j]`.
    send: Vec<f64>,
    /// `receive[i * len + j]`.
    receive: Vec<f64>,
    /// The relative error of the costs: see [`Problem::noise`].
    noise: Option<f64>,
    terms: Terms,
}

/// Why there is nothing to plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// No member was asked for.
    #[error("the set of CPUs is empty: a plan needs at least one")]
    Empty,
    /// A CPU is not part of the machine.
    #[error("CPU {cpu} is not in the machine model '{machine}', which has CPUs {existing}")]
    UnknownCpu {
        /// The CPU.
        cpu: CpuId,
        /// The machine's name.
        machine: String,
        /// Its CPUs.
        existing: CpuSet,
    },
    /// The parts of the machine model contradict each other.
    #[error("the machine model does not hold together: {0}")]
    Machine(#[from] MachineError),
}

impl Problem {
    /// One member on each of `cpus`; rank 0 is the lowest id.
    ///
    /// # Errors
    ///
    /// If the set is empty, the machine lacks one of the CPUs, or [`Machine::check`] fails.
    pub fn new(machine: &Machine, cpus: &CpuSet) -> Result<Self, ProblemError> {
        Self::of_members(machine, cpus.as_slice())
    }

    /// One member on each CPU of the machine; rank 0 is the lowest id.
    ///
    /// # Errors
    ///
    /// If [`Machine::check`] fails.
    pub fn of_machine(machine: &Machine) -> Result<Self, ProblemError> {
        Self::new(machine, &machine.cpu_set())
    }

    /// Members in the order given, several of them on one CPU if it is named several times.
    ///
    /// Members on one CPU take turns, which no pairwise measurement shows: they are *assumed* to pay the most expensive
    /// send and receive of the whole machine (1000 each where it has one CPU only), so that a plan avoids such edges
    /// where it can. The rank breaks ties that the shapes' authors broke by CPU id.
    ///
    /// # Errors
    ///
    /// As [`Problem::new`].
    pub fn of_members(machine: &Machine, members: &[CpuId]) -> Result<Self, ProblemError> {
        machine.check()?;
        if members.is_empty() {
            return Err(ProblemError::Empty);
        }
        let positions = members.iter().map(|&cpu| known_position(machine, cpu)).collect::<Result<Vec<_>, _>>()?;
        let nodes = machine.numa_nodes();
        let numa: Vec<u32> = positions.iter().map(|&position| nodes[position]).collect();
        Ok(Self {
            machine: machine.name.clone(),
            unit: machine.unit,
            cpus: members.to_vec(),
            send: member_costs(&positions, &machine.send),
            receive: member_costs(&positions, &machine.receive),
            noise: noise(machine, &positions),
            siblings: levels::siblings(machine, &positions),
            listing: by_numa(&numa),
            numa,
            terms: Terms::default(),
        })
    }

    /// The same members and pairwise costs with these terms beyond pairs, which [`crate::simulate`] and every search
    /// then count.
    #[must_use]
    pub fn with_terms(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }

    /// The members of these ranks, in this order, with the costs and terms that they have here: member 0 is the first.
    ///
    /// ```
    /// # use corecast_base::CpuId;
    /// # use corecast_machine::{Cpu, Machine, Topology};
    /// # use corecast_plan::Problem;
    /// # let cpus = [2, 3, 7].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    /// # let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    /// let problem = Problem::of_machine(&machine)?;
    /// assert_eq!(problem.subset(&[2, 0]).cpus(), [CpuId::new(7), CpuId::new(2)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no rank, or one that is not below [`Problem::len`].
    #[must_use]
    #[track_caller]
    pub fn subset(&self, ranks: &[usize]) -> Self {
        assert!(!ranks.is_empty(), "a problem has at least one member");
        let numa: Vec<u32> = ranks.iter().map(|&rank| self.numa[rank]).collect();
        let between = |cost: &dyn Fn(usize, usize) -> f64| {
            ranks.iter().flat_map(|&from| ranks.iter().map(move |&to| cost(from, to))).collect()
        };
        Self {
            machine: self.machine.clone(),
            unit: self.unit,
            cpus: ranks.iter().map(|&rank| self.cpus[rank]).collect(),
            send: between(&|from, to| self.send(from, to)),
            receive: between(&|from, to| self.receive(from, to)),
            noise: self.noise,
            siblings: levels::numbered(ranks.iter().map(|&rank| self.siblings[rank])),
            listing: by_numa(&numa),
            numa,
            terms: self.terms.clone(),
        }
    }

    /// The same members, costs and terms with the CPU of each replaced by its rank: for plans in JSON, which name
    /// members by CPUs and so need distinct ones.
    #[must_use]
    pub fn by_rank(&self) -> Self {
        Self { cpus: (0..self.cpus.len() as u32).map(CpuId::new).collect(), ..self.clone() }
    }

    /// The same members and terms with other pairwise costs, dense by rank.
    pub(crate) fn with_costs(&self, send: Vec<f64>, receive: Vec<f64>) -> Self {
        Self { send, receive, ..self.clone() }
    }

    /// The relative error of the pairwise costs, from their spread in the machine model: a relative standard deviation,
    /// that of the pair in the middle. `None` if the model has no spread. See [`Problem::robust`].
    #[must_use]
    pub fn noise(&self) -> Option<f64> {
        self.noise
    }

    /// The clusters of members that costs show, finest first, and the NUMA nodes if they differ from those: for each
    /// level the cluster of each member, numbered from 0 in the order of first members.
    #[must_use]
    pub fn levels(&self) -> Vec<Vec<u32>> {
        let members = self.len();
        let mut found = corecast_machine::clusters::levels(members, &|a, b| self.message(a, b));
        let numa = levels::numbered((0..members).map(|member| self.numa(member)));
        if !found.contains(&numa) {
            found.push(numa);
        }
        found
    }

    /// The number of members: at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a problem is never empty")]
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// The CPU of a member.
    ///
    /// # Panics
    ///
    /// As every method that takes a rank: if it is not below [`Problem::len`].
    #[must_use]
    #[track_caller]
    pub fn cpu(&self, member: usize) -> CpuId {
        self.cpus[member]
    }

    /// The CPUs of all members, by rank.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        &self.cpus
    }

    /// The first member on a CPU.
    #[must_use]
    pub fn member_on(&self, cpu: CpuId) -> Option<usize> {
        self.cpus.iter().position(|&known| known == cpu)
    }

    /// The time that `from` is busy sending one message to `to`, in [`Problem::unit`].
    #[must_use]
    #[track_caller]
    pub fn send(&self, from: usize, to: usize) -> f64 {
        self.send[from * self.cpus.len() + to]
    }

    /// The time that `to` is busy receiving one message from `from`, in [`Problem::unit`].
    #[must_use]
    #[track_caller]
    pub fn receive(&self, from: usize, to: usize) -> f64 {
        self.receive[from * self.cpus.len() + to]
    }

    /// The cost of a message from start to end: send and receive.
    #[must_use]
    #[track_caller]
    pub fn message(&self, from: usize, to: usize) -> f64 {
        self.send(from, to) + self.receive(from, to)
    }

    /// The terms beyond pairs: none unless [`Problem::with_terms`] was called.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The time that the `nth` of a burst of sends, counted from 0, keeps `from` busy: [`Problem::send`] and what
    /// undrained sends add to it.
    #[must_use]
    #[track_caller]
    pub fn nth_send(&self, from: usize, to: usize, nth: usize) -> f64 {
        let more = self.terms.undrained_sends.get(nth).copied().unwrap_or(0.0);
        (self.send(from, to) + more).max(0.0)
    }

    /// The time that a message from `from` keeps `to` from receiving another: [`Problem::receive`], or less where
    /// receives overlap. The rest of the receive is latency.
    #[must_use]
    #[track_caller]
    pub fn occupancy(&self, from: usize, to: usize) -> f64 {
        let receive = self.receive(from, to);
        self.terms.overlapped_receive.map_or(receive, |overlapped| overlapped.min(receive))
    }

    /// The NUMA node of a member's CPU, or what stands in for it: see [`Machine::numa_nodes`].
    #[must_use]
    #[track_caller]
    pub fn numa(&self, member: usize) -> u32 {
        self.numa[member]
    }

    /// All members by ascending NUMA node, ascending by rank in each.
    #[must_use]
    pub fn numa_listing(&self) -> &[usize] {
        &self.listing
    }

    /// The second-level cache or core of each member: members with equal numbers share one.
    #[must_use]
    pub fn siblings(&self) -> &[u32] {
        &self.siblings
    }

    /// The machine's name.
    #[must_use]
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The unit of every cost.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The name of this member in messages: its CPU, and its rank too where several members share that CPU.
    #[must_use]
    pub fn name(&self, member: usize) -> String {
        let cpu = self.cpus[member];
        let alone = self.cpus.iter().filter(|&&other| other == cpu).count() == 1;
        if alone { format!("CPU {cpu}") } else { format!("member {member} on CPU {cpu}") }
    }
}

fn known_position(machine: &Machine, cpu: CpuId) -> Result<usize, ProblemError> {
    machine.position(cpu).ok_or_else(|| ProblemError::UnknownCpu {
        cpu,
        machine: machine.name.clone(),
        existing: machine.cpu_set(),
    })
}

/// All ranks by ascending node, ascending in each.
fn by_numa(numa: &[u32]) -> Vec<usize> {
    let mut listing: Vec<usize> = (0..numa.len()).collect();
    listing.sort_by_key(|&rank| numa[rank]);
    listing
}

/// The dense costs between members at these positions of the machine.
fn member_costs(positions: &[usize], matrix: &CostMatrix) -> Vec<f64> {
    let same_cpu = if matrix.len() > 1 { matrix.largest() } else { SAME_CPU_COST };
    let mut costs = Vec::with_capacity(positions.len() * positions.len());
    for (from, &i) in positions.iter().enumerate() {
        costs.extend(positions.iter().enumerate().map(|(to, &j)| match (from == to, i == j) {
            (true, _) => 0.0,
            (false, true) => same_cpu,
            (false, false) => matrix.get(i, j),
        }));
    }
    costs
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({} members of {:?}, in {})", self.len(), self.machine, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_machine::{Cpu, Topology};

    fn machine(ids: &[u32]) -> Machine {
        let cpus = ids.iter().map(|&id| Cpu { package: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn debug_is_one_short_line() {
        let machine = Machine { name: "rack".to_owned(), ..machine(&std::array::from_fn::<_, 16, _>(|id| id as u32)) };
        let problem = Problem::of_machine(&machine).expect("CPUs");
        assert_eq!(format!("{problem:?}"), "Problem(16 members of \"rack\", in ns)");
        let store = crate::PlanStore::new("plans".into(), &problem);
        assert_eq!(format!("{store:?}"), "PlanStore(\"plans\", 16 members)");
    }

    #[test]
    fn a_cpu_that_the_machine_lacks_is_named_with_those_it_has() {
        let error = Problem::new(&machine(&[0, 1]), &"0-99".parse().expect("a list")).expect_err("no CPU 2");
        let text = error.to_string();
        assert!(text.contains("CPU 2 ") && text.contains("has CPUs 0-1"), "{text}");
        assert_eq!(Problem::new(&machine(&[0]), &CpuSet::default()), Err(ProblemError::Empty));
    }

    #[test]
    fn members_on_one_cpu_pay_the_dearest_cost() {
        let machine = machine(&[0, 1, 4]);
        let members = [0, 0, 1].map(CpuId::new);
        let problem = Problem::of_members(&machine, &members).expect("known CPUs");
        assert_eq!(problem.send(0, 1), machine.send.largest());
        assert_eq!(problem.receive(1, 0), machine.receive.largest());
        assert!(problem.message(0, 2) < problem.message(0, 1));
        assert_eq!(problem.send(1, 1), 0.0);
        assert_eq!(problem.name(1), "member 1 on CPU 0");
    }

    #[test]
    fn members_of_a_machine_with_one_cpu_still_pay() {
        let problem = Problem::of_members(&machine(&[3]), &[3, 3].map(CpuId::new)).expect("known CPU");
        assert_eq!(problem.message(0, 1), 2.0 * SAME_CPU_COST);
    }

    #[test]
    fn a_subset_is_what_its_members_would_be_alone() {
        let machine = machine(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let whole = Problem::of_members(&machine, &[5, 0, 1, 5, 7].map(CpuId::new)).expect("known CPUs");
        let alone = Problem::of_members(&machine, &[7, 5, 5].map(CpuId::new)).expect("known CPUs");
        assert_eq!(whole.subset(&[4, 3, 0]), alone);
        assert_eq!(whole.subset(&[0, 1, 2, 3, 4]), whole);
        let terms = Terms { overlapped_receive: Some(2.0), ..Terms::default() };
        assert_eq!(whole.with_terms(terms.clone()).subset(&[1]).terms(), &terms);
    }

    #[test]
    fn ranks_ascend_by_id_whatever_the_order_in_the_model() {
        let problem = Problem::of_machine(&machine(&[9, 0, 4, 1])).expect("all CPUs");
        assert_eq!(problem.cpus().iter().map(|cpu| cpu.get()).collect::<Vec<_>>(), [0, 1, 4, 9]);
        assert_eq!(problem.numa_listing(), [0, 1, 2, 3]);
        assert_eq!(problem.member_on(CpuId::new(9)), Some(3));
    }
}
