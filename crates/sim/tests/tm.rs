//! Transactional memory on simulated machines: the money of a bank, gate T2, and threads that are stopped at any access.

use std::cell::Cell;
use std::rc::Rc;

use corecast_sim::machine::{Machine, Preemption, Run, Thread, published};
use corecast_sim::{BankLoad, BankOutcome, Disturbance, MemoryKind, SimError, alone, bank, model};
use corecast_tm::{Form, Manager, Participant, Role, TVar, Tm};

const LOAD: BankLoad = BankLoad {
    participants: 2,
    every: 3,
    accounts: 1024,
    checks_percent: 0,
    scans_percent: 0,
    readers: 0,
    warm_up_us: 20,
    duration_us: 100,
    own_ns: 50,
    seed: 1,
    disturbance: Disturbance::NONE,
};

fn kind(name: &str) -> MemoryKind {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(machine: &Machine, kind: MemoryKind, load: BankLoad) -> BankOutcome {
    bank(machine, kind, load).unwrap_or_else(|error| panic!("{kind}, {load:?}: {error}"))
}

/// Each run compares the sums of all accounts that it takes, and one in the end.
#[test]
fn every_memory_keeps_the_money_from_few_participants_to_all_cpus() {
    let machine = published::opteron_4x12();
    for kind in MemoryKind::all() {
        assert_eq!(kind.name().parse(), Ok(kind));
        for (participants, readers) in [(2, 0), (7, 1), (48, 1)] {
            let load = BankLoad { participants, readers, accounts: 60, checks_percent: 30, ..LOAD };
            let outcome = outcome(&machine, kind, BankLoad { scans_percent: 2, duration_us: 40, ..load });
            assert_eq!(outcome.transactions.len(), kind.applications(participants, 3) - readers, "{kind}");
            assert!(outcome.all > 0 && outcome.ns > 0.0, "{kind}, {participants}: {outcome:?}");
        }
    }
    let error = "messages".parse::<MemoryKind>().expect_err("a form alone").to_string();
    assert!(error.starts_with("unknown transactional memory 'messages': expected one of messages-none, "), "{error}");
}

#[test]
fn a_seed_repeats_and_another_one_differs() {
    let machine = published::xeon_8x10();
    for name in ["messages-fair-cm", "shared-offset-greedy"] {
        let of = |seed| outcome(&machine, kind(name), BankLoad { participants: 12, accounts: 40, seed, ..LOAD });
        assert_eq!(of(3), of(3), "{name}");
        assert_ne!(of(3), of(4), "{name}");
    }
}

/// A server and an application: each of a transfer's two round trips takes two messages, which move a line twice. The accounts
/// stay where they are; the rest are acknowledgements of messages and the first accesses of a line.
#[test]
fn a_transfer_that_nobody_meets_moves_the_lines_of_its_messages() {
    let machine = published::opteron_4x12();
    let alone = outcome(&machine, kind("messages-fair-cm"), LOAD);
    let moved: f64 = alone.transfers().iter().sum();
    assert!((8.0..10.0).contains(&moved) && alone.abort_share() == 0.0, "{moved}: {alone:?}");
}

/// T2: speed-up of the bank without checks from 6 participants to all CPUs, over the growth in applications. Published for 48
/// Opteron CPUs: 2.51 and 8.70 million transactions in a second, 0.43.
///
/// Demanded are 0.45. Transactions with hardly any work of their own miss them: 4.81 and 17.1, 0.444. A round trip beyond the die
/// takes 1.9 times as long (0.36 us and 0.69); so an application would have 0.52, were it not for what it meets: half of the
/// accounts have a lock that nobody has given back yet, for which a server looks at the status of another application, and lines
/// of eight accounts move. With 16,384 accounts it is 0.58. With as much work of their own as makes 6 participants as fast as
/// published (an assumption: nobody has measured what it consists of) it is 0.71.
#[test]
fn transfers_by_messages_grow_with_the_cpus() {
    let machine = published::opteron_4x12();
    let of = |participants, own_ns| {
        let load = BankLoad { participants, own_ns, warm_up_us: 50, duration_us: 200, ..LOAD };
        outcome(&machine, kind("messages-fair-cm"), load)
    };
    let growth = |few: &BankOutcome, all: &BankOutcome| {
        all.mtps() / few.mtps() / (all.transactions.len() as f64 / few.transactions.len() as f64)
    };
    let (few, all) = (of(6, 50), of(48, 50));
    assert!(growth(&few, &all) >= 0.42, "{} and {} M/s", few.mtps(), all.mtps());
    // Without the hint that a value's line will be written these are 4.49 and 15.6.
    assert!(few.mtps() > 4.6 && all.mtps() > 16.3, "{} and {} M/s", few.mtps(), all.mtps());
    let (few, all) = (of(6, 660), of(48, 660));
    assert!((0.9..1.1).contains(&(few.mtps() / 2.51)), "{} M/s", few.mtps());
    assert!(growth(&few, &all) >= 0.45, "{} and {} M/s", few.mtps(), all.mtps());
}

#[test]
fn what_is_no_bank_is_refused() {
    let machine = published::opteron_4x12();
    let of = |name, load| bank(&machine, kind(name), load).expect_err("it cannot be");
    for participants in [0, 49] {
        let error = of("shared-none", BankLoad { participants, ..LOAD });
        assert!(matches!(error, SimError::Threads { cpus: 48, .. }), "{error}");
    }
    for (name, load, words) in [
        ("messages-none", BankLoad { participants: 1, ..LOAD }, "0 applications, of which 0 only sum"),
        ("messages-none", BankLoad { participants: 6, readers: 4, ..LOAD }, "4 applications, of which 4 only sum"),
        ("shared-none", BankLoad { accounts: 1, ..LOAD }, "1 accounts: expected 2 or more"),
    ] {
        let error = of(name, load).to_string();
        assert!(
            error.starts_with("no transactional memory for the simulated machine: ") && error.contains(words),
            "{error}"
        );
    }
}

const ACCOUNTS: usize = 8;
const BALANCE: u64 = 1000;
const ROUNDS: usize = 12;
/// A run that lasts for longer has failed.
const LIMIT_NS: u64 = 10_000_000_000;
/// Sleeps of this time end by a wake-up only: participants look around after as long.
const LASTING_NS: u64 = 50_000_000;

/// Transfers, and a sum of all accounts after every third, which is compared with their money.
fn work(me: &Thread, own: &mut Participant, accounts: &[TVar<u64>], sums: &Cell<usize>) {
    let first = usize::from(own.id().0);
    for round in 0..ROUNDS {
        let [from, to] = [first + round, first + 3 * round + 1].map(|place| accounts[place % ACCOUNTS]);
        me.work_ns(37 * (first + round) as u64 % 400);
        let moved = own.run(|tx| {
            let rest = tx.read_for_update(from)?;
            tx.write(from, rest.wrapping_sub(7))?;
            let sum = tx.read_for_update(to)?;
            tx.write(to, sum.wrapping_add(7))
        });
        moved.expect("nobody dies");
        if round % 3 == 2 {
            let sum =
                own.run(|tx| accounts.iter().try_fold(0u64, |sum, &account| Ok(sum.wrapping_add(tx.read(account)?))));
            assert_eq!(sum, Ok(ACCOUNTS as u64 * BALANCE), "the sum of all accounts");
            sums.set(sums.get() + 1);
        }
    }
}

/// Participants of which two share each CPU, and which lose it at one access in 50, for up to half a millisecond.
fn disturbed(machine: &Machine, form: Form, manager: Manager, participants: usize, seed: u64) {
    let _alone = alone();
    let model = model(machine);
    let tm = Tm::builder(&model).participants(participants).form(form).manager(manager).variables(ACCOUNTS);
    let tm = tm.build().expect("an instance");
    let accounts: Rc<Vec<_>> = Rc::new((0..ACCOUNTS).map(|_| tm.new_var(BALANCE).expect("there is room")).collect());
    let sums = Rc::new(Cell::new(0));
    let mut run = Run::new(machine);
    run.preempt(Preemption::Randomly { seed, one_in: 50, longest: machine.ticks(500_000) });
    run.lasting_sleeps(machine.ticks(LASTING_NS));
    for id in 0..participants {
        let body: Box<dyn FnOnce(&Thread)> = match tm.participant(id).expect("it is free") {
            Role::Server(server) => Box::new(|_| _ = server.serve().expect("nobody forks")),
            Role::Application(own) => {
                let (mut own, accounts, sums) = (Box::new(own), Rc::clone(&accounts), Rc::clone(&sums));
                Box::new(move |me| work(me, &mut own, &accounts, &sums))
            }
            _ => unreachable!("a participant is a server or an application"),
        };
        run.spawn(id / 2, 0, body).expect("there is memory");
    }
    let ended = run.finish(machine.ticks(LIMIT_NS));
    ended.unwrap_or_else(|error| panic!("{form}, {manager}, {participants} participants, seed {seed}: {error}"));
    let left: u64 = accounts.iter().map(|&account| tm.load(account).expect("it is over")).fold(0, u64::wrapping_add);
    let applications = participants - tm.servers();
    assert_eq!(
        (left, sums.get()),
        (ACCOUNTS as u64 * BALANCE, applications * ROUNDS / 3),
        "{form}, {manager}, seed {seed}"
    );
}

#[test]
fn participants_that_are_stopped_at_any_access_keep_the_money() {
    let machine = published::opteron_4x12();
    for form in [Form::Messages, Form::Shared] {
        for manager in Manager::ALL {
            for (participants, seed) in [(3, 1), (5, 2), (8, 3)] {
                disturbed(&machine, form, manager, participants, seed);
            }
        }
    }
}
