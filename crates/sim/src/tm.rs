//! A bank whose money is moved by transactions, on a simulated machine: the work by which transactional memories are compared.
//!
//! Each account is a variable; a transfer reads and writes two of them, a check sums two, and a sum is of all of them.
//! The memory is that of this project, in each of its forms: applications that ask servers by messages, or decide conflicts
//! themselves in shared memory, by each contention manager. Participants sit where the memory would place them on the first
//! CPUs of the machine.
//!
//! Every sum of all accounts is compared with the money of the bank, and the last application to end takes one more. A
//! server's locks are in its own memory, which a simulation does not see: its time is that of its messages.
//!
//! Source: V. Gramoli, R. Guerraoui, V. Trigonakis, "TM2C: a Software Transactional Memory for Many-Cores", EuroSys 2012.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use corecast_base::{CpuId, CpuSet};
use corecast_machine::Machine as Model;
use corecast_sim_core::{Counts, Machine, Random, Thread};
use corecast_tm::placement::Placement;
use corecast_tm::{Form, Manager, Participant, Role, RunError, Server, TVar, Tm, Values};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::fairness::jain;
use crate::model;
use crate::rounds::{Played, Rounds, SetUp, alone};

/// The money in each account at the start.
const BALANCE: i32 = 1000;
/// A number and a balance.
type Account = [i32; 2];
/// The most that a transfer moves.
const MOST_MOVED: u64 = 10;

/// A transactional memory: its form, its contention manager, and where its values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryKind {
    /// By messages, or in shared memory.
    form: Form,
    manager: Manager,
    values: Values,
}

impl MemoryKind {
    /// All of them: both forms with each manager, and FairCM over messages with the values at the servers.
    pub fn all() -> impl Iterator<Item = Self> {
        let of = |form| Manager::ALL.into_iter().map(move |manager| Self { form, manager, values: Values::InMemory });
        let at_servers = Self { form: Form::Messages, manager: Manager::FairCm, values: Values::AtServers };
        of(Form::Messages).chain([at_servers]).chain(of(Form::Shared))
    }

    /// Its name in `corecast bench tm`, such as messages-fair-cm.
    #[must_use]
    pub fn name(self) -> String {
        match self.values {
            Values::AtServers => format!("{}-at-servers", self.form),
            _ => format!("{}-{}", self.form, self.manager),
        }
    }

    /// The participants of this number that run transactions, where one of `every` is a server in the form of messages.
    #[must_use]
    pub fn applications(self, participants: usize, every: usize) -> usize {
        participants - self.every(participants, every).map_or(0, |every| participants.div_ceil(every))
    }

    /// The share of servers: of fewer participants than `every` one serves.
    fn every(self, participants: usize, every: usize) -> Option<usize> {
        (self.form == Form::Messages).then(|| every.clamp(2, participants.max(2)))
    }
}

