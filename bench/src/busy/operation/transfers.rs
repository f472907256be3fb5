//! Transfers between accounts: transactions decided by the members or by a server, beside locks and servers that are asked over
//! channels.
//!
//! In rounds that are checked every member sums all accounts after each of its transfers, amid those of the others.

use std::sync::Arc;
use std::thread;

use corecast::tm::{Form, Participant, Role, TVar, Tm};
use fastrand::Rng;

use super::candidate::{Bodies, Candidate, judged, of_std, ours, rival};
use super::commit::{Link, Recv1, Send1, of_crossbeam, of_sync_channel};
use corecast_race::contender::Setting;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};

const ACCOUNTS: usize = 64;
/// The balance of each at the start.
const BALANCE: u64 = 1000;
/// The sum of all.
const TOTAL: u64 = ACCOUNTS as u64 * BALANCE;
/// In place of a transfer: the sum is asked for.
const SUM: u64 = 0xffff;

/// A member's way to the accounts.
trait Bank: Send {
    /// Moves one from one account to another, which is a different one.
    fn transfer(&mut self, from: usize, to: usize) -> Result<(), Failure>;

    /// The sum of all accounts.
    fn sum(&mut self) -> Result<u64, Failure>;
}

struct Banker<B> {
    bank: B,
    random: Rng,
}

/// Members that decide conflicts themselves, and locks.
pub(super) fn shared() -> Vec<Candidate> {
    vec![
        judged(|setting, _| of_transactions(setting, Form::Shared)),
        of_std(|setting, _| Ok(behind(setting, std::sync::Mutex::new(accounts())))),
        rival("parking_lot", true, |setting, _| Ok(behind(setting, parking_lot::Mutex::new(accounts())))),
    ]
}

/// Members that ask a server, by transactions or over channels.
pub(super) fn messages() -> Vec<Candidate> {
    let mut all = ours(|setting: &Setting<'_>, _: &Arc<Abort>| of_transactions(setting, Form::Messages));
    all.push(of_std(|setting, _| of_server(setting, of_sync_channel)));
    all.push(rival("crossbeam-channel", true, |setting, _| of_server(setting, of_crossbeam)));
    all
}

fn accounts() -> [u64; ACCOUNTS] {
    [BALANCE; ACCOUNTS]
}

fn bodies<B: Bank + 'static>(banks: impl Iterator<Item = B>) -> Vec<Box<dyn Body>> {
    let banker = |(rank, bank)| Box::new(Banker { bank, random: Rng::with_seed(rank as u64) }) as Box<dyn Body>;
    banks.enumerate().map(banker).collect()
}

impl<B: Bank> Banker<B> {
    fn transfer(&mut self) -> Result<(), Failure> {
        let from = self.random.usize(..ACCOUNTS);
        let to = (from + self.random.usize(1..ACCOUNTS)) % ACCOUNTS;
        self.bank.transfer(from, to)
    }
}

impl<B: Bank> Body for Banker<B> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        (0..iterations).try_for_each(|_| self.transfer())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            self.transfer()?;
            let sum = self.bank.sum()?;
            if sum != TOTAL {
                return Err(Failure::Wrong(format!("all accounts hold {sum}, not {TOTAL}")));
            }
        }
        Ok(())
    }
}

/// A participant, and the accounts.
struct Transactions {
    participant: Participant,
    accounts: Arc<[TVar<u64>]>,
}

/// Members that run transactions. In the form of messages there is a server beside them, which is bound to no CPU.
fn of_transactions(setting: &Setting<'_>, form: Form) -> Bodies {
    let clients = setting.participants();
    let all = clients + usize::from(form == Form::Messages);
    let builder = Tm::builder(setting.machine).participants(all).form(form).wait(setting.wait);
    let builder = if form == Form::Messages { builder.servers_every(all) } else { builder };
    let tm = builder.build().map_err(|error| error.to_string())?;
    let accounts = accounts().into_iter().map(|balance| tm.new_var(balance)).collect::<Result<Arc<[_]>, _>>();
    let accounts = accounts.map_err(|error| error.to_string())?;
    let mut banks = Vec::new();
    for id in 0..all {
        match tm.participant(id).map_err(|error| error.to_string())? {
            Role::Application(participant) => banks.push(Transactions { participant, accounts: Arc::clone(&accounts) }),
            // It ends when the members are gone.
            Role::Server(server) => drop(thread::spawn(|| server.serve())),
            _ => return Err("a participant is neither application nor server".to_owned()),
        }
    }
    Ok(bodies(banks.into_iter()))
}

