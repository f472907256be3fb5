//! Transactions among threads, in both forms, under every manager.
#![cfg(not(loom))]

mod two_cpus;

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_tm::{Abort, Builder, Form, Manager, Participant, Role, TVar, Tm, Tx};
use rustix::time::{ClockId, clock_gettime};
use two_cpus::machine;

const ACCOUNTS: usize = 16;
const FIRST: i64 = 100;
/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

fn transfer(tx: &mut Tx<'_>, from: TVar<i64>, to: TVar<i64>, amount: i64) -> Result<(), Abort> {
    let rest = tx.read_for_update(from)?;
    tx.write(from, rest - amount)?;
    let sum = tx.read(to)?;
    tx.write(to, sum + amount)
}

fn sum(tx: &mut Tx<'_>, accounts: &[TVar<i64>]) -> Result<i64, Abort> {
    accounts.iter().try_fold(0, |sum, &account| Ok(sum + tx.read(account)?))
}

/// Moves money about, and counts all of it now and then.
fn work(participant: &mut Participant, accounts: &[TVar<i64>], rounds: usize) {
    let mut random = fastrand::Rng::with_seed(participant.id().0.into());
    for round in 0..rounds {
        let (from, to) = (random.usize(..ACCOUNTS), random.usize(..ACCOUNTS));
        participant.run(|tx| transfer(tx, accounts[from], accounts[to], 3)).expect("nobody dies");
        if round % 16 == 0 {
            let total = participant.run(|tx| sum(tx, accounts)).expect("nobody dies");
            assert_eq!(total, FIRST * ACCOUNTS as i64);
        }
    }
}

fn check(builder: Builder<'_>) {
    let tm = builder.variables(ACCOUNTS).build().expect("memory");
    let accounts: Vec<_> = (0..ACCOUNTS).map(|_| tm.new_var(FIRST).expect("room")).collect();
    let commits = tm.run_threads(|mut participant| {
        work(&mut participant, &accounts, 300);
        participant.counts().commits
    });
    assert!(commits.expect("threads").iter().all(|&commits| commits == 300 + 19));
    let total: i64 = accounts.iter().map(|&account| tm.load(account).expect("in memory")).sum();
    assert_eq!(total, FIRST * ACCOUNTS as i64);
}

#[test]
fn participants_that_are_taken_are_left_out() {
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        let tm = Tm::builder(&machine).participants(5).form(form).build().expect("memory");
        let sum = tm.new_var(0u32).expect("room");
        let add = |participant: &mut Participant| {
            participant.run(|tx| {
                let now = tx.read_for_update(sum)?;
                tx.write(sum, now + 1)
            })
        };
        let Ok(Role::Application(mine)) = tm.participant(2) else { panic!("2 is an application") };
        let mine = Mutex::new(Some(mine));
        let results = tm.run_threads(|mut participant| {
            // Servers serve the one that was taken before, too.
            let mine = mine.lock().expect("no panic").take();
            mine.map(|mut mine| add(&mut mine)).transpose().and_then(|_| add(&mut participant))
        });
        let results = results.expect("the others are free");
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(results.len(), 4 - tm.servers());
        assert_eq!(tm.load(sum), Ok(5 - tm.servers() as u32));
        let again = tm.run_threads(|_| ()).expect("those that are free");
        assert_eq!(again.len(), if form == Form::Shared { 5 } else { 0 });
    }
}

#[test]
fn the_total_of_a_bank_stays() {
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        for manager in Manager::ALL {
            check(Tm::builder(&machine).participants(5).form(form).manager(manager));
        }
    }
}

#[test]
fn the_total_of_a_bank_stays_with_every_share_of_servers() {
    let machine = machine();
    for every in 2..=6 {
        let builder = || Tm::builder(&machine).participants(6).servers_every(every).form(Form::Messages);
        assert_eq!(builder().build().expect("memory").servers(), 6_usize.div_ceil(every));
        check(builder());
    }
}

/// The last participant reads all accounts again and again, while the others write: whoever loses a tie loses here, and a reader
/// of all is in the way of every writer.
#[test]
fn nobody_starves_under_managers_that_promise_it() {
    const SUMS: u64 = 10;
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        for manager in [Manager::Wholly, Manager::OffsetGreedy, Manager::FairCm] {
            let builder = Tm::builder(&machine).participants(4).servers_every(4).form(form).manager(manager);
            let tm = builder.variables(ACCOUNTS).build().expect("memory");
            let accounts: Vec<_> = (0..ACCOUNTS).map(|_| tm.new_var(FIRST).expect("room")).collect();
            let (begun, is_done) = (Instant::now(), AtomicBool::new(false));
            let in_time = tm.run_threads(|mut participant| {
                if participant.id().0 == 3 {
                    for _ in 0..SUMS {
                        let total = participant.run(|tx| sum(tx, &accounts)).expect("nobody dies");
                        assert_eq!(total, FIRST * ACCOUNTS as i64);
                    }
                    // ORDERING: Relaxed, the flag publishes nothing but itself
                    is_done.store(true, Ordering::Relaxed);
                    return true;
                }
                // ORDERING: Relaxed, as above
                while !is_done.load(Ordering::Relaxed) && begun.elapsed() < PATIENCE {
                    work(&mut participant, &accounts, 16);
                }
                // ORDERING: Relaxed, as above
                is_done.load(Ordering::Relaxed)
            });
            let in_time = in_time.expect("threads");
            assert!(in_time.iter().all(|in_time| *in_time), "{form} {manager}: the reader came last");
        }
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn a_server_without_requests_is_asleep() {
    const IDLE: Duration = Duration::from_millis(200);
    let machine = machine();
    let tm = Tm::builder(&machine).participants(2).form(Form::Messages).build().expect("memory");
    let sum = tm.new_var(0u64).expect("room");
    let (Ok(Role::Server(server)), Ok(Role::Application(mut participant))) = (tm.participant(0), tm.participant(1))
    else {
        panic!("0 is a server and 1 is not")
    };
    let serving = thread::spawn(move || {
        let before = cpu_time();
        server.serve().expect("no forked child");
        cpu_time() - before
    });
    participant.fetch_add(sum, 1).expect("it serves");
    // The server must have had no request for this long when the next one comes.
    thread::sleep(IDLE);
    participant.fetch_add(sum, 1).expect("it serves");
    drop(participant);
    let spent = serving.join().expect("no panic");
    assert!(spent < IDLE / 4, "{spent:?} of CPU time in {IDLE:?}");
    assert_eq!(tm.load(sum), Ok(2));
}

/// FairCM takes the second attempt to last as long as the first one did, and other managers need no clock.
#[test]
fn every_attempt_is_timed_where_that_is_asked_for() {
    const LONG: Duration = Duration::from_millis(5);
    let machine = machine();
    for manager in Manager::ALL {
        let tm = Tm::builder(&machine).participants(1).form(Form::Shared).manager(manager).build().expect("memory");
        let var = tm.new_var(0u64).expect("room");
        let times = tm.run_threads(|mut participant| {
            participant.time_all_attempts();
            for time in [Duration::ZERO, LONG] {
                let read = participant.run(|tx| {
                    let begun = Instant::now();
                    while begun.elapsed() < time {
                        thread::yield_now();
                    }
                    tx.read(var)
                });
                assert_eq!(read, Ok(0));
            }
            participant.timed_ns()
        });
        assert!(times.expect("threads")[0] >= LONG.as_nanos() as u64, "{manager}");
    }
}