impl BankLoad {
    /// The money of all accounts.
    fn money(&self) -> i64 {
        self.accounts as i64 * i64::from(BALANCE)
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

/// A text that names no transactional memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown transactional memory '{name}': expected one of {}", names())]
pub struct UnknownMemory {
    /// The text.
    pub name: String,
}

fn names() -> String {
    MemoryKind::all().map(MemoryKind::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for MemoryKind {
    type Err = UnknownMemory;

    fn from_str(name: &str) -> Result<Self, UnknownMemory> {
        Self::all().find(|kind| kind.name() == name).ok_or_else(|| UnknownMemory { name: name.to_owned() })
    }
}

/// Applications that work at a bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BankLoad {
    /// The participants, on the first CPUs of the machine, one on each: in the form of messages servers and applications. The one
    /// on the first CPU opens the accounts, so all of them lie at its node.
    pub participants: usize,
    /// One of this number of participants is a server, in the form of messages: 2 or more. Of fewer participants one is.
    pub every: usize,
    /// The accounts: 2 or more, and in the experiment 1024.
    pub accounts: usize,
    /// Transactions in 100 that sum two accounts. The others transfer.
    pub checks_percent: u32,
    /// Transactions in 100 that sum all accounts.
    pub scans_percent: u32,
    /// Applications that only sum all accounts.
    pub readers: usize,
    /// The virtual time before transactions count, in microseconds, from when the accounts are there.
    pub warm_up_us: u64,
    /// The virtual time after it in which transactions count, in microseconds.
    pub duration_us: u64,
    /// The time for which an application computes before each transaction, in nanoseconds; it differs by up to half.
    pub own_ns: u64,
    /// The seed of what applications draw.
    pub seed: u64,
    /// The disturbances of the participants, of which none is killed. Where some share a CPU they are put on the CPUs by turns.
    pub disturbance: Disturbance,
}

/// The outcome of a [`BankLoad`].
#[derive(Clone, Debug, PartialEq)]
pub struct BankOutcome {
    /// The transfers and checks that counted, of each application that does not only sum all accounts.
    pub transactions: Vec<u64>,
    /// The sums of all accounts that counted.
    pub scans: u64,
    /// The time in which they counted, in nanoseconds.
    pub ns: f64,
    /// All transactions, with sums and with those of the warm-up.
    pub all: u64,
    /// Attempts that were aborted, with those of the warm-up.
    pub aborts: u64,
    /// The accesses of all transactions.
    pub counts: Counts,
    /// How the participants were disturbed.
    pub disturbed: Disturbed,
}

impl BankOutcome {
    /// The transfers and checks of all applications in a second, in millions.
    #[must_use]
    pub fn mtps(&self) -> f64 {
        self.transactions.iter().sum::<u64>() as f64 / self.ns * 1000.0
    }

    /// The sums of all accounts in a second.
    #[must_use]
    pub fn scans_per_s(&self) -> f64 {
        self.scans as f64 / self.ns * 1e9
    }

    /// The part of all attempts that was aborted.
    #[must_use]
    pub fn abort_share(&self) -> f64 {
        self.aborts as f64 / (self.aborts + self.all).max(1) as f64
    }

    /// Lines that moved in a transaction, by the distance that they came from.
    #[must_use]
    pub fn transfers(&self) -> Vec<f64> {
        self.counts.transfers_each(self.all)
    }

    /// Jain's index of fairness, by transfers and checks: 1 if all applications have as many, 1 / applications if one has all of
    /// them; `None` if there were none.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        jain(&self.transactions)
    }
}

/// Lets applications work at a bank in this transactional memory.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Memory`] if there is no such memory or nobody transfers,
/// [`SimError::Stopped`] if a run has no outcome, [`SimError::Total`] if a sum of all accounts was wrong, [`SimError::Stack`] if
/// there is no memory for a thread.
pub fn bank(machine: &Machine, kind: MemoryKind, load: BankLoad) -> Result<BankOutcome, SimError> {
    bank_by::<ByTransactions>(machine, kind, load)
}

/// The ways to transfer and to sum, which tests do wrong.
trait Teller {
    fn transfer(by: &mut Participant, pair: [TVar<Account>; 2], amount: i32) -> Result<(), RunError>;
    fn total(by: &mut Participant, accounts: &[TVar<Account>]) -> Result<i64, RunError>;
}

/// Each is a transaction.
struct ByTransactions;

impl Teller for ByTransactions {
    fn transfer(by: &mut Participant, [from, to]: [TVar<Account>; 2], amount: i32) -> Result<(), RunError> {
        by.run(|tx| {
            let [number, balance] = tx.read_for_update(from)?;
            let [other, held] = tx.read_for_update(to)?;
            tx.write(from, [number, balance - amount])?;
            tx.write(to, [other, held + amount])
        })
    }

    fn total(by: &mut Participant, accounts: &[TVar<Account>]) -> Result<i64, RunError> {
        by.run(|tx| accounts.iter().try_fold(0, |sum, &account| Ok(sum + i64::from(tx.read(account)?[1]))))
    }
}

/// The number of applications, of which some transfer.
fn applications(machine: &Machine, kind: MemoryKind, load: &BankLoad) -> Result<usize, SimError> {
    let &BankLoad { participants, every, accounts, readers, disturbance, .. } = load;
    disturbance.cpus_of(machine, participants)?;
    if disturbance.kill_at.is_some() {
        return Err(SimError::Kill {
            reason: "the others would wait for its locks, as among threads nobody is told of a death",
        });
    }
    if accounts < 2 {
        return Err(SimError::Memory { reason: format!("{accounts} accounts: expected 2 or more") });
    }
    let applications = kind.applications(participants, every);
    if readers >= applications {
        let reason = format!("{applications} applications, of which {readers} only sum: nobody transfers");
        return Err(SimError::Memory { reason });
    }
    Ok(applications)
}

fn bank_by<T: Teller>(machine: &Machine, kind: MemoryKind, load: BankLoad) -> Result<BankOutcome, SimError> {
    let applications = applications(machine, kind, &load)?;
    let _alone = alone();
    let (tm, seats) = seated(machine, kind, load)?;
    let is_banker: Vec<bool> =
        seats.iter().map(|seat| matches!(seat, Some(Seat::Application(own)) if !own.is_reader)).collect();
    let (seats, set_up) = (RefCell::new(seats), SetUp::default());
    let books = Rc::new(Books { left: Cell::new(applications), money: load.money(), ..Books::default() });
    let [opening, working, ending] = [(); 3].map(|()| Rc::clone(&books));
    let begin = move |me: &Thread, cpu: usize| {
        let open = || opening.accounts.set(accounts(&tm, load.accounts));
        set_up.by_first(me, cpu, || open().expect("one thread opens the accounts"));
        seats.borrow_mut()[cpu].take().expect("each CPU has a participant")
    };
    let round = move |me: &Thread, seat: &mut Seat, random: &mut Random| match seat {
        Seat::Application(own) => own.transact::<T>(me, &working, random, &load),
        Seat::Server(server) => serve(*server.take().expect("it serves once, until all applications have left")),
    };
    let end = move |me: &Thread, seat| {
        if let Seat::Application(own) = seat {
            own.leave(me, &ending);
        }
    };
    let BankLoad { participants: threads, warm_up_us, duration_us, seed, disturbance, .. } = load;
    let rounds = Rounds { threads, warm_up_us, duration_us, seed, disturbance, first: 0, traced: None };
    // SAFETY: nobody is killed.
    let played = unsafe { rounds.play_to_end(machine, begin, round, end) };
    match books.wrong.get() {
        Some(seen) => Err(SimError::Total { seen, total: load.money() }),
        None => Ok(outcome(played?, &is_banker, &books)),
    }
}

/// The participants of a memory, each at its CPU.
fn seated(machine: &Machine, kind: MemoryKind, load: BankLoad) -> Result<(Tm, Vec<Option<Seat>>), SimError> {
    let (participants, every) = (load.participants, kind.every(load.participants, load.every));
    let model = model(machine);
    let tm = opened(&model, kind, load, every)?;
    let places = places(&model, load, every)?;
    let mut seats: Vec<Option<Seat>> = (0..participants).map(|_| None).collect();
    let mut bankers = participants - tm.servers() - load.readers;
    for id in 0..participants {
        let seat = match tm.participant(id).map_err(SimError::memory)? {
            Role::Server(server) => Seat::Server(Some(Box::new(server))),
            Role::Application(participant) => {
                let is_reader = bankers == 0;
                bankers -= usize::from(!is_reader);
                Seat::Application(Box::new(Application { participant, is_reader }))
            }
            _ => unreachable!("a participant is a server or an application"),
        };
        seats[places[id]] = Some(seat);
    }
    Ok((tm, seats))
}

/// The thread of each participant, which is the number of its CPU unless they share some.
fn places(model: &Model, load: BankLoad, every: Option<usize>) -> Result<Vec<usize>, SimError> {
    let participants = load.participants;
    if load.disturbance.cpus(participants) < participants {
        return Ok((0..participants).collect());
    }
    let first: CpuSet = (0..participants as u32).map(CpuId::new).collect();
    let placement = Placement::new(model, &first, participants, every).map_err(SimError::memory)?;
    Ok((0..participants).map(|id| placement.cpu(id).get() as usize).collect())
}

fn opened(model: &Model, kind: MemoryKind, load: BankLoad, every: Option<usize>) -> Result<Tm, SimError> {
    let MemoryKind { form, manager, values } = kind;
    let builder = Tm::builder(model).participants(load.participants).variables(load.accounts);
    let builder = builder.form(form).manager(manager).values(values);
    let builder = every.into_iter().fold(builder, |builder, every| builder.servers_every(every));
    builder.build().map_err(SimError::memory)
}

fn accounts(tm: &Tm, number: usize) -> Vec<TVar<Account>> {
    let open = |number| tm.new_var([number, BALANCE]).expect("there is a variable for each");
    (0..number as i32).map(open).collect()
}

fn outcome(played: Played, is_banker: &[bool], books: &Books) -> BankOutcome {
    let bankers = played.tallies.iter().zip(is_banker).filter(|(_, is_banker)| **is_banker);
    BankOutcome {
        transactions: bankers.map(|(tally, _)| tally.succeeded).collect(),
        scans: played.sum(|tally| tally.counted - tally.succeeded),
        ns: played.ns,
        all: books.commits.get(),
        aborts: books.aborts.get(),
        counts: books.counts.take(),
        disturbed: played.disturbed,
    }
}

/// A participant on its CPU.
enum Seat {
    Server(Option<Box<Server>>),
    Application(Box<Application>),
}

/// True: what it is for is done once.
fn serve(server: Server) -> bool {
    server.serve().expect("nobody forks");
    true
}

/// The outcomes of all applications, which take no access of a thread.
#[derive(Debug, Default)]
struct Books {
    /// Opened by the first thread.
    accounts: OnceCell<Vec<TVar<Account>>>,
    /// The applications that have not ended.
    left: Cell<usize>,
    /// The sum of all accounts, always.
    money: i64,
    /// The first sum of all accounts that was wrong.
    wrong: Cell<Option<i64>>,
    commits: Cell<u64>,
    aborts: Cell<u64>,
    /// The accesses until the last application has left.
    counts: RefCell<Counts>,
}

impl Books {
    fn accounts(&self) -> &[TVar<Account>] {
        self.accounts.get().expect("the first thread has opened them")
    }

    fn check(&self, seen: i64) {
        if seen != self.money && self.wrong.get().is_none() {
            self.wrong.set(Some(seen));
        }
    }
}

struct Application {
    participant: Participant,
    /// True if it only sums all accounts.
    is_reader: bool,
}

impl Application {
    /// One transaction. True of a transfer and a check, false of a sum of all accounts.
    fn transact<T: Teller>(&mut self, me: &Thread, books: &Books, random: &mut Random, load: &BankLoad) -> bool {
        let accounts = books.accounts();
        let Self { participant, is_reader } = self;
        me.work_ns(load.own_ns + random.below(load.own_ns / 2 + 1));
        let pair = two_places(random, accounts.len() as u64).map(|place| accounts[place]);
        let [checks, scans] = [load.checks_percent, load.scans_percent].map(u64::from);
        let drawn = random.below(100);
        if *is_reader || (checks..checks + scans).contains(&drawn) {
            books.check(T::total(participant, accounts).expect(NO_ERROR));
            return false;
        }
        let done = match drawn < checks {
            true => participant.run(|tx| pair.into_iter().try_for_each(|account| tx.read(account).map(drop))),
            false => T::transfer(participant, pair, 1 + random.below(MOST_MOVED) as i32),
        };
        done.expect(NO_ERROR);
        true
    }

    /// The last application to leave sums all accounts once more.
    fn leave(mut self, me: &Thread, books: &Books) {
        let counts = self.participant.counts();
        books.commits.set(books.commits.get() + counts.commits);
        books.aborts.set(books.aborts.get() + counts.aborts());
        books.left.set(books.left.get() - 1);
        if books.left.get() == 0 {
            books.counts.replace(me.counts());
            books.check(ByTransactions::total(&mut self.participant, books.accounts()).expect(NO_ERROR));
        }
    }
}

const NO_ERROR: &str = "nobody dies, and servers serve until all applications have left";

/// The places of two different accounts.
fn two_places(random: &mut Random, accounts: u64) -> [usize; 2] {
    let (one, step) = (random.below(accounts), 1 + random.below(accounts - 1));
    [one, (one + step) % accounts].map(|place| place as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::published;

    const LOAD: BankLoad = BankLoad {
        participants: 6,
        every: 3,
        accounts: 24,
        checks_percent: 0,
        scans_percent: 2,
        readers: 1,
        warm_up_us: 10,
        duration_us: 100,
        own_ns: 50,
        seed: 1,
        disturbance: Disturbance::NONE,
    };

    /// The outcome over messages and in shared memory.
    fn outcomes<T: Teller>() -> [Result<BankOutcome, SimError>; 2] {
        let kinds = ["messages-fair-cm", "shared-fair-cm"].map(|name| name.parse().expect("there is one"));
        kinds.map(|kind| bank_by::<T>(&published::opteron_4x12(), kind, LOAD))
    }

    fn assert_found<T: Teller>() {
        for outcome in outcomes::<T>() {
            assert!(matches!(outcome, Err(SimError::Total { total: 24_000, .. })), "{outcome:?}");
        }
    }

    #[test]
    fn transactions_keep_the_money() {
        for outcome in outcomes::<ByTransactions>() {
            let outcome = outcome.expect("every sum is right");
            assert!(outcome.scans > 0 && outcome.mtps() > 0.0, "{outcome:?}");
        }
    }

    /// Each balance is read for itself, so that a transfer may come between two.
    struct ReadsWithoutLocks;

    impl Teller for ReadsWithoutLocks {
        fn transfer(by: &mut Participant, pair: [TVar<Account>; 2], amount: i32) -> Result<(), RunError> {
            ByTransactions::transfer(by, pair, amount)
        }

        fn total(by: &mut Participant, accounts: &[TVar<Account>]) -> Result<i64, RunError> {
            accounts.iter().try_fold(0, |sum, &account| Ok(sum + i64::from(by.load(account)?[1])))
        }
    }

    #[test]
    fn a_sum_without_read_locks_is_found() {
        assert_found::<ReadsWithoutLocks>();
    }

    /// Writes in a transaction of their own, behind the commit of the one that has read.
    struct WritesAfterCommit;

    impl Teller for WritesAfterCommit {
        fn transfer(by: &mut Participant, [from, to]: [TVar<Account>; 2], amount: i32) -> Result<(), RunError> {
            let [[number, balance], [other, held]] = by.run(|tx| Ok([tx.read(from)?, tx.read(to)?]))?;
            by.run(|tx| {
                tx.write(from, [number, balance - amount])?;
                tx.write(to, [other, held + amount])
            })
        }

        fn total(by: &mut Participant, accounts: &[TVar<Account>]) -> Result<i64, RunError> {
            ByTransactions::total(by, accounts)
        }
    }

    /// Also where nobody sums but the last application that leaves.
    #[test]
    fn a_write_after_the_commit_is_found() {
        assert_found::<WritesAfterCommit>();
    }
}
