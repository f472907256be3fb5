//! The options that a caller may set for a run.

use std::time::Duration;

use corecast::base::wait::Wait;
use corecast::base::{CpuId, CpuSet};
use corecast::collective::MAX_MEMBERS;
use corecast::machine::{Machine, pin};

use crate::cancel::Cancel;
use crate::contender::{Contender, contenders};
use crate::error::BenchError;
use crate::harness::Pace;
use crate::op::Op;
use crate::place::Place;

/// The most that an operation of a race carries: 64 MiB.
pub const MAX_BYTES: usize = 64 << 20;

/// Settings of a run; the default asks for a thorough run on all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The CPUs to use; those of the machine that this process may use by default.
    pub cpus: Option<CpuSet>,
    /// The numbers of participants; by default as many as there are CPUs, and for the barrier four times as many too.
    pub participants: Vec<usize>,
    /// The collectives to race; barriers, broadcasts and reductions by default.
    pub ops: Vec<Op>,
    /// The lengths in bytes of what broadcasts and reductions carry: whole words of 8 bytes, up to [`MAX_BYTES`]. By default
    /// 56 for a broadcast and 8 for a reduction. Barriers carry nothing.
    pub sizes: Vec<usize>,
    /// The contenders to race besides the reference, by name; all by default.
    pub contenders: Vec<String>,
    /// Whether contenders that run in a program of their own are raced when none is named. It is built with what
    /// compilers there are and started for each group, which takes seconds.
    pub external: bool,
    /// How corecast's contenders wait.
    pub wait: Wait,
    /// Times collectives by the root's clock, until one member's echo has come, or from the message that lets one member
    /// begin: the protocol of Smelt's authors.
    pub leaf_echo: bool,
    /// Deals members of collectives over the NUMA nodes in turn, where there are fewer than CPUs, as Smelt's authors do.
    pub spread: bool,
    /// Whether the members of collectives are threads or processes, and which program the processes of `bench table` run.
    pub place: Place,
    /// Busy processes that the caller keeps beside the run, for the report and its demands.
    pub busy: usize,
    /// Fewer and shorter blocks.
    pub quick: bool,
    /// How long the run should take; about 20 s by default, 4 s if quick. Few samples are not made fewer to keep it.
    pub budget: Option<Duration>,
    /// The seed of all random choices; drawn and reported by default.
    pub seed: Option<u64>,
    /// By which the caller may stop the run.
    pub cancel: Cancel,
    /// The commit that the caller was built from, for the report; `None` if it was not built in a git checkout.
    pub commit: Option<String>,
}

impl Options {
    /// How long blocks are.
    pub fn pace(&self) -> Pace {
        if self.quick { Pace::QUICK } else { Pace::THOROUGH }
    }

    /// How long the run should take.
    pub fn total(&self) -> Duration {
        self.budget.unwrap_or(Duration::from_secs(if self.quick { 4 } else { 20 }))
    }