impl Bank for Transactions {
    fn transfer(&mut self, from: usize, to: usize) -> Result<(), Failure> {
        let (from, to) = (self.accounts[from], self.accounts[to]);
        let done = self.participant.run(|tx| {
            let rest = tx.read_for_update(from)?;
            let held = tx.read_for_update(to)?;
            // An account that is empty owes: the sum is what counts.
            tx.write(from, rest.wrapping_sub(1))?;
            tx.write(to, held.wrapping_add(1))
        });
        done.map_err(Failure::refused)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        let accounts = &self.accounts;
        let sum = self
            .participant
            .run(|tx| accounts.iter().try_fold(0, |sum: u64, var| Ok(sum.wrapping_add(tx.read(*var)?))));
        sum.map_err(Failure::refused)
    }
}

fn move_one(accounts: &mut [u64; ACCOUNTS], from: usize, to: usize) {
    accounts[from] = accounts[from].wrapping_sub(1);
    accounts[to] = accounts[to].wrapping_add(1);
}

fn sum_of(accounts: &[u64; ACCOUNTS]) -> u64 {
    accounts.iter().fold(0, |sum: u64, balance| sum.wrapping_add(*balance))
}

/// A lock around all accounts.
trait Locked: Send + Sync {
    fn with<R>(&self, work: impl FnOnce(&mut [u64; ACCOUNTS]) -> R) -> R;
}

impl Locked for std::sync::Mutex<[u64; ACCOUNTS]> {
    fn with<R>(&self, work: impl FnOnce(&mut [u64; ACCOUNTS]) -> R) -> R {
        work(&mut self.lock().expect("nobody panics behind it"))
    }
}

impl Locked for parking_lot::Mutex<[u64; ACCOUNTS]> {
    fn with<R>(&self, work: impl FnOnce(&mut [u64; ACCOUNTS]) -> R) -> R {
        work(&mut self.lock())
    }
}

fn behind<L: Locked + 'static>(setting: &Setting<'_>, lock: L) -> Vec<Box<dyn Body>> {
    let lock = Arc::new(lock);
    bodies((0..setting.participants()).map(|_| Arc::clone(&lock)))
}

impl<L: Locked> Bank for Arc<L> {
    fn transfer(&mut self, from: usize, to: usize) -> Result<(), Failure> {
        self.with(|accounts| move_one(accounts, from, to));
        Ok(())
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        Ok(self.with(|accounts| sum_of(accounts)))
    }
}

/// The ends of a member that asks a server over channels.
struct Asking {
    rank: u64,
    requests: Send1,
    replies: Recv1,
}

/// A server in a thread of its own, which has the accounts.
fn of_server(setting: &Setting<'_>, channel: fn(usize) -> Link) -> Bodies {
    let members = setting.participants();
    let (requests, asked) = channel(members);
    let (replies, answers): (Vec<_>, Vec<_>) = (0..members).map(|_| channel(1)).unzip();
    let replies: Vec<Send1> = replies.into_iter().flatten().collect();
    // It ends when the members are gone.
    drop(thread::spawn(move || {
        let mut accounts = accounts();
        while let Ok(request) = asked() {
            let (rank, from, to) = (request >> 32, request >> 16 & 0xffff, request & 0xffff);
            let reply = if to == SUM { sum_of(&accounts) } else { 0 };
            if to != SUM {
                move_one(&mut accounts, from as usize, to as usize);
            }
            if replies[rank as usize](reply).is_err() {
                return;
            }
        }
    }));
    let ends = (0..).zip(requests).zip(answers);
    Ok(bodies(ends.map(|((rank, requests), replies)| Asking { rank, requests, replies })))
}

impl Asking {
    fn ask(&mut self, from: u64, to: u64) -> Result<u64, Failure> {
        (self.requests)(self.rank << 32 | from << 16 | to)?;
        (self.replies)()
    }
}

impl Bank for Asking {
    fn transfer(&mut self, from: usize, to: usize) -> Result<(), Failure> {
        self.ask(from as u64, to as u64).map(drop)
    }

    fn sum(&mut self) -> Result<u64, Failure> {
        self.ask(0, SUM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loses what it moves.
    struct Thief(u64);

    impl Bank for Thief {
        fn transfer(&mut self, _from: usize, _to: usize) -> Result<(), Failure> {
            self.0 -= 1;
            Ok(())
        }

        fn sum(&mut self) -> Result<u64, Failure> {
            Ok(self.0)
        }
    }

    #[test]
    fn money_that_is_lost_is_found_out() {
        let mut body = Banker { bank: Thief(TOTAL), random: Rng::with_seed(1) };
        let failure = body.check(1).expect_err("one is missing").to_string();
        assert!(failure.contains("all accounts hold 63999, not 64000"), "{failure}");
    }
}
