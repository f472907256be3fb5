//! No closure sees half of a transaction: pairs of variables that are always written together, and closures that panic where the
//! two differ, also in attempts that are aborted afterwards.
//!
//! `CORECAST_TM_READS` is the number of reads, of all kinds of instances together: `ci/tm-long.sh` sets it to 10^9.
#![cfg(not(loom))]
#![allow(clippy::print_stderr, reason = "counts and seeds")]

use std::time::Instant;

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};
use corecast_tm::{Abort, Builder, Counts, Form, Manager, Participant, TBlock, TVar, Tm, Tx, Values, Writes};

const PAIRS: usize = 4;
/// Reads in a usual run of the tests.
const USUAL_READS: u64 = 1_000_000;
/// Kinds of instances that share the reads: managers, forms, and when writes are claimed.
const KINDS: u64 = 5 * 2 * 2;

fn machine() -> Machine {
    let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

fn reads() -> u64 {
    let given = std::env::var("CORECAST_TM_READS").ok();
    given.map_or(USUAL_READS, |reads| reads.parse().expect("CORECAST_TM_READS is a number"))
}

#[derive(Clone, Copy)]
struct Pair(TVar<u64>, TVar<u64>);

impl Pair {
    fn new(tm: &Tm) -> Self {
        Self(tm.new_var(0).expect("room"), tm.new_var(0).expect("room"))
    }

    /// The value of both.
    fn read(self, tx: &mut Tx<'_>) -> Result<u64, Abort> {
        let (first, second) = (tx.read(self.0)?, tx.read(self.1)?);
        assert_eq!(first, second, "half of a transaction");
        Ok(first)
    }

    /// Adds one to both, the second one first.
    fn add(self, tx: &mut Tx<'_>) -> Result<(), Abort> {
        let second = tx.read_for_update(self.1)?;
        let first = tx.read(self.0)?;
        assert_eq!(first, second, "half of a transaction");
        tx.write(self.1, second + 1)?;
        tx.write(self.0, first + 1)
    }
}

/// Runs transactions on pairs until `reads` variables were read in transactions that committed.
fn hunt(participant: &mut Participant, pairs: &[Pair], reads: u64) -> (u64, Counts) {
    let mut random = fastrand::Rng::with_seed(participant.id().0.into());
    let (mut done, mut added) = (0, 0);
    while done < reads {
        let (first, second) = (pairs[random.usize(..PAIRS)], pairs[random.usize(..PAIRS)]);
        match random.u8(..8) {
            0 => {
                participant.run(|tx| first.add(tx)).expect("nobody dies");
                (done, added) = (done + 2, added + 1);
            }
            1 => {
                // The values of two pairs, which a transaction that is doomed may have seen at two moments.
                participant.run(|tx| first.read(tx).and_then(|_| second.add(tx))).expect("nobody dies");
                (done, added) = (done + 4, added + 1);
            }
            _ => {
                participant.run(|tx| first.read(tx).and_then(|_| second.read(tx))).expect("nobody dies");
                done += 4;
            }
        }
    }
    (added, participant.counts())
}

#[track_caller]
fn is_opaque(builder: Builder<'_>, reads: u64, name: &str) {
    let begun = Instant::now();
    let tm = builder.participants(4).servers_every(4).variables(PAIRS * 2).build().expect("memory");
    let pairs: Vec<_> = (0..PAIRS).map(|_| Pair::new(&tm)).collect();
    let applications = (0..4).filter(|id| !tm.is_server(*id)).count() as u64;
    let outcome = tm.run_threads(|mut participant| hunt(&mut participant, &pairs, reads.div_ceil(applications)));
    let outcome = outcome.expect("threads");
    let added: u64 = outcome.iter().map(|(added, _)| added).sum();
    let aborts: u64 = outcome.iter().map(|(_, counts)| counts.aborts()).sum();
    if tm.load(pairs[0].0).is_ok() {
        let sum: u64 = pairs.iter().map(|pair| tm.load(pair.0).expect("in memory")).sum();
        assert_eq!(sum, added, "every transaction that committed was done once");
    }
    eprintln!("{name}: {reads} reads, {aborts} aborts, 0 differences, {:?}", begun.elapsed());
}

fn all_managers(form: Form, writes: Writes) {
    let machine = machine();
    for manager in Manager::ALL {
        let builder = Tm::builder(&machine).form(form).writes(writes).manager(manager);
        is_opaque(builder, reads() / KINDS, &format!("{form} {manager} {writes:?}"));
    }
}

#[test]
fn messages_lazy() {
    all_managers(Form::Messages, Writes::Lazy);
}

#[test]
fn messages_eager() {
    all_managers(Form::Messages, Writes::Eager);
}

#[test]
fn shared_lazy() {
    all_managers(Form::Shared, Writes::Lazy);
}

#[test]
fn shared_eager() {
    all_managers(Form::Shared, Writes::Eager);
}

#[test]
fn values_at_servers() {
    let machine = machine();
    for batched in [true, false] {
        let builder = Tm::builder(&machine).values(Values::AtServers).batched(batched);
        is_opaque(builder, reads() / KINDS, &format!("values at servers, batched: {batched}"));
    }
}

/// A block is one variable: all of its words belong together.
#[test]
fn blocks() {
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        let tm = Tm::builder(&machine).participants(3).form(form).build().expect("memory");
        let block: TBlock<u64, 5> = tm.new_block([0; 5]).expect("room");
        let added = tm.run_threads(|mut participant| {
            let mut random = fastrand::Rng::with_seed(participant.id().0.into());
            let mut add = |is_write: bool| {
                participant.run(|tx| {
                    let words = tx.read_block(block)?;
                    assert!(words.iter().all(|word| *word == words[0]), "torn: {words:?}");
                    if is_write { tx.write_block(block, words.map(|word| word + 1)) } else { Ok(()) }
                })
            };
            let writes: Vec<bool> = (0..2000).map(|_| random.bool()).collect();
            writes.iter().for_each(|is_write| add(*is_write).expect("nobody dies"));
            writes.into_iter().filter(|is_write| *is_write).count() as u64
        });
        let added: u64 = added.expect("threads").into_iter().sum();
        let first = tm.var::<u64>(block.index()).expect("its first word");
        assert_eq!(tm.load(first), Ok(added));
    }
}
