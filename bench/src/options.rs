//! What a caller may ask of a run.

use std::time::Duration;

use corecast::base::wait::Wait;
use corecast::base::{CpuId, CpuSet};
use corecast::collective::MAX_MEMBERS;
use corecast::machine::{Machine, pin};

use crate::cancel::Cancel;
use crate::error::BenchError;
use crate::harness::Pace;
use crate::op::Op;

/// Settings of a run; the default asks for a thorough run on all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The CPUs to use; those of the machine that this process may use by default.
    pub cpus: Option<CpuSet>,
    /// The numbers of participants; by default as many as there are CPUs, and for the barrier four times as many too.
    pub participants: Vec<usize>,
    /// The collectives to race; all by default.
    pub ops: Vec<Op>,
    /// How corecast's contenders wait.
    pub wait: Wait,
    /// Fewer and shorter blocks.
    pub quick: bool,
    /// How long the run should take; about 20 s by default, 4 s if quick. Few samples are not made fewer to keep it.
    pub budget: Option<Duration>,
    /// The seed of all random choices; drawn and reported by default.
    pub seed: Option<u64>,
    /// By which the caller may stop the run.
    pub cancel: Cancel,
}

impl Options {
    pub(crate) fn pace(&self) -> Pace {
        if self.quick { Pace::QUICK } else { Pace::THOROUGH }
    }

    pub(crate) fn total(&self) -> Duration {
        self.budget.unwrap_or(Duration::from_secs(if self.quick { 4 } else { 20 }))
    }

    pub(crate) fn seed_or_draw(&self) -> u64 {
        // Small enough that JSON readers which know only floating point numbers keep it.
        self.seed.unwrap_or_else(|| fastrand::u64(..1 << 53))
    }

    pub(crate) fn go_on(&self) -> Result<(), BenchError> {
        if self.cancel.is_cancelled() { Err(BenchError::Cancelled) } else { Ok(()) }
    }

    /// The CPUs to use, all of which exist in the model and may be used.
    pub(crate) fn usable_cpus(&self, machine: &Machine) -> Result<CpuSet, BenchError> {
        let usable = machine.cpu_set().intersection(&pin::affinity()?);
        let cpus = self.cpus.clone().unwrap_or_else(|| usable.clone());
        if let Some(&cpu) = cpus.difference(&usable).as_slice().first() {
            return Err(BenchError::Cpu { cpu, usable });
        }
        if cpus.is_empty() { Err(BenchError::NoCpus) } else { Ok(cpus) }
    }

    /// The first two of the CPUs to use; one and the same twice if there is no other.
    pub(crate) fn pair(&self, machine: &Machine) -> Result<[CpuId; 2], BenchError> {
        let cpus = self.usable_cpus(machine)?;
        let first = cpus.as_slice()[0];
        Ok([first, cpus.as_slice().get(1).copied().unwrap_or(first)])
    }

    /// Every operation with every number of participants.
    pub(crate) fn heats(&self, cpus: usize) -> Result<Vec<(Op, usize)>, BenchError> {
        let ops = if self.ops.is_empty() { &Op::COLLECTIVES[..] } else { &self.ops[..] };
        if let Some(&op) = ops.iter().find(|op| !Op::COLLECTIVES.contains(op)) {
            return Err(BenchError::NoCollective(op));
        }
        let is_group = |participants: &usize| (2..=MAX_MEMBERS).contains(participants);
        if let Some(&participants) = self.participants.iter().find(|participants| !is_group(participants)) {
            return Err(BenchError::Participants { participants, most: MAX_MEMBERS });
        }
        let heats = ops.iter().flat_map(|&op| self.sizes(op, cpus).into_iter().map(move |size| (op, size)));
        Ok(heats.collect())
    }

    fn sizes(&self, op: Op, cpus: usize) -> Vec<usize> {
        if !self.participants.is_empty() {
            return self.participants.clone();
        }
        let mut sizes = if cpus > 1 { vec![cpus] } else { Vec::new() };
        if op == Op::Barrier || cpus == 1 {
            sizes.push(4 * cpus);
        }
        sizes.retain(|&size| size <= MAX_MEMBERS);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;

    fn machine(ids: &[u32]) -> Machine {
        let cpus = ids.iter().map(|&id| Cpu::flat(CpuId::new(id))).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    #[test]
    fn all_collectives_run_on_all_cpus_and_the_barrier_in_a_crowd_too() {
        let heats = Options::default().heats(2).expect("defaults are valid");
        let expected = [(Op::Barrier, 2), (Op::Barrier, 8), (Op::Broadcast, 2), (Op::Reduce, 2), (Op::Allreduce, 2)];
        assert_eq!(heats, expected);
        assert!(Options::default().heats(1).expect("valid").iter().all(|&(_, size)| size == 4));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let options = Options { participants: vec![2, 1], ..Options::default() };
        assert!(options.heats(2).expect_err("no group of one").to_string().contains("not 1"));
        let options = Options { ops: vec![Op::Stream], ..Options::default() };
        assert_eq!(options.heats(2), Err(BenchError::NoCollective(Op::Stream)));
        let absent = Options { cpus: Some("0,4000".parse().expect("a list")), ..Options::default() };
        let error = absent.usable_cpus(&machine(&[4000])).expect_err("nobody may use CPU 4000");
        assert!(matches!(error, BenchError::Cpu { .. }), "{error}");
        let none = Options { cpus: Some(CpuSet::default()), ..Options::default() };
        assert_eq!(none.usable_cpus(&machine(&[0])), Err(BenchError::NoCpus));
    }
}
