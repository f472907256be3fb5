//! Transactions among threads, in both forms, under every manager.
#![cfg(not(loom))]

mod two_cpus;

use corecast_tm::{Abort, Builder, Form, Manager, Participant, TVar, Tm, Tx};
use two_cpus::machine;

const ACCOUNTS: usize = 16;
const FIRST: i64 = 100;

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
fn the_total_of_a_bank_stays() {
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        for manager in Manager::ALL {
            check(Tm::builder(&machine).participants(5).form(form).manager(manager));
        }
    }
}
