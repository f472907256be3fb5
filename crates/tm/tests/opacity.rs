//! No closure sees half of a transaction: pairs of variables that are always written together, and closures that panic where the
//! two differ, also in attempts that are aborted afterwards.
//!
//! A transaction reads its pairs again and again. The first read of a variable takes its lock; each one looks at the value and
//! then at the status, which is where a transaction that was aborted in between would see what its rival stores. So most reads
//! cost no message, and a run has many. With two servers most pairs have one variable at each: a transaction that loses its locks
//! at one of them still has those at the other.
//!
//! `CORECAST_TM_PAIRS` is the number of pairs that are read under each manager in each form, `CORECAST_TM_SEED` draws other
//! transactions, and a transaction reads its pairs up to 2 to the power of `CORECAST_TM_ROUNDS_LOG2` times: `ci/tm-long.sh` sets
//! all three.
#![cfg(not(loom))]
#![allow(clippy::print_stderr, reason = "counts and seeds")]

mod two_cpus;

use std::os::fd::AsFd;
use std::thread;
use std::time::Instant;

use corecast_testing::actor::{Actor, Role as Played, say};
use corecast_tm::{Abort, Builder, Counts, Form, Manager, Participant, Role, TBlock, TVar, Tm, Tx, Values, Writes};
use two_cpus::machine;

const PAIRS: usize = 4;
/// Pairs that are read under each manager in each form, in a usual run of the tests.
const USUAL_PAIRS: u64 = 500_000;
/// When writes are claimed, and how many servers there are: the kinds of instances that share the reads of a manager in a form.
const KINDS: u64 = 3;
/// A transaction reads its pairs up to 2 to this power times, in a usual run of the tests. The power is drawn, so that most are
/// far shorter.
const USUAL_ROUNDS_LOG2: u64 = 8;

fn number(name: &str, usual: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(usual, |number| number.parse().unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn pairs_to_read() -> u64 {
    number("CORECAST_TM_PAIRS", USUAL_PAIRS) / KINDS
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

    /// Those that were made by another process: the first variables.
    fn find(tm: &Tm, number: usize) -> Self {
        let var = |index: usize| tm.var(index as u32).expect("it is there");
        Self(var(2 * number), var(2 * number + 1))
    }

    /// The value of both.
    #[inline]
    fn read(self, tx: &mut Tx<'_>, is_elastic: bool) -> Result<u64, Abort> {
        let (first, second) = if is_elastic {
            (tx.read_unlocked(self.0)?, tx.read_unlocked(self.1)?)
        } else {
            (tx.read(self.0)?, tx.read(self.1)?)
        };
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

    fn run(&self, tx: &mut Tx<'_>, is_elastic: bool) -> Result<(), Abort> {
        let [first, second] = self.pairs;
        for _ in 0..self.rounds {
            first.read(tx, is_elastic)?;
            second.read(tx, is_elastic)?;
        }
        let adds = self.pairs.iter().zip(self.adds).filter(|(_, adds)| *adds);
        adds.map(|(pair, _)| *pair).try_for_each(|pair| pair.add(tx))
    }

    fn added(&self) -> u64 {
        self.adds.iter().map(|adds| u64::from(*adds)).sum()
    }

    /// Pairs that it reads.
    fn reads(&self) -> u64 {
        2 * self.rounds + self.added()
    }
}

/// The work of one participant.
#[derive(Clone, Copy)]
struct Hunt {
    /// Pairs to be read.
    reads: u64,
    /// Whether they are read without locks.
    is_elastic: bool,
}

impl Hunt {
    /// Runs transactions until enough pairs were read by those that committed; returns the additions.
    fn run(self, participant: &mut Participant, pairs: &[Pair]) -> u64 {
        let mut random = fastrand::Rng::with_seed(seed() << 16 | u64::from(participant.id().0));
        let (mut done, mut added, most_rounds_log2) = (Done(0), 0, most_rounds_log2());
        while done.0 < self.reads {
            let plan = Plan::draw(&mut random, pairs, most_rounds_log2);
            participant.run(|tx| plan.run(tx, self.is_elastic)).expect("nobody dies");
            done.0 += plan.reads();
            added += plan.added();
        }
        added
    }
}

/// The pairs that a participant has read: told if it finds a difference.
struct Done(u64);

impl Drop for Done {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "a difference: after {} pairs that this participant had read in transactions that committed",
                self.0
            );
        }
    }
}

/// Takes these participants, each in a thread: servers serve, and `work` is done by the others.
fn with_threads<R: Send>(tm: &Tm, ids: &[usize], work: impl Fn(Participant) -> R + Sync) -> Vec<R> {
    let roles: Vec<Role> = ids.iter().map(|id| tm.participant(*id).expect("it is free")).collect();
    thread::scope(|scope| {
        let start = |role| {
            scope.spawn(|| match role {
                Role::Application(participant) => Some(work(participant)),
                Role::Server(server) => {
                    server.serve().expect("no forked child");
                    None
                }
                other => panic!("{other:?}"),
            })
        };
        let threads: Vec<_> = roles.into_iter().map(start).collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("no difference")).collect()
    })
}

/// Checks that each transaction was done once, and tells the counts.
fn tell(tm: &Tm, pairs: &[Pair], name: &str, begun: Instant, (reads, added): (u64, u64), counts: &[Counts]) {
    if tm.load(pairs[0].0).is_ok() {
        let sum: u64 = pairs.iter().map(|pair| tm.load(pair.0).expect("in memory")).sum();
        assert_eq!(sum, added, "every transaction that committed was done once");
    }
    let sum_of = |count: fn(&Counts) -> u64| counts.iter().map(count).sum::<u64>();
    let (locks, commits, aborts) = (sum_of(|of| of.requests), sum_of(|of| of.commits), sum_of(Counts::aborts));
    eprintln!(
        "{name}, seed {}: {reads} pairs read, {locks} locks, {commits} commits, {aborts} aborts, 0 differences, {:?}",
        seed(),
        begun.elapsed()
    );
}

