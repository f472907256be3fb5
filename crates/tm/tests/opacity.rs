//! No closure sees half of a transaction: pairs of variables that are always written together, and closures that panic where the
//! two differ, also in attempts that are aborted afterwards.
//!
//! A transaction reads its pairs again and again. The first read of a variable takes its lock; each one looks at the value and then
//! at the status, which is where a transaction that was aborted in between would see what its rival stores. So most reads cost
//! no message, and a run has many.
//!
//! `CORECAST_TM_READS` is the number of reads under each manager in each form, `CORECAST_TM_SEED` draws other transactions, and a
//! transaction reads its pairs up to 2 to the power of `CORECAST_TM_ROUNDS_LOG2` times: `ci/tm-long.sh` sets all three.
#![cfg(not(loom))]
#![allow(clippy::print_stderr, reason = "counts and seeds")]

mod two_cpus;

use std::time::Instant;

use corecast_tm::{Abort, Builder, Counts, Form, Manager, Participant, TBlock, TVar, Tm, Tx, Values, Writes};
use two_cpus::machine;

const PAIRS: usize = 4;
/// Reads under each manager in each form, in a usual run of the tests.
const USUAL_READS: u64 = 1_000_000;
/// When writes are claimed: the kinds of instances that share the reads of a manager in a form.
const KINDS: u64 = 2;
/// A transaction reads its pairs up to 2 to this power times, in a usual run of the tests. The power is drawn, so that most are
/// far shorter.
const USUAL_ROUNDS_LOG2: u64 = 8;

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |number| number.parse().unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn reads() -> u64 {
    number("CORECAST_TM_READS", USUAL_READS) / KINDS
}

fn most_rounds_log2() -> u64 {
    number("CORECAST_TM_ROUNDS_LOG2", USUAL_ROUNDS_LOG2)
}

fn seed() -> u64 {
    number("CORECAST_TM_SEED", 1)
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

/// A transaction: two pairs that it reads, how often, and whether it adds to them in the end.
struct Plan {
    pairs: [Pair; 2],
    rounds: u64,
    adds: [bool; 2],
}

impl Plan {
    fn draw(random: &mut fastrand::Rng, pairs: &[Pair], most_rounds_log2: u64) -> Self {
        Self {
            pairs: [pairs[random.usize(..PAIRS)], pairs[random.usize(..PAIRS)]],
            rounds: 1 << random.u64(..=most_rounds_log2),
            adds: [random.u8(..8) == 0, random.u8(..8) == 0],
        }
    }

    fn run(&self, tx: &mut Tx<'_>) -> Result<(), Abort> {
        let [first, second] = self.pairs;
        for _ in 0..self.rounds {
            first.read(tx)?;
            second.read(tx)?;
        }
        let adds = self.pairs.iter().zip(self.adds).filter(|(_, adds)| *adds);
        adds.map(|(pair, _)| *pair).try_for_each(|pair| pair.add(tx))
    }

    fn added(&self) -> u64 {
        self.adds.iter().map(|adds| u64::from(*adds)).sum()
    }

    fn reads(&self) -> u64 {
        4 * self.rounds + 2 * self.added()
    }
}

/// Runs transactions on pairs until `reads` variables were read in transactions that committed.
fn hunt(participant: &mut Participant, pairs: &[Pair], reads: u64) -> (u64, Counts) {
    let mut random = fastrand::Rng::with_seed(seed() << 16 | u64::from(participant.id().0));
    let (mut done, mut added, most_rounds_log2) = (0, 0, most_rounds_log2());
    while done < reads {
        let plan = Plan::draw(&mut random, pairs, most_rounds_log2);
        participant.run(|tx| plan.run(tx)).expect("nobody dies");
        (done, added) = (done + plan.reads(), added + plan.added());
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
    let sum_of = |count: fn(&Counts) -> u64| outcome.iter().map(|(_, counts)| count(counts)).sum::<u64>();
    if tm.load(pairs[0].0).is_ok() {
        let sum: u64 = pairs.iter().map(|pair| tm.load(pair.0).expect("in memory")).sum();
        assert_eq!(sum, added, "every transaction that committed was done once");
    }
    let (locks, commits, aborts) = (sum_of(|of| of.requests), sum_of(|of| of.commits), sum_of(Counts::aborts));
    eprintln!(
        "{name}, seed {}: {reads} reads, {locks} locks, {commits} commits, {aborts} aborts, 0 differences, {:?}",
        seed(),
        begun.elapsed()
    );
}

fn all_managers(form: Form, writes: Writes) {
    let machine = machine();
    for manager in Manager::ALL {
        let builder = Tm::builder(&machine).form(form).writes(writes).manager(manager);
        is_opaque(builder, reads(), &format!("{form} {manager} {writes:?}"));
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
        is_opaque(builder, reads(), &format!("values at servers, batched: {batched}"));
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
            let mut random = fastrand::Rng::with_seed(seed() << 16 | u64::from(participant.id().0));
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