    /// The seed asked for, or a new one.
    pub fn seed_or_draw(&self) -> u64 {
        // Small enough that JSON readers which know only floating point numbers keep it.
        self.seed.unwrap_or_else(|| fastrand::u64(..1 << 53))
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// [`BenchError::Cancelled`] once the caller has stopped it.
    pub fn go_on(&self) -> Result<(), BenchError> {
        if self.cancel.is_cancelled() { Err(BenchError::Cancelled) } else { Ok(()) }
    }

    /// The CPUs to use, all of which exist in the model and may be used.
    ///
    /// # Errors
    /// A `BenchError` if the options do not fit the machine or the run is cancelled.
    pub fn usable_cpus(&self, machine: &Machine) -> Result<CpuSet, BenchError> {
        let usable = machine.cpu_set().intersection(&pin::affinity()?);
        let cpus = self.cpus.clone().unwrap_or_else(|| usable.clone());
        if let Some(&cpu) = cpus.difference(&usable).as_slice().first() {
            return Err(BenchError::Cpu { cpu, usable });
        }
        if cpus.is_empty() { Err(BenchError::NoCpus) } else { Ok(cpus) }
    }

    /// The first two of the CPUs to use; one and the same twice if there is no other.
    ///
    /// # Errors
    /// A `BenchError` if the options do not fit the machine or the run is cancelled.
    pub fn pair(&self, machine: &Machine) -> Result<[CpuId; 2], BenchError> {
        let cpus = self.usable_cpus(machine)?;
        let first = cpus.as_slice()[0];
        Ok([first, cpus.as_slice().get(1).copied().unwrap_or(first)])
    }

    /// Those of an operation's contenders that take part, the reference first.
    pub fn raced(&self, contenders: Vec<Box<dyn Contender>>) -> Vec<Box<dyn Contender>> {
        let is_named = |contender: &dyn Contender| self.contenders.contains(&contender.name());
        let is_meant = |contender: &dyn Contender| {
            let is_unnamed = self.contenders.is_empty() && !contender.is_only_by_name();
            is_named(contender) || is_unnamed && (self.external || !contender.is_external())
        };
        let numbered = contenders.into_iter().enumerate();
        numbered.filter(|(i, contender)| *i == 0 || is_meant(&**contender)).map(|(_, contender)| contender).collect()
    }

    /// Those of `all` that are named, in the order of `all`; all if none is.
    ///
    /// # Errors
    /// A `BenchError` if the options do not fit the machine or the run is cancelled.
    pub fn chosen<C>(&self, all: Vec<C>, name_of: impl Fn(&C) -> &'static str) -> Result<Vec<C>, BenchError> {
        let is_unknown = |name: &&String| !all.iter().any(|contender| name_of(contender) == **name);
        if let Some(name) = self.contenders.iter().find(is_unknown) {
            let known = all.iter().map(&name_of).collect::<Vec<_>>().join(", ");
            return Err(BenchError::Contender { name: name.clone(), known });
        }
        let is_chosen =
            |contender: &C| self.contenders.is_empty() || self.contenders.iter().any(|name| name == name_of(contender));
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// Every operation with every length and every number of participants.
    ///
    /// # Errors
    /// A `BenchError` if the options do not fit the machine or the run is cancelled.
    pub fn heats(&self, cpus: usize) -> Result<Vec<(Op, usize, usize)>, BenchError> {
        let ops = self.collectives()?;
        self.know_contenders(&ops)?;
        let mut heats = Vec::new();
        for op in ops {
            let sizes = self.group_sizes(op, cpus)?;
            for bytes in self.lengths(op)? {
                heats.extend(sizes.iter().map(|&size| (op, bytes, size)));
            }
        }
        Ok(heats)
    }

    /// The lengths of what an operation carries.
    fn lengths(&self, op: Op) -> Result<Vec<usize>, BenchError> {
        let fits = |bytes: usize| bytes % size_of::<u64>() == 0 && bytes <= MAX_BYTES;
        if let Some(&bytes) = self.sizes.iter().find(|&&bytes| !fits(bytes)) {
            return Err(BenchError::Size { bytes, most: MAX_BYTES });
        }
        Ok(if op == Op::Barrier || self.sizes.is_empty() { vec![op.bytes()] } else { self.sizes.clone() })
    }

    /// The operations asked for.
    fn collectives(&self) -> Result<Vec<Op>, BenchError> {
        let ops = if self.ops.is_empty() { Op::USUAL.to_vec() } else { self.ops.clone() };
        if let Some(&op) = ops.iter().find(|op| !Op::COLLECTIVES.contains(op)) {
            return Err(BenchError::NoCollective(op));
        }
        Ok(ops)
    }

    /// Refuses names that no contender of these operations has.
    fn know_contenders(&self, ops: &[Op]) -> Result<(), BenchError> {
        let mut known: Vec<String> = Vec::new();
        for contender in ops.iter().flat_map(|&op| contenders(op)) {
            if !known.contains(&contender.name()) {
                known.push(contender.name());
            }
        }
        match self.contenders.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(BenchError::Contender { name: name.clone(), known: known.join(", ") }),
            None => Ok(()),
        }
    }

    /// The numbers of participants that an operation is raced with.
    ///
    /// # Errors
    /// A `BenchError` if the options do not fit the machine or the run is cancelled.
    pub fn group_sizes(&self, op: Op, cpus: usize) -> Result<Vec<usize>, BenchError> {
        let is_group = |participants: &usize| (2..=MAX_MEMBERS).contains(participants);
        if let Some(&participants) = self.participants.iter().find(|participants| !is_group(participants)) {
            return Err(BenchError::Participants { participants, most: MAX_MEMBERS });
        }
        if !self.participants.is_empty() {
            return Ok(self.participants.clone());
        }
        let mut sizes = if cpus > 1 { vec![cpus] } else { Vec::new() };
        if matches!(op, Op::Barrier | Op::Acknowledged) || cpus == 1 {
            sizes.push(4 * cpus);
        }
        sizes.retain(|&size| size <= MAX_MEMBERS);
        Ok(sizes)
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
        let (barrier, broadcast) = (Op::Barrier, (Op::Broadcast, 56, 2));
        let expected = [(barrier, 0, 2), (barrier, 0, 8), broadcast, (Op::Reduce, 8, 2), (Op::Allreduce, 8, 2)];
        assert_eq!(heats, expected);
        assert!(Options::default().heats(1).expect("valid").iter().all(|&(_, _, size)| size == 4));
    }

    #[test]
    fn those_named_are_raced_beside_the_reference() {
        let names = |options: &Options, op| -> Vec<String> {
            options.raced(contenders(op)).iter().map(|contender| contender.name()).collect()
        };
        let named = Options { contenders: vec!["libgomp".into(), "std".into()], ..Options::default() };
        assert_eq!(names(&named, Op::Barrier), ["corecast", "std", "libgomp"]);
        assert_eq!(names(&named, Op::Reduce), ["corecast"]);
        let all = Options { external: true, ..Options::default() };
        assert!(names(&all, Op::Barrier).contains(&"libgomp".to_owned()));
        assert!(!names(&Options::default(), Op::Barrier).contains(&"libgomp".to_owned()));
    }

    #[test]
    fn all_but_barriers_carry_what_is_asked_for() {
        let heats = |sizes: &[usize]| {
            let (ops, sizes) = (vec![Op::Barrier, Op::Reduce], sizes.to_vec());
            Options { ops, sizes, participants: vec![2], ..Options::default() }.heats(2)
        };
        let barrier = (Op::Barrier, 0, 2);
        assert_eq!(heats(&[0, MAX_BYTES]), Ok(vec![barrier, (Op::Reduce, 0, 2), (Op::Reduce, MAX_BYTES, 2)]));
        for bytes in [7, 12, MAX_BYTES + 8] {
            assert_eq!(heats(&[56, bytes]), Err(BenchError::Size { bytes, most: MAX_BYTES }));
        }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let options = Options { participants: vec![2, 1], ..Options::default() };
        assert!(options.heats(2).expect_err("no group of one").to_string().contains("not 1"));
        let options = Options { ops: vec![Op::Stream], ..Options::default() };
        assert_eq!(options.heats(2), Err(BenchError::NoCollective(Op::Stream)));
        let unknown = Options { contenders: vec!["std".into(), "smoke".into()], ..Options::default() };
        let error = unknown.heats(2).expect_err("nobody is called smoke").to_string();
        assert!(error.starts_with("no contender is called 'smoke': there are corecast, "), "{error}");
        let absent = Options { cpus: Some("0,4000".parse().expect("a list")), ..Options::default() };
        let error = absent.usable_cpus(&machine(&[4000])).expect_err("nobody may use CPU 4000");
        assert!(matches!(error, BenchError::Cpu { .. }), "{error}");
        let none = Options { cpus: Some(CpuSet::default()), ..Options::default() };
        assert_eq!(none.usable_cpus(&machine(&[0])), Err(BenchError::NoCpus));
    }
}