#[track_caller]
fn is_opaque(tm: &Tm, ids: &[usize], hunt: Hunt, name: &str) {
    let begun = Instant::now();
    let pairs: Vec<_> = (0..PAIRS).map(|_| Pair::new(tm)).collect();
    let applications = ids.iter().filter(|id| !tm.is_server(**id)).count() as u64;
    let each = Hunt { reads: hunt.reads.div_ceil(applications), ..hunt };
    let outcome = with_threads(tm, ids, |mut participant| {
        let added = each.run(&mut participant, &pairs);
        (added, participant.counts())
    });
    let (added, counts): (Vec<u64>, Vec<Counts>) = outcome.into_iter().unzip();
    tell(tm, &pairs, name, begun, (hunt.reads, added.iter().sum()), &counts);
}

fn locked(reads: u64) -> Hunt {
    Hunt { reads, is_elastic: false }
}

/// Three applications, and one server if there are any.
fn of_four(builder: Builder<'_>) -> Tm {
    builder.participants(4).servers_every(4).variables(PAIRS * 2).build().expect("memory")
}

fn all_managers(form: Form, writes: Writes) {
    let machine = machine();
    for manager in Manager::ALL {
        let tm = of_four(Tm::builder(&machine).form(form).writes(writes).manager(manager));
        is_opaque(&tm, &[0, 1, 2, 3], locked(pairs_to_read()), &format!("{form} {manager} {writes:?}"));
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
fn messages_of_two_servers() {
    let machine = machine();
    for manager in Manager::ALL {
        let builder = Tm::builder(&machine).manager(manager).participants(5).servers_every(3);
        let tm = builder.variables(PAIRS * 2).build().expect("memory");
        is_opaque(&tm, &[0, 1, 2, 3, 4], locked(pairs_to_read()), &format!("messages {manager}, two servers"));
    }
}

#[test]
fn shared_lazy() {
    all_managers(Form::Shared, Writes::Lazy);
}

#[test]
fn shared_eager() {
    all_managers(Form::Shared, Writes::Eager);
}

/// More participants than one word has bits for; three of them take part.
#[test]
fn shared_by_many() {
    let machine = machine();
    for manager in Manager::ALL {
        let builder = Tm::builder(&machine).form(Form::Shared).manager(manager).participants(70);
        let tm = builder.variables(PAIRS * 2).build().expect("memory");
        is_opaque(&tm, &[0, 40, 69], locked(pairs_to_read()), &format!("shared {manager}, 70 participants"));
    }
}

#[test]
fn values_at_servers() {
    let machine = machine();
    for batched in [true, false] {
        let tm = of_four(Tm::builder(&machine).values(Values::AtServers).batched(batched));
        is_opaque(&tm, &[0, 1, 2, 3], locked(pairs_to_read()), &format!("values at servers, batched: {batched}"));
    }
}

/// The values of a pair follow each other in the window of an elastic reader.
#[test]
fn elastic_reads() {
    let machine = machine();
    let at_servers = [(Form::Messages, Values::AtServers)];
    for (form, values) in
        [Form::Messages, Form::Shared].map(|form| (form, Values::InMemory)).into_iter().chain(at_servers)
    {
        let tm = of_four(Tm::builder(&machine).form(form).values(values));
        // Each of them is a round trip there.
        let reads = if values == Values::AtServers { pairs_to_read() / 32 } else { pairs_to_read() };
        is_opaque(&tm, &[0, 1, 2, 3], Hunt { reads, is_elastic: true }, &format!("{form}, {values:?}, elastic"));
    }
}

/// One of the participants is a process of its own.
#[test]
fn processes() {
    const THEIRS: usize = 3;
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        let begun = Instant::now();
        let builder = Tm::builder(&machine).form(form).participants(4).servers_every(4).variables(PAIRS * 2);
        let tm = builder.create().expect("memory");
        let pairs: Vec<_> = (0..PAIRS).map(|_| Pair::new(&tm)).collect();
        let mut other = Actor::reading("play", "hunt", "", tm.share().expect("/proc is there"));
        assert_eq!(other.hear(), "joined");
        let reads = pairs_to_read();
        let mut outcome = with_threads(&tm, &[0, 1, 2], |mut participant| {
            let added = locked(reads / 3).run(&mut participant, &pairs);
            (added, participant.counts())
        });
        let theirs: u64 = other.hear().parse().expect("its additions");
        outcome.push((theirs, Counts::default()));
        let (added, counts): (Vec<u64>, Vec<Counts>) = outcome.into_iter().unzip();
        tell(&tm, &pairs, &format!("{form}, {THEIRS} is a process"), begun, (reads, added.iter().sum()), &counts);
    }
}

/// Not a test: the work of participant 3 of [`processes`].
#[test]
fn play() {
    if Played::of_this_process().is_none() {
        return;
    }
    let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
    let tm = Tm::attach_fd(fd).expect("the instance lives");
    let pairs: Vec<_> = (0..PAIRS).map(|number| Pair::find(&tm, number)).collect();
    let added = with_threads(&tm, &[3], |mut participant| {
        say("joined");
        locked(pairs_to_read() / 3).run(&mut participant, &pairs)
    });
    say(&added[0].to_string());
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
