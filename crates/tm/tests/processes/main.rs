//! Participants that are processes: how they find each other, and what happens to the others when some are killed.
//!
//! A test starts this very program several times with a role (`roles.rs`); the process of the test is a participant too, and
//! never dies.
#![cfg(not(loom))]

mod death;
mod forming;
mod roles;
#[cfg(target_arch = "x86_64")]
mod steps;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};
use corecast_tm::{Abort, Builder, Form, Participant, Role, RunError, Server, TVar, Tm, Tx};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
const ACCOUNTS: u32 = 8;
const FIRST: i64 = 100;
const FORMS: [Form; 2] = [Form::Messages, Form::Shared];
/// The participant that is a process of its own in most tests.
const OTHER: usize = 3;

fn machine() -> Machine {
    let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

/// Four participants; in the form of messages 0 and 2 are servers.
fn builder(machine: &Machine, form: Form) -> Builder<'_> {
    Tm::builder(machine).participants(4).servers_every(2).form(form).variables(64)
}

/// The accounts are the first variables, in every process.
fn open_accounts(tm: &Tm) -> Vec<TVar<i64>> {
    (0..ACCOUNTS).map(|_| tm.new_var(FIRST).expect("room")).collect()
}

fn find_accounts(tm: &Tm) -> Vec<TVar<i64>> {
    (0..ACCOUNTS).map(|index| tm.var(index).expect("it is there")).collect()
}

#[track_caller]
fn application(tm: &Tm, id: usize) -> Participant {
    match tm.participant(id).expect("it is free") {
        Role::Application(participant) => participant,
        other => panic!("{id} is an application: {other:?}"),
    }
}

#[track_caller]
fn server(tm: &Tm, id: usize) -> Server {
    match tm.participant(id).expect("it is free") {
        Role::Server(server) => server,
        other => panic!("{id} is a server: {other:?}"),
    }
}

/// Runs `work` while these servers serve in this process, and returns once they have ended by themselves: `work` has to leave, or
/// to stop the instance.
fn beside_servers<R>(tm: &Tm, ids: &[usize], work: impl FnOnce() -> R) -> R {
    let (ended, ends) = mpsc::channel();
    for &id in ids {
        let (server, ended) = (server(tm, id), ended.clone());
        thread::spawn(move || ended.send(server.serve()));
    }
    let result = work();
    for _ in ids {
        ends.recv_timeout(PATIENCE).expect("all have left").expect("no forked child");
    }
    result
}

fn transfer(tx: &mut Tx<'_>, from: TVar<i64>, to: TVar<i64>) -> Result<(), Abort> {
    let rest = tx.read_for_update(from)?;
    tx.write(from, rest - 1)?;
    let sum = tx.read(to)?;
    tx.write(to, sum + 1)
}

/// One transfer between accounts that the round chooses.
fn play_round(participant: &mut Participant, accounts: &[TVar<i64>], round: usize) -> Result<(), RunError> {
    let (from, to) = (round % accounts.len(), (round * 3 + 1) % accounts.len());
    participant.run(|tx| transfer(tx, accounts[from], accounts[to]))
}

/// The total of all accounts.
fn total(participant: &mut Participant, accounts: &[TVar<i64>]) -> Result<i64, RunError> {
    participant.run(|tx| accounts.iter().try_fold(0, |sum, &account| Ok(sum + tx.read(account)?)))
}
